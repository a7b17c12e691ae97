"""Stories of backups: the real operator, the stand-in's programs, and agents that work in memory.

Agents are as many as a Deployment asks for, as soon as it is there; ``hurt`` kills them in the
middle of what they do, and ``idle`` has none come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fakes.fdb_mangling import MangledWorld
from fakes.fdb_stories import NAME, NAMESPACE, USER, Story, single
from fakes.fdb_watching import Watcher
from stateward.core.errors import PeerUnreachable
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.emulate.fdb.backups.agent import MemoryAgent
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.asked import ACTIONS
from stateward.emulate.fdb.backups.cli.preparing import Place
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.console import BLOBS
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.backups.clearing import KeyClearing
from stateward.fdb.admin.backups.programs import ProgramBackups, ProgramRestores
from stateward.fdb.admin.errors import DatabaseSilent
from stateward.fdb.admin.keyed.optimistic import ProgramKeys
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.api.backups.kinds import BACKUP_KIND, BACKUPS, RESTORE_KIND, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import BACKUP_FOR
from stateward.fdb.operator import FdbOptions, assemble
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, DEPLOYMENTS
from stateward.local.api import Api
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.runtime.supervisor import Supervisor
from stateward.sim.fdb.databases import SimConsole, _refusal
from stateward.sim.fdb.world import Surroundings, served
from stateward.sim.world import Line, Result, World, simulate

_QUESTIONS = frozenset({"status", "describe", "list", "tags", "query", "dump"})
PLACE = "file:///backups"
#: A backup that is whole soon.
SOON: Json = {
    "version": "7.3.63",
    "clusterName": NAME,
    "fileURL": PLACE,
    "snapshotPeriodSeconds": 20,
}


@dataclass(frozen=True, slots=True)
class BackupCall:
    """One run of fdbbackup or fdbrestore."""

    program: str
    words: tuple[str, ...]

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.words[0] not in _QUESTIONS

    @property
    def line(self) -> str:
        """What was typed."""
        return f"{self.program} {' '.join(self.words)}"

    def __str__(self) -> str:
        return self.line


class BackupConsole(SimConsole):
    """Runs fdbbackup and fdbrestore, too."""

    world: BackupWorld

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a program; what it takes is virtual time."""
        if program not in ACTIONS:
            return await super().run(program, words, seconds, typed)
        call = BackupCall(program, tuple(words))

        async def carried() -> Answer:
            return await self._backed(call, seconds)

        try:
            return await self._network.send(call, carried, _refusal)
        except PeerUnreachable as error:
            raise DatabaseSilent(error.message) from None

    async def _backed(self, call: BackupCall, seconds: float) -> Answer:
        realm, world = self._realm, self.world
        realm.advance()
        if call.words[0] in ("delete", "describe", "expire"):
            database = realm.databases[0]
        else:
            string = self.found_by()
            database = realm.database(string)
            until = self._clock.now() + seconds
            while not self._view().is_served(database, string):
                if self._clock.now() >= until:
                    return Answer(-9, "", "", in_time=False)
                await asyncio.sleep(1)
                realm.advance()
        world.lines.append(call.line)
        if call.words[0] == "delete" and world.slow_deletion:
            await asyncio.sleep(world.slow_deletion)
        tape, until = Tape(database), self._clock.now() + seconds
        steps = commands.typed(tape, Place(world.files, BLOBS), call.program, call.words)
        while True:
            try:
                waits = next(steps)
            except StopIteration as end:
                realm.settle()
                return Answer(end.value, tape.out, tape.err)
            if self._clock.now() + waits > until:
                return Answer(-9, tape.out, tape.err, in_time=False)
            realm.settle()
            await asyncio.sleep(waits)
            realm.advance()


