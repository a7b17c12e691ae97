"""A cluster of many process groups: made by the operator on paper, and then looked at at rest."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

import msgspec

from stateward.core.chance import Chance
from stateward.core.outcome import Outcome
from stateward.core.ports import Ports
from stateward.fdb.admin.pod_agent import PodAgent
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.build.detection import WHOLE_CRON_JOBS
from stateward.fdb.cluster.controller import ClusterReconciler
from stateward.fdb.cluster.grounds import Grounds
from stateward.fdb.cluster.hands.fence import Fence
from stateward.fdb.cluster.hands.locked import Locks
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.listening import Listening
from stateward.fdb.cluster.observe import Observer, Sources
from stateward.fdb.cluster.papers import Archive
from stateward.fdb.cluster.plans import Plans
from stateward.fdb.groups.board import Board
from stateward.fdb.groups.caches import GroupCaches, by_cluster, by_instance
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.observe import Eyes
from stateward.fdb.groups.reconciler import GroupReconciler, Hands
from stateward.fdb.operator import FdbOptions, assemble
from stateward.fdb.tell.metrics import GAUGES
from stateward.kube.client import Client
from stateward.kube.codec import Json
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import (
    CONFIG_MAPS,
    PODS,
    SERVICES,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.rules.writes import Author
from stateward.runtime import election
from stateward.runtime.cache import Cache, Index
from stateward.runtime.telling.journal import Journal
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import Recorder
from stateward.runtime.telling.teller import Ears, Teller
from stateward.sim.loop import SimClock, SimLoop, running
from tools.bench.groups.paper import VERSION, PaperDatabase, PaperNodes

T = TypeVar("T")
K = TypeVar("K", bound=Object)
KEY: Final = ObjectKey("prod", "shop")
#: Virtual seconds in which a cluster is made, or something is wrong.
_PATIENCE: Final = 1_800.0
_LOGS, _STATELESS = 0.04, 0.06
#: In how many seconds all pods are started.
_MOMENTS: Final = 20


def counts(groups: int) -> dict[str, int]:
    """Return how many groups of each class a cluster has, so that there are so many in all."""
    logs, stateless = max(4, int(_LOGS * groups)), max(6, int(_STATELESS * groups))
    return {"storage": groups - logs - stateless, "log": logs, "stateless": stateless}


def cluster(groups: int) -> Json:
    """Return a cluster that becomes what was recorded of a real database, and larger."""
    return {
        "metadata": {"namespace": KEY.namespace, "name": KEY.name},
        "spec": {
            "version": VERSION,
            "processCounts": counts(groups),
            "databaseConfiguration": {
                "redundancy_mode": "double",
                "storage_engine": "ssd-2",
                "logs": 2,
                "commit_proxies": 3,
                "grv_proxies": 1,
                "resolvers": 1,
            },
        },
    }


class Counted(PassThrough):
    """Counts calls, by verb and resource."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.writes = 0

    async def around(self, call: Call, perform: Callable[[], Awaitable[T]]) -> T:
        """Count one, and perform it."""
        part = f"/{call.subresource}" if call.subresource else ""
        self.calls[f"{call.verb} {call.resource.plural}{part}"] += 1
        self.writes += call.writes
        return await perform()


