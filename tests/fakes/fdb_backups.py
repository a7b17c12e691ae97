"""Stories of backups: the real operator, the stand-in's programs, and agents that work in memory.

Agents are as many as a Deployment asks for, as soon as it is there; ``hurt`` kills them in the
middle of what they do, and ``idle`` has none come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fakes.fdb_mangling import MangledWorld
from fakes.fdb_stories import NAME, NAMESPACE, USER, Story, single
from fakes.fdb_watching import Watcher
from stateward.core.ports import Ports
from stateward.emulate.fdb.backups.agent import MemoryAgent
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.preparing import Place
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.console import BLOBS
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.api.backups.kinds import BACKUP_KIND, BACKUPS, RESTORE_KIND, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import BACKUP_FOR
from stateward.fdb.operator import FdbOptions, assemble
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, DEPLOYMENTS, NAMESPACES
from stateward.local.api import Api
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.runtime.supervisor import Supervisor
from stateward.sim.fdb.backups.shelf import Shelf
from stateward.sim.fdb.world import Surroundings, served
from stateward.sim.world import Result, World, simulate

PLACE = "file:///backups"
#: A backup that is whole soon.
SOON: Json = {
    "version": "7.3.63",
    "clusterName": NAME,
    "fileURL": PLACE,
    "snapshotPeriodSeconds": 20,
}


class BackupWorld(MangledWorld):
    """A world with a place for backups, and agents wherever a Deployment asks for them."""

    def __init__(self, world: World, **given: Any) -> None:
        super().__init__(world, **given)
        self.shelf = self.backing = Shelf(lambda: world.weather.acting, deleting=0.0)
        self.files = self.backing.files
        #: Every line of fdbbackup and fdbrestore, in order.
        self.lines: list[str] = []
        self.backing.typed.append(lambda typed: self.lines.append(typed.call.line))
        self.agents: dict[str, MemoryAgent] = {}
        self.idle = False
        self._working = asyncio.create_task(self._work())

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


def operator(
    around: Surroundings, selector: str = "", namespaces: tuple[str, ...] = ()
) -> Supervisor:
    """Put the operator together as it is, with backups."""
    assert around.backups is not None
    options = FdbOptions(
        databases=around.databases,
        agents=by_pod(around.agents),
        lease=ObjectKey(NAMESPACE, "fdb-operator"),
        backups=around.backups,
        selector=selector,
        namespaces=namespaces,
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

    def back_up_in(self, namespace: str, name: str, **over: Any) -> None:
        """Create a backup elsewhere."""
        self._stand(namespace)
        self._create(BACKUPS, name, {**SOON, **over}, namespace)

    def restore(self, name: str = "again", **over: Any) -> None:
        """Create a restore."""
        self._create(RESTORES, name, {"destinationClusterName": NAME, **over})

    def _stand(self, namespace: str) -> None:
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        with suppress(AlreadyExists):
            self.it.world.api.create(NAMESPACES, "", document, USER)

    def _create(self, resource: Any, name: str, spec: Json, namespace: str = NAMESPACE) -> None:
        document = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {key: it for key, it in spec.items() if it is not None},
        }
        self.it.world.api.create(resource, namespace, document, USER)

    def edit(self, name: str = "nightly", **over: Any) -> None:
        """Change the spec of a backup."""
        key = ObjectKey(NAMESPACE, name)
        self.it.world.api.patch(BACKUPS, key, MergePatch({"spec": over}), USER)

    def drop(
        self, name: str = "nightly", resource: Any = BACKUPS, namespace: str = NAMESPACE
    ) -> None:
        """Delete a backup, or a restore."""
        self.it.world.api.delete(resource, ObjectKey(namespace, name), DeleteOptions())

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
    @property
    def database(self) -> Database:
        """The database of the cluster; beside it there may be one of a drill, or what is left."""
        self.it.realm.advance()
        return self.it.realm.database(ConnectionString.parse(self.status["connectionString"]))

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