class SimBackups:
    """Databases as one operator process reaches them for backups."""

    def __init__(self, world: BackupWorld, line: Line, ports: Ports) -> None:
        self._world, self._line, self._ports = world, line, ports
        self._consoles: dict[ObjectKey, BackupConsole] = {}

    def backups(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> ProgramBackups:
        """Return the backups of a cluster."""
        return ProgramBackups(self._console(cluster, connection, version))

    def restores(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> ProgramRestores:
        """Return the restores into a cluster."""
        return ProgramRestores(self._console(cluster, connection, version))

    def clearing(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> KeyClearing:
        """Return who takes keys of a cluster away."""
        return KeyClearing(ProgramKeys(self._console(cluster, connection, version)))

    def files(self, version: Version) -> ProgramBackups:
        """Return who deletes files."""
        del version
        return ProgramBackups(self._made())

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of what was kept."""
        self._consoles.pop(cluster, None)

    def _console(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> BackupConsole:
        if cluster not in self._consoles:
            self._consoles[cluster] = self._made()
        self._consoles[cluster].find_by(connection, version)
        return self._consoles[cluster]

    def _made(self) -> BackupConsole:
        world = self._world
        made = BackupConsole(world.realm, self._line.network, self._ports.clock, world._is_cut)
        made.world = world
        return made


@dataclass(frozen=True, slots=True)
class BackupSurroundings(Surroundings):
    """What an operator process has, with backups."""

    backups: SimBackups


class BackupWorld(MangledWorld):
    """A world with a place for backups, and agents wherever a Deployment asks for them."""

    def __init__(self, world: World, **given: Any) -> None:
        super().__init__(world, **given)
        self.files = MemoryFiles()
        #: Every line of fdbbackup and fdbrestore, in order.
        self.lines: list[str] = []
        #: Seconds that it takes to delete files, before it is begun.
        self.slow_deletion = 0.0
        self.agents: dict[str, MemoryAgent] = {}
        self.idle = False
        self._working = asyncio.create_task(self._work())

    def surroundings(self, line: Line, ports: Ports, identity: str) -> Surroundings:
        """Return what an operator process has."""
        found = super().surroundings(line, ports, identity)
        given = {it: getattr(found, it) for it in Surroundings.__dataclass_fields__}
        return BackupSurroundings(**given, backups=SimBackups(self, line, ports))

    # ------------------------------------------------------------------ agents
    async def _work(self) -> None:
        while True:
            await asyncio.sleep(1)
            wanted = self._wanted()
            for name in self.agents.keys() - wanted:
                self.hurt(name)
            for name in wanted:
                self.agents.setdefault(name, MemoryAgent(AgentSeen(name), self.files, BLOBS))
            self.realm.advance()
            for database in self.realm.databases:
                for agent in [] if database.settings is None else self.agents.values():
                    agent.step(database)

    def hurt(self, name: str) -> None:
        """Kill an agent in the middle of what it does."""
        agent = self.agents.pop(name)
        for database in self.realm.databases:
            agent.take(database)
            agent.leave(database)

    def _wanted(self) -> set[str]:
        found: set[str] = set()
        for stored in self.world.api.store.all(DEPLOYMENTS.name):
            document = stored.document()
            if BACKUP_FOR not in document["metadata"].get("labels", {}) or self.idle:
                continue
            many = document["spec"]["replicas"]
            found |= {f"{stored.key.name}-{number}" for number in range(many)}
            told = {
                "observedGeneration": document["metadata"]["generation"],
                "replicas": many,
                "readyReplicas": many,
                "updatedReplicas": many,
            }
            if document.get("status", {}) != told:
                patch = MergePatch({"status": told})
                self.world.api.patch(DEPLOYMENTS, stored.key, patch, USER, subresource="status")
        return found


def operator(around: Surroundings) -> Supervisor:
    """Put the operator together as it is, with backups."""
    assert isinstance(around, BackupSurroundings)
    options = FdbOptions(
        databases=around.databases,
        agents=by_pod(around.agents),
        lease=ObjectKey(NAMESPACE, "fdb-operator"),
        backups=around.backups,
    )
    return assemble(around.client, around.ports, around.identity, around.metrics, options=options)


@dataclass
class BackupStory(Story):
    """A cluster with backups and restores."""

    it: BackupWorld

    # ------------------------------------------------------------------ doing
    def back_up(self, name: str = "nightly", **over: Any) -> None:
        """Create a backup."""
        self._create(BACKUPS, name, {**SOON, **over})

    def restore(self, name: str = "again", **over: Any) -> None:
        """Create a restore."""
        self._create(RESTORES, name, {"destinationClusterName": NAME, **over})

    def _create(self, resource: Any, name: str, spec: Json) -> None:
        document = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {key: it for key, it in spec.items() if it is not None},
        }
        self.it.world.api.create(resource, NAMESPACE, document, USER)

    def edit(self, name: str = "nightly", **over: Any) -> None:
        """Change the spec of a backup."""
        key = ObjectKey(NAMESPACE, name)
        self.it.world.api.patch(BACKUPS, key, MergePatch({"spec": over}), USER)

    def drop(self, name: str = "nightly", resource: Any = BACKUPS) -> None:
        """Delete a backup, or a restore."""
        self.it.world.api.delete(resource, ObjectKey(NAMESPACE, name), DeleteOptions())

    assembly = staticmethod(operator)

    def tell(self, resource: Any, name: str, status: Json) -> None:
        """Write a status, as another operator does."""
        patch, key = MergePatch({"status": status}), ObjectKey(NAMESPACE, name)
        self.it.world.api.patch(resource, key, patch, USER, subresource="status")

    def leave_deployment(self, name: str) -> None:
        """Have a deployment of somebody else be there."""
        labels = {"app": "else"}
        container = {"name": "else", "image": "else:1"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
        document = {
            "apiVersion": DEPLOYMENTS.api_version,
            "kind": DEPLOYMENTS.kind,
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": spec,
        }
        self.it.world.api.create(DEPLOYMENTS, NAMESPACE, document, USER)

    async def by_hand(self, *words: str) -> None:
        """Type a line of fdbbackup, as a person does."""
        database = self.database
        steps = commands.typed(Tape(database), Place(self.it.files, BLOBS), "fdbbackup", words)
        for seconds in steps:
            await asyncio.sleep(seconds)

    def empty(self) -> None:
        """Take all keys of users away."""
        store = self.database.store
        version = store.at(self.it.world.clock.now())
        store.write([(key, None) for key, _ in list(store.span(b"", b"\xff", version))])

    # ------------------------------------------------------------------ looking
    def backup(self, name: str = "nightly") -> Json:
        """Return a backup; nothing: it is gone."""
        return self._object(BACKUPS, name)

    def restored(self, name: str = "again") -> Json:
        """Return a restore; nothing: it is gone."""
        return self._object(RESTORES, name)

    def _object(self, resource: Any, name: str) -> Json:
        try:
            return self.it.world.api.get(resource, ObjectKey(NAMESPACE, name)).document()
        except NotFound:
            return {}

    def details(self, name: str = "nightly") -> Json:
        """Return what the database says of a backup, by its own word."""
        found: Json = self.backup(name).get("status", {}).get("backupDetails", {})
        return found

    def said(self, document: Json, kind: str) -> tuple[str, str]:
        """Return the status and the reason of a condition."""
        some = document.get("status", {}).get("conditions", ())
        return next(((it["status"], it["reason"]) for it in some if it["type"] == kind), ("", ""))

    def is_backed_up(self, name: str = "nightly") -> bool:
        """Tell whether a backup is restorable, and as asked."""
        document = self.backup(name)
        told = document.get("status", {}).get("generations", {})
        settled = told == {"reconciled": document["metadata"]["generation"]}
        return settled and self.details(name).get("restorable") is True

    def keys_there(self) -> dict[bytes, bytes]:
        """Return all keys of users."""
        store = self.database.store
        return dict(store.span(b"", b"\xff", store.at(self.it.world.clock.now())))

    def typed(self, *words: str) -> list[str]:
        """Return the lines of fdbbackup and fdbrestore that begin so."""
        return [it for it in self.it.lines if it.startswith(" ".join(words))]

    def told(self) -> str:
        """Return what all objects say of themselves."""
        every = [*self.it.world.api.list(BACKUPS).items, *self.it.world.api.list(RESTORES).items]
        lines = [f"{it.key.name} {it.document().get('status')}" for it in every]
        return "\n".join([super().told(), *lines, *self.it.lines[-20:]])

    # ------------------------------------------------------------------ waiting
    async def backed_up(self, name: str = "nightly") -> None:
        """Wait until a backup can be restored."""
        await self.until(f"{name} is restorable", lambda: self.is_backed_up(name))


def kinds_served(ports: Ports) -> Api:
    """Return a Kubernetes with every rule, and all our kinds."""
    api = served(ports)
    for it in (BACKUP_KIND, RESTORE_KIND):
        api.create(CUSTOM_RESOURCES, "", plain(crd(it)), Author("user"))
    return api


def played(
    story: Callable[[BackupStory], Awaitable[None]], *, seed: int = 1, whole: bool = False
) -> Result:
    """Run a story of a small cluster whose database holds something."""

    async def lived(world: World) -> None:
        it = BackupWorld(world, nodes=6)
        told = BackupStory(it, Watcher(it))
        told.slots = it.operate(operator)
        await told.create(single())
        await story(told)
        assert told.watcher.wrong == []
        if whole:
            told.is_whole()

    kinds = (CLUSTERS, PROCESS_GROUPS, BACKUPS, RESTORES)
    return simulate(lived, seed=seed, custom=kinds, serve=kinds_served)