class Paper:
    """A Kubernetes in memory with a cluster on paper; make it within a loop of the simulation."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        loop = cast("SimLoop", asyncio.get_running_loop())
        self.clock = SimClock(loop)
        self.ports = Ports(self.clock, Chance(1))
        self.api = Api(self.ports)
        self.nodes = PaperNodes(self.api, KEY.namespace, KEY.name, groups // _MOMENTS + 1)
        self.database = PaperDatabase(self.nodes, self.clock.now)
        self.counted = Counted()
        self.client: Client = InterceptedClient(
            MemoryClient(self.api, field_manager="stateward-fdb"), self.counted
        )
        self.api.create(CLUSTERS, KEY.namespace, cluster(groups), Author("user"))

    @property
    def is_reconciled(self) -> bool:
        """Whether all is as asked, by the cluster's own word."""
        status = self.api.get(CLUSTERS, KEY).document().get("status") or {}
        told = status.get("generations") or {}
        return told.get("reconciled") == 1 and status.get("reconciledProcessGroups") == self.groups

    async def make(self) -> float:
        """Let the operator make the cluster; return how many virtual seconds it took."""
        loop = asyncio.get_running_loop()
        options = FdbOptions(databases=cast("Any", self.database), agents=_nobody, lease=None)
        operator = assemble(self.client, self.ports, "me", Metrics(self.clock), options=options)
        stop = asyncio.Event()
        work = [loop.create_task(operator.run(stop)), loop.create_task(self.nodes.run())]
        while not self.is_reconciled:
            if loop.time() > _PATIENCE:
                raise RuntimeError(f"not reconciled: {self.told()}")
            await asyncio.sleep(1.0)
            if work[0].done():
                work[0].result()
        took = loop.time()
        await asyncio.sleep(60.0)  # whatever follows counts as well
        stop.set()
        await work[0]
        work[1].cancel()
        return took

    def told(self) -> Json:
        """Return what the cluster says of itself."""
        found: Json = self.api.get(CLUSTERS, KEY).document().get("status") or {}
        return {name: it for name, it in found.items() if name != "processGroups"}


def _nobody(pod: Pod) -> PodAgent:
    raise RuntimeError(f"{pod.metadata.name} must have no sidecar that anybody asks")


class Rested:
    """The reconcilers of an operator that was just started, with full caches, at rest."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.caches = GroupCaches(
            groups=_filled(paper.api, PROCESS_GROUPS, by_cluster()),
            clusters=_filled(paper.api, CLUSTERS),
            pods=_filled(paper.api, PODS),
            claims=_filled(paper.api, VOLUME_CLAIMS, by_instance()),
            services=_filled(paper.api, SERVICES),
            configs=_filled(paper.api, CONFIG_MAPS),
        )
        clock, metrics = paper.clock, Metrics(paper.clock)
        self.eyes = eyes = Eyes(self.caches, Board(), Memo(), clock)
        alone = election.Alone(clock, metrics.leader("me"))
        alone.leadership.renewed(float("inf"))
        fence = Fence(alone.leadership, clock)
        tools = Tools(paper.client, Locks(fence), fence, paper.ports.chance)
        listening = Listening(self.caches, Archive(paper.client, clock))
        sources = Sources(
            eyes,
            cast("Any", paper.database),
            Plans(),
            listening,
            grounds=Grounds(paper.client, clock),
            jobs=_filled(paper.api, WHOLE_CRON_JOBS),
        )
        observer = Observer(sources)

        def teller(name: str) -> Teller:
            recorder = Recorder(paper.client, clock, name, metrics.events(), instance="me")
            return Teller(Ears(Journal(), metrics.steps(name), recorder), clock)

        self._cluster = ClusterReconciler(
            self.caches, observer, tools, teller("fdb"), clock, series=metrics.objects(GAUGES)
        )
        hands = Hands(paper.client, _nobody)
        self._groups = GroupReconciler(eyes, hands, teller("groups"), clock)

    async def look(self) -> Outcome:
        """Give the cluster a pass."""
        return await self._cluster.reconcile(KEY)

    async def look_at(self, group: ObjectKey) -> Outcome:
        """Give a group a pass."""
        return await self._groups.reconcile(group)

    def touch_pod(self, number: int) -> ObjectKey:
        """Let the status of a pod change in a way that changes nothing; return its group."""
        pods = sorted(self.caches.pods, key=lambda it: it.metadata.key)
        old = pods[number % len(pods)]
        version = str(int(old.metadata.resource_version) + 1_000_000)
        metadata = msgspec.structs.replace(old.metadata, resource_version=version)
        status = msgspec.structs.replace(old.status, message=f"touched {number}")
        self.caches.pods.put(msgspec.structs.replace(old, metadata=metadata, status=status))
        return old.metadata.key


def _filled(api: Api, resource: Resource[K], *indexes: Index[Any]) -> Cache[K]:
    found: Cache[K] = Cache(resource, indexes)
    for it in api.list(resource).items:
        found.put(resource.read(it.text))
    return found


def lived(play: Callable[[], Awaitable[T]]) -> T:
    """Run something in virtual time, with the collector of this process as it usually is."""
    with running(SimLoop()) as loop:

        async def played() -> T:
            gc.enable()
            return await play()

        return loop.run_until_complete(played())
