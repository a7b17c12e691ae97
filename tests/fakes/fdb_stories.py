"""Stories of FoundationDB clusters: the real operator in a world in memory, and what becomes of it.

A story applies manifests, lets things befall the world, waits until all is as asked, and looks.
Whatever it does, a :class:`Watcher` looks on; at the end all that was written must still be there.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.fdb_mangling import MangledWorld
from fakes.fdb_watching import Watcher, addresses_of, coordinates
from fakes.seeing import Eyes
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.build.detection import Detector
from stateward.fdb.cluster.believing import Own
from stateward.fdb.model import names
from stateward.fdb.operator import FdbOptions, assemble
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, CRON_JOBS, PODS, SERVICES, VOLUME_CLAIMS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.runtime.supervisor import Supervisor
from stateward.sim.fdb.world import Assembly, Surroundings, served
from stateward.sim.world import Result, Slot, World, simulate

USER = Author("user")
NAMESPACE, NAME = "default", "shop"
KEY = ObjectKey(NAMESPACE, NAME)
#: Seconds within which anything must be over that a story waits for.
LONG = 7200.0
#: What a database holds before a story begins.
KEYS = {f"order/{it}".encode(): f"{it * 7} apples".encode() for it in range(20)}

SMALL: Json = {
    "version": "7.3.63",
    "minimumUptimeSecondsForBounce": 60,
    "processCounts": {"stateless": 3},
    "automationOptions": {"waitBetweenRemovalsSeconds": 0},
    "processes": {
        "general": {
            "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "16G"}}}}
        }
    },
}


#: What the operator knows of itself.
OURSELVES = Detector("stateward:1.2.3", "stateward")


def merged(one: Json, other: Mapping[str, Any]) -> Json:
    """Return a document with another laid over it."""
    found = copy.deepcopy(one)
    for name, it in other.items():
        both = isinstance(it, Mapping) and isinstance(found.get(name), dict)
        found[name] = merged(found[name], it) if both else copy.deepcopy(it)
    return found


def spec(**over: Any) -> Json:
    """Return a spec that is small, with something laid over it."""
    return merged(SMALL, over)


def single(**over: Any) -> Json:
    """Return the smallest spec there is: one of each."""
    few = {
        "databaseConfiguration": {"redundancy_mode": "single", "logs": 1},
        "processCounts": {"storage": 1, "log": 1, "stateless": 1},
    }
    return merged(spec(**few), over)


def operator(
    around: Surroundings,
    *,
    certified: bool = True,
    own: Own | None = None,
    detector: Detector = OURSELVES,
) -> Supervisor:
    """Put the operator together as it is."""
    options = FdbOptions(
        databases=around.databases,
        agents=by_pod(around.agents),
        lease=ObjectKey(NAMESPACE, "fdb-operator"),
        certified=certified,
        own=own,
        detector=detector,
    )
    return assemble(around.client, around.ports, around.identity, around.metrics, options=options)


@dataclass
class Story:
    """One cluster in one world, and all that can be done to it."""

    it: MangledWorld
    watcher: Watcher
    keys: dict[bytes, bytes] = field(default_factory=dict)
    slots: list[Slot] = field(default_factory=list)
    eyes: Eyes = field(default_factory=Eyes)

    # ------------------------------------------------------------------ doing
    def apply(self, body: Json, **metadata: Any) -> None:
        """Create the cluster."""
        document = {
            "apiVersion": CLUSTERS.api_version,
            "kind": CLUSTERS.kind,
            "metadata": {"name": NAME, "namespace": NAMESPACE, **metadata},
            "spec": body,
        }
        self.it.world.api.create(CLUSTERS, NAMESPACE, document, USER)

    def change(self, **over: Any) -> None:
        """Change the spec: a merge patch, as kubectl sends it."""
        self.it.world.api.patch(CLUSTERS, KEY, MergePatch({"spec": over}), USER)

    async def create(self, body: Json) -> None:
        """Create the cluster, wait for it, and write into its database."""
        self.apply(body)
        await self.reconciled()
        self.write()

    def write(self) -> None:
        """Have the database hold something."""
        database = self.database
        database.shards.fill(16_000_000)
        database.store.write(list(KEYS.items()))
        self.keys = dict(KEYS)

    def delete(self, resource: Any, name: str) -> None:
        """Delete an object as a user does."""
        self.it.world.api.delete(resource, ObjectKey(NAMESPACE, name), DeleteOptions())

    def stop(self) -> None:
        """End the operator for good."""
        for slot in self.slots:
            slot.lasts = False
            if slot.process is not None:
                slot.process.crash()

    def start(self, assembly: Assembly = operator) -> None:
        """Run another operator."""
        self.slots = self.it.operate(assembly)

    # ------------------------------------------------------------------ waiting
    async def rest(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)
        self.it.world.check()

    async def until(self, what: str, holds: Callable[[], bool], within: float = LONG) -> None:
        """Let time pass until something holds."""
        try:
            await self.it.world.until(what, holds, within=within)
        except Exception as error:
            error.add_note(self.told())
            raise

    async def reconciled(self, within: float = LONG) -> None:
        """Wait until all is as the spec says, and stays so."""
        while True:
            await self.until("reconciled", lambda: self.is_reconciled, within)
            await self.rest(25)
            if self.is_reconciled:
                return

    async def at_rest(self, seconds: float = 300) -> None:
        """See that nothing is written any more."""
        await self.rest(60)  # what was done is told
        before = len(self.watcher.writes)
        await self.rest(seconds)
        assert self.watcher.writes[before:] == []

    # ------------------------------------------------------------------ looking
    @property
    def cluster(self) -> Json:
        """The cluster's object."""
        return self.eyes.see(self.it.world.api.get(CLUSTERS, KEY))

    @property
    def status(self) -> Json:
        """What is told of it."""
        found: Json = self.cluster.get("status", {})
        return found

    @property
    def is_reconciled(self) -> bool:
        """Whether all of this generation is as asked, by its own word."""
        document = self.cluster
        told = document.get("status", {}).get("generations", {})
        wrong = {name: it for name, it in told.items() if name != "hasPendingRemoval"}
        return wrong == {"reconciled": document["metadata"]["generation"]}

    def condition(self, kind: str) -> Json:
        """Return a condition of the cluster."""
        return next(it for it in self.status.get("conditions", ()) if it["type"] == kind)

    def groups(self, process_class: str = "") -> dict[str, Json]:
        """Return the process groups by their ids."""
        every = map(self.eyes.see, self.it.world.api.store.all(PROCESS_GROUPS.name))
        return {
            it["spec"]["processGroupID"]: it
            for it in every
            if process_class in ("", it["spec"]["processClass"])
        }

    def none_leaves(self) -> bool:
        """Tell whether whoever shall go is gone."""
        return not any(it["spec"].get("remove") for it in self.groups().values())

    def pods(self, process_class: str = "") -> dict[str, Json]:
        """Return the pods by the ids of their groups."""
        found = {}
        for name, group in self.groups(process_class).items():
            stored = self.it.world.api.store.get(PODS.name, key_of(group))
            if stored is not None:
                found[name] = self.eyes.see(stored)
        return found

    def uids(self, process_class: str = "") -> dict[str, str]:
        """Return the UIDs of pods by the ids of their groups."""
        return {name: it["metadata"]["uid"] for name, it in self.pods(process_class).items()}

    def pod(self, group: str) -> ObjectKey:
        """Return the key of the pod of a group."""
        return key_of(self.groups()[group])

    def claims(self) -> set[str]:
        """Return the names of all claims."""
        return {it.key.name for it in self.it.world.api.list(VOLUME_CLAIMS).items}

    def left(self) -> list[str]:
        """Return what there is beside claims, and beside the config map that stays with them."""
        kinds = (PROCESS_GROUPS, PODS, SERVICES, CONFIG_MAPS, CRON_JOBS)
        every = (it.key for kind in kinds for it in self.it.world.api.list(kind).items)
        kept = {"kubernetes", *([names.config_map_name(NAME)] if self.claims() else [])}
        return [str(it) for it in every if it.name not in kept]

    @property
    def database(self) -> Database:
        """The database, of which there is one."""
        found = [it for it in self.it.realm.databases if it.settings is not None]
        assert len(found) == 1, f"there must be one database, and there are {len(found)}"
        self.it.realm.advance()
        return found[0]

    @property
    def recoveries(self) -> list[str]:
        """Why the database recovered, each time; who comes while it does so begins no other one."""
        causes = [cause for _, cause in self.database.recovery.causes]
        return [it for it in causes if not it.endswith(" came")]

    def coordinators(self) -> list[str]:
        """Return the ids of the groups that coordinate."""
        return sorted(
            name
            for name, it in self.pods().items()
            if coordinates(self.database, it["metadata"]["name"], addresses_of(it))
        )

    def told(self) -> str:
        """Return what the cluster says of itself, for who has to find out why."""
        try:
            status = self.status
        except NotFound:
            return "the cluster is gone"
        lines = [f"doing {status.get('doing')}", f"generations {status.get('generations')}"]
        lines += [f"blocker {it}" for it in status.get("blockers", ())]
        lines += [f"{it['type']} {it['message']}" for it in status.get("conditions", ())]
        for name, group in self.groups().items():
            wrong = [
                it["type"]
                for it in group.get("status", {}).get("conditions", ())
                if it["status"] == "True" and it["type"] != "Ready"
            ]
            marks = [it for it in ("remove", "excluded") if group["spec"].get(it)]
            lines.append(f"{name} {marks} {wrong} {group.get('status', {}).get('doing')}")
        return "\n".join(lines)

    def is_whole(self) -> None:
        """See that everything is there that was ever written, with all its copies."""
        database = self.database
        version = database.store.at(self.it.world.clock.now())
        there = dict(database.store.span(b"order/", b"order0", version))
        assert there == self.keys
        settings = database.settings
        assert settings is not None
        assert database.recovery.serves
        copies = database.shards.fewest_copies(database.servers)
        assert copies >= settings.copies, f"{copies} copies"
        assert not database.barred, f"still excluded: {database.barred}"


def key_of(document: Json) -> ObjectKey:
    """Return the key of an object."""
    return ObjectKey(document["metadata"]["namespace"], document["metadata"]["name"])


Telling = Callable[[Story], Awaitable[None]]


def played(
    story: Telling, *, seed: int = 1, nodes: int = 6, whole: bool = True, operators: int = 1
) -> Result:
    """Run a story; whatever it is about, nothing that the watcher looks for happened."""

    async def lived(world: World) -> None:
        it = MangledWorld(world, nodes=nodes)
        told = Story(it, Watcher(it))
        told.slots = it.operate(operator, operators)
        await story(told)
        assert told.watcher.wrong == []
        if whole:
            told.is_whole()

    return simulate(lived, seed=seed, custom=(CLUSTERS, PROCESS_GROUPS), serve=served)
