"""Process groups in an API server in memory; the nodes and the database are moved by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from fakes.hand_clock import HandClock
from stateward.core.chance import Chance
from stateward.core.facts import Known
from stateward.core.outcome import Outcome
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.fdb.admin.pod_agent import AgentRefused
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.kind import (
    CLUSTER_KIND,
    CLUSTERS,
    PROCESS_GROUP_KIND,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build import config_map
from stateward.fdb.build.servers import commandlines, environment
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.groups.board import Board, Posted
from stateward.fdb.groups.caches import GroupCaches, by_cluster, by_instance
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.observe import Eyes
from stateward.fdb.groups.reconciler import GroupReconciler, Hands
from stateward.fdb.model import names
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.status.document import Process
from stateward.fdb.status.processes import Reporting, Roster
from stateward.kube.client import Client, MergePatch, Selection
from stateward.kube.codec import plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import NotFound
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCES,
    PODS,
    SERVICES,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.kube.selector import EVERYTHING
from stateward.local.client import MemoryClient
from stateward.local.rules.admission import Author
from stateward.local.schema.served import served_api
from stateward.runtime.cache import Cache
from stateward.runtime.telling.journal import Journal
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import Recorder
from stateward.runtime.telling.teller import Ears, Teller

R = TypeVar("R")
SHOP = ObjectKey("default", "shop")
STORAGE = ObjectKey("default", "shop-storage-1")
DATA = ObjectKey("default", "shop-storage-1-data")
VERSION = Version(7, 3, 63)
CONNECTION = ConnectionString.parse("shop:abc@10.0.0.1:4501")
MANAGER = "stateward-fdb-group"


class Killed(BaseException):
    """The operator ends in the middle of a call."""


@dataclass(slots=True)
class Doorman(PassThrough):
    """Notes calls; refuses some, and lets the operator end at one of them."""

    refusals: dict[str, Exception] = field(default_factory=dict)
    #: The same, but each of them only once.
    first: dict[str, Exception] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    calls: int = 0
    #: At which call it ends, and whether that call is still carried out.
    kill_at: int | None = None
    kill_after: bool = False

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        words = str(call)
        for beginning, error in self.refusals.items():
            if words.startswith(beginning):
                raise error
        if (found := next(filter(words.startswith, self.first), None)) is not None:
            raise self.first.pop(found)
        number, self.calls = self.calls, self.calls + 1
        if number == self.kill_at and not self.kill_after:
            raise Killed
        if call.writes:
            self.writes.append(words)
        result = await perform()
        if number == self.kill_at:
            raise Killed
        return result


@dataclass
class Sidecar:
    """The sidecar of a split pod; ``mounted`` is what its node shows it of the config map."""

    mounted: dict[str, str] = field(default_factory=dict)
    copied: dict[str, str] = field(default_factory=dict)
    silent: Exception | None = None
    copies: int = 0
    #: Where fdbmonitor finds programs, if it says so, and which of them are there.
    folder: str = ""
    programs: set[str] = field(default_factory=set)

    async def is_present(self, file: str) -> bool:
        return file in self.programs

    async def check_hash(self, file: str) -> str:
        if self.silent is not None:
            raise self.silent
        if file not in self.copied:
            raise AgentRefused(404, f"{file} is not there")
        return self.copied[file]

    async def copy(self) -> None:
        self.copies += 1
        if not self.mounted:
            raise AgentRefused(500, "fdb.cluster must not be empty")
        self.copied = dict(self.mounted)

    async def substitutions(self) -> dict[str, str]:
        if self.silent is not None:
            raise self.silent
        where = {"BINARY_DIR": self.folder} if self.folder else {}
        return {"FDB_INSTANCE_ID": "storage-1", **where}


class Desk:
    """A reconciler, a server, and what tests move by hand."""

    def __init__(self, clock: Any = None) -> None:
        self.clock = clock or HandClock()
        self.api = served_api(Ports(self.clock, Chance(1)))
        for kind in (CLUSTER_KIND, PROCESS_GROUP_KIND):
            self.api.create(CUSTOM_RESOURCES, "", plain(crd(kind)), Author("user"))
        self.user = MemoryClient(self.api, field_manager="user")
        self.doorman = Doorman()
        self.client = InterceptedClient(MemoryClient(self.api, field_manager=MANAGER), self.doorman)
        self.sidecar = Sidecar()
        self.wanted: Wanted
        #: When the cluster's controller proved that a group holds nothing, by its UID.
        self.proofs: dict[str, str] = {}
        #: Which clusters the operator looks after.
        self.ours = EVERYTHING
        self.start()

    def start(self) -> None:
        """Start the operator, which remembers nothing."""
        self.caches, acting = self.sight()
        self.board = Board()
        self.vouch()
        metrics = Metrics(self.clock)
        recorder = Recorder(self.user, self.clock, "test", metrics.events())
        teller = Teller(Ears(Journal(), metrics.steps("fdb-groups"), recorder), self.clock)
        self.eyes = Eyes(self.caches, self.board, Memo(), self.clock, ours=self.ours)
        hands = Hands(acting, lambda _pod: self.sidecar)
        self.reconciler = GroupReconciler(self.eyes, hands, teller, self.clock)

    def sight(self) -> tuple[GroupCaches, Client]:
        """Return what is seen of the server, and through whom is acted."""
        caches = GroupCaches(
            Cache(PROCESS_GROUPS, (by_cluster(),)),
            Cache(CLUSTERS),
            Cache(PODS),
            Cache(VOLUME_CLAIMS, [by_instance()]),
            Cache(SERVICES),
            Cache(CONFIG_MAPS),
        )
        return caches, self.client

    # -------------------------------------------------------------- what is asked for
    async def cluster(self, **said: Any) -> FoundationDBCluster:
        """Make the cluster, and know what its groups shall be."""
        spec = {"version": str(VERSION), **said}
        metadata = {"namespace": SHOP.namespace, "name": SHOP.name}
        made = await self.user.create(CLUSTERS, {"metadata": metadata, "spec": spec})
        self.wanted = Wanted(
            SHOP.name,
            SHOP.namespace,
            made.metadata.uid,
            normalized(msgspec.convert(spec, FoundationDBClusterSpec)),
            VERSION,
            tls=False,
            plain=True,
            connection=CONNECTION,
        )
        return made

    async def group(self, text: str = "storage-1", /, **said: Any) -> FoundationDBProcessGroup:
        """Make a process group, as the cluster's controller does."""
        found = ProcessGroupID.parse(text)
        owner = {
            "apiVersion": CLUSTERS.api_version,
            "kind": CLUSTERS.kind,
            "name": SHOP.name,
            "uid": self.wanted.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        document = {
            "metadata": {
                "namespace": SHOP.namespace,
                "name": names.pod_name(SHOP.name, found),
                "labels": self.wanted.group_labels(found),
                "finalizers": [names.FINALIZER],
                "ownerReferences": [owner],
            },
            "spec": plain(self.wanted.group(found)) | said,
        }
        return await self.user.create(PROCESS_GROUPS, document)

    async def settled(self, text: str = "storage-1", /, **said: Any) -> FoundationDBProcessGroup:
        """Make the cluster and a group, and let it come up."""
        await self.cluster(**said)
        await self.config()
        await self.group(text)
        await self.passes()
        await self.run_pod()
        await self.report(text)
        await self.passes()
        self.doorman.writes.clear()
        return await self.now()

    async def config(self) -> None:
        """Make the config map."""
        document = config_map.config_map(self.wanted, self.classes())
        await self.user.create(CONFIG_MAPS, document)

    def classes(self) -> list[Any]:
        spec = self.wanted.group(ProcessGroupID.parse("storage-1"))
        return [
            (it.process_class, spec.servers_per_pod, spec.image_type)
            for it in map(ProcessGroupID.parse, ("storage-1", "log-1", "stateless-1"))
        ]

    def data(self) -> dict[str, str]:
        """What the config map shall say."""
        found: dict[str, str] = config_map.config_map(self.wanted, self.classes())["data"]
        return found

    async def edit(self, key: ObjectKey = STORAGE, /, **spec: Any) -> FoundationDBProcessGroup:
        """Change the spec of a group, as the cluster's controller does."""
        made = await self.user.patch(PROCESS_GROUPS, key, MergePatch({"spec": spec}))
        if (moment := made.spec.exclusion_timestamp) is not None:
            self.proofs[made.metadata.uid] = moment
        self.vouch()
        return made

    def vouch(self) -> None:
        """Have the cluster's controller prove what it proved; one that is started does so anew."""
        for uid, moment in self.proofs.items():
            self.board.vouch(SHOP, [uid], moment)

    # -------------------------------------------------------------- what happens
    async def run_pod(self, key: ObjectKey = STORAGE, ip: str = "10.0.0.7") -> Pod:
        """Have a node run a pod; its monitor says what it has read."""
        pod = await self.user.get(PODS, key)
        if not pod.spec.node_name:
            await self.user.bind(key, "node-a", uid=pod.metadata.uid)
        group = await self.user.get(PROCESS_GROUPS, key)
        conf = config_map.conf_text(self.data(), group.spec) or ""
        note = {"metadata": {"annotations": {names.LAUNCHER_CONFIGURATION: conf}}}
        await self.user.patch(PODS, key, MergePatch(note))
        return await self.say(key, phase="Running", podIP=ip, podIPs=[{"ip": ip}])

    async def say(self, key: ObjectKey = STORAGE, **status: Any) -> Pod:
        """Say how a pod is, as its node does."""
        ready = "True" if status.get("phase") == "Running" else "False"
        status.setdefault("conditions", [{"type": "Ready", "status": ready}])
        patch = MergePatch({"status": status})
        return await self.user.patch(PODS, key, patch, subresource="status")

    async def end(self, resource: Resource[Any], key: ObjectKey) -> None:
        """Let an object go for good that is to go."""
        found = await self.user.get(resource, key)
        if found.metadata.finalizers:
            await self.user.patch(resource, key, MergePatch({"metadata": {"finalizers": None}}))
        with suppress(NotFound):
            await self.user.delete(resource, key, uid=found.metadata.uid, grace_seconds=0)

    async def report(self, *groups: str, available: bool = True, **said: Any) -> None:
        """Have the database say that these groups report."""
        found: dict[str, tuple[Reporting, ...]] = {
            it: (await self.process(it, **said),) for it in groups
        }
        self.board.post(SHOP, self.posted(found, available=available))

    def posted(self, groups: dict[str, tuple[Reporting, ...]], *, available: bool) -> Posted:
        now = self.clock.now()
        known = Known(Roster(groups), now, "test")
        return Posted(now, known, VERSION, data=self.data(), available=available)

    async def process(self, text: str, zone: str = "node-a", **said: Any) -> Reporting:
        """Return a process of a group that runs as it shall."""
        key = ObjectKey(SHOP.namespace, names.pod_name(SHOP.name, ProcessGroupID.parse(text)))
        group, pod = await self.user.get(PROCESS_GROUPS, key), await self.user.get(PODS, key)
        places = {"instance_id": text, "process_id": f"{text}-1", "zoneid": zone}
        entry = {
            "address": f"{pod.status.pod_ip or '10.0.0.7'}:4501",
            "command_line": self.line(group.spec, environment.environment(group, pod)),
            "locality": places,
            "version": str(VERSION),
            "excluded": False,
            **said,
        }
        found = Process(**entry)
        return Reporting("key-1", parse_all(str(found.address)), places, found)

    def line(self, spec: FoundationDBProcessGroupSpec, variables: dict[str, str]) -> str:
        conf = config_map.conf_text(self.data(), spec) or ""
        words = commandlines.expected(conf, spec.image_type, spec.servers_per_pod, variables)
        return " ".join(("/usr/bin/fdbserver", *words[0]))

    # -------------------------------------------------------------- passes
    async def see(self) -> None:
        """Let the caches show what is there, as far as it has our labels."""
        ours = Selection(labels=names.OURS)
        self.caches.groups.replace(await self.user.list(PROCESS_GROUPS))
        self.caches.clusters.replace(await self.user.list(CLUSTERS))
        self.caches.pods.replace(await self.user.list(PODS, ours))
        self.caches.claims.replace(await self.user.list(VOLUME_CLAIMS, ours))
        self.caches.services.replace(await self.user.list(SERVICES, ours))
        self.caches.configs.replace(await self.user.list(CONFIG_MAPS, ours))

    async def once(self, key: ObjectKey = STORAGE) -> Outcome:
        """Give a group one pass over what there is now."""
        await self.see()
        return await self.reconciler.reconcile(key)

    async def passes(self, key: ObjectKey = STORAGE) -> Outcome:
        """Give a group passes until one writes nothing."""
        for _ in range(12):
            before = len(self.doorman.writes)
            outcome = await self.once(key)
            if len(self.doorman.writes) == before:
                return outcome
        raise AssertionError(f"it does not come to rest: {self.doorman.writes}")

    # -------------------------------------------------------------- what there is
    async def now(self, key: ObjectKey = STORAGE) -> FoundationDBProcessGroup:
        return await self.user.get(PROCESS_GROUPS, key)

    async def pod(self, key: ObjectKey = STORAGE) -> Pod | None:
        found: Pod | None = await self.there(PODS, key)
        return found

    async def there(self, resource: Resource[Any], key: ObjectKey) -> Any:
        try:
            return await self.user.get(resource, key)
        except NotFound:
            return None

    async def delete(self, resource: Resource[Any], key: ObjectKey) -> None:
        """Delete something, as a user."""
        found = await self.user.get(resource, key)
        await self.user.delete(resource, key, uid=found.metadata.uid)

    def wrote(self, *beginnings: str) -> list[str]:
        return [it for it in self.doorman.writes if it.startswith(beginnings)]


def conditions(group: FoundationDBProcessGroup) -> dict[str, str]:
    """What the conditions of a group say."""
    return {it.type: it.status for it in group.status.conditions}


def wrong(group: FoundationDBProcessGroup) -> list[str]:
    """What is wrong with a group by its own status."""
    return [it.type for it in group.status.conditions if it.type != "Ready" and it.status == "True"]


def kinds(writes: Iterable[str]) -> list[str]:
    """The verbs and kinds of writes."""
    return [" ".join(it.split()[:2]) for it in writes]
