"""A whole cluster in this process, FoundationDB's operator in it, and processes in its pods.

    async with world("embedded") as it, it.operating():
        await it.create("shop")
        await it.reconciled("shop")

Where this machine has no FoundationDB 7.3 it is the stand-in, which lives some times faster than
the world: an operator that waits until a database has rested for ten minutes does not wait so long
here. With real programs (STATEWARD_FDB_BIN) it does, and so do the stories. How old a process is it
tells in seconds of the world, so what the operator wants of that is less by as much.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from operators.dooms import Doom
from stateward.app import images
from stateward.app.fdb.available import NAMED
from stateward.app.fdb.binaries import local_binaries
from stateward.app.kinds import definitions
from stateward.app.local import ControlPlane, running
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.emulate.fdb.programs.pace import VARIABLE as PACE_VARIABLE
from stateward.fdb.admin.backups.databases import ProgramBackupDatabases
from stateward.fdb.admin.costs import Meter
from stateward.fdb.admin.databases import ProgramDatabases
from stateward.fdb.admin.pod_agent.http import HttpAgents
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.admin.session import Session, Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import (
    CLUSTERS,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.fdb.build.detection import NOBODY, Detector
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.operator import FdbOptions, assemble
from stateward.fdb.status import exclusions
from stateward.kube.client import Client, MergePatch, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, NAMESPACES
from stateward.local.cluster import Cluster, Plan
from stateward.runtime.telling.metrics import Metrics

VERSION: Final = "7.3.79"
#: Seconds of the stand-in in one of the world.
PACE: Final = "1" if os.environ.get(NAMED) else "30"
#: Seconds after which a story gives up; real databases are waited for as long as guards want.
PATIENCE: Final = 1500.0 if os.environ.get(NAMED) else 300.0
_NAMESPACE: Final = "story"
#: What changes something of backups and restores.
_CHANGES: Final = frozenset(
    {"start", "modify", "discontinue", "abort", "pause", "resume", "expire", "delete", "clear"}
)
#: Seconds for which operators that act together wait for each other's words.
_WINDOW: Final = 5.0


def small(**more: Any) -> Json:
    """Return a spec of which several fit on this machine; what is said more lies over it."""
    container = {
        "name": "foundationdb",
        "env": [{"name": PACE_VARIABLE, "value": PACE}],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
    }
    general = {
        "podTemplate": {"spec": {"terminationGracePeriodSeconds": 5, "containers": [container]}},
        "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1G"}}}},
    }
    usual = {
        "version": VERSION,
        "faultDomain": {"key": "kubernetes.io/hostname"},
        "minimumUptimeSecondsForBounce": 600 // int(PACE),  # processes are as old as they are
        "processCounts": {"stateless": 3},
        "processes": {"general": general},
    }
    return usual | more


def manifest(name: str, namespace: str, **more: Any) -> Json:
    """Return a cluster as users write it."""
    return {
        "apiVersion": CLUSTERS.api_version,
        "kind": CLUSTERS.kind,
        "metadata": {"namespace": namespace, "name": name},
        "spec": small(**more),
    }


@dataclass(frozen=True, slots=True)
class Counted(Meter):
    """Counts what programs are asked for."""

    commands: Counter[str]

    def ended(self, program: str, command: str, end: str, wall: float, cpu: float) -> None:
        """Count a call."""
        self.commands[command] += 1

    def waited(self, seconds: float) -> None:
        """Count nothing."""


@dataclass(frozen=True, slots=True)
class DoomedDatabases:
    """How an operator asks for backups that dies at a call of its own."""

    inner: ProgramBackupDatabases
    doom: Doom

    def __getattr__(self, name: str) -> Any:
        reach = getattr(self.inner, name)
        if name in {"forget", "close"}:
            return reach
        return lambda *which: self.doom.door(reach(*which), _CHANGES, name)


@dataclass(slots=True)
class World:
    """A cluster, a client of the user's own, and what talks to databases."""

    cluster: Cluster
    client: Client
    ports: Ports
    shared: Shared
    commands: Counter[str]

    # ------------------------------------------------------------------ the operator

    @asynccontextmanager
    async def operating(
        self,
        detector: Detector = NOBODY,
        *,
        name: str = "operator",
        selector: str = "",
        window: float = _WINDOW,
        doom: Doom | None = None,
    ) -> AsyncGenerator[None, None]:
        """Run an operator, for some clusters or for all; leaving the block kills it.

        One with a doom dies, to all others, at a call of it.
        """
        access = from_kubeconfig([self.cluster.kubeconfig], {})
        ports = self.ports.stream(name)
        databases, agents = ProgramDatabases(self.shared), HttpAgents()
        backups = ProgramBackupDatabases(self.shared)
        options = FdbOptions(
            databases=databases,
            agents=by_pod(agents),
            names_resolve=False,
            detector=detector,
            selector=selector,
            window=window,
            lease=None,
            backups=backups if doom is None else DoomedDatabases(backups, doom),
        )
        async with HttpClient(access, ports.clock, ports.chance, field_manager="fdb") as wire:
            client = wire if doom is None else doom.wrap(wire)
            made = assemble(client, ports, name, Metrics(ports.clock), options=options)
            task = asyncio.create_task(made.run(asyncio.Event()))
            try:
                yield
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await agents.close()
                databases.close()
                backups.close()

    # ------------------------------------------------------------------ the user

    async def create(self, name: str, **spec: Any) -> None:
        """Ask for a cluster; its name is a label as well, so that it can have its own operator."""
        asked = manifest(name, _NAMESPACE, **spec)
        asked["metadata"]["labels"] = {"place": name}
        await self.client.create(CLUSTERS, asked)

    async def edit(self, name: str, **spec: Any) -> None:
        """Change a cluster's spec."""
        await self.client.patch(CLUSTERS, _key(name), MergePatch({"spec": spec}))

    async def get(self, name: str) -> FoundationDBCluster:
        """Return a cluster as it is."""
        return await self.client.get(CLUSTERS, _key(name))

    async def groups(self, name: str, process_class: str = "") -> list[FoundationDBProcessGroup]:
        """Return the process groups of a cluster, or those of a class, by name."""
        found = (await self.client.list(PROCESS_GROUPS, Selection(_NAMESPACE))).items
        ours = [it for it in found if it.spec.cluster_name == name]
        some = [it for it in ours if process_class in ("", it.spec.process_class)]
        return sorted(some, key=lambda it: it.metadata.name)

    async def ids(self, name: str, process_class: str) -> set[str]:
        """Return the ids of the process groups of a class."""
        return {it.spec.process_group_id for it in await self.groups(name, process_class)}

    async def reconciled(self, name: str) -> FoundationDBCluster:
        """Wait until all of a cluster is as asked, and nothing is on its way out."""
        return await self.until(name, is_reconciled)

    async def until(
        self, name: str, holds: Callable[[FoundationDBCluster], bool]
    ) -> FoundationDBCluster:
        """Wait until something is true of a cluster; say how it stands when it does not come."""
        last = None
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    last = await self.get(name)
                    if holds(last):
                        return last
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise AssertionError(f"not within {PATIENCE:g} s: {told(last)}") from None

    # ------------------------------------------------------------------ the database

    async def typed(self, name: str, line: str) -> str:
        """Return what fdbcli answers to a line."""
        found = (await self.get(name)).status.connection_string
        session = Session(self.shared, "story", Version.parse(VERSION))
        try:
            session.find_by(ConnectionString.parse(found))
            words = ["-C", str(session.file), "--exec", line, "--timeout", "30"]
            return (await session.run("fdbcli", words, 60)).out
        finally:
            session.close()

    def asked(self, command: str) -> int:
        """Return how often fdbcli was asked for something, by the operator or by the story."""
        return self.commands[command]


def _key(name: str) -> ObjectKey:
    return ObjectKey(_NAMESPACE, name)


def is_reconciled(cluster: FoundationDBCluster) -> bool:
    """Tell whether all of a cluster is as asked, and nothing is on its way out."""
    told = cluster.status.generations
    return told.reconciled == cluster.metadata.generation and not told.has_pending_removal


def told(cluster: FoundationDBCluster | None) -> str:
    """Return how a cluster stands, in the operator's words."""
    if cluster is None:
        return "there is no such cluster"
    status = cluster.status
    said = [f"{it.type}={it.status} {it.reason}: {it.message}" for it in status.conditions]
    return "\n  ".join([status.doing, str(status.generations), *said])


@asynccontextmanager
async def world(plane: str, *, nodes: int = 3) -> AsyncGenerator[World, None]:
    """Run a cluster with our kinds for the length of a block."""
    ports = Ports.of_this_machine()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fdb-story-")))
        if int(PACE) > 1:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr(exclusions, "SETTLED", exclusions.SETTLED / int(PACE))
        root = folder / "cluster"
        plan = Plan(root, nodes=nodes, zones=nodes, images=(await images.known())(root))
        cluster = await stack.enter_async_context(
            running(ControlPlane(plane), plan, ports, tick=lambda _: None, say=lambda _: None)
        )
        access = from_kubeconfig([cluster.kubeconfig], {})
        wire = HttpClient(access, ports.clock, ports.chance.stream("you"), field_manager="you")
        client = await stack.enter_async_context(wire)
        for definition in definitions().values():
            await client.create(CUSTOM_RESOURCES, definition)
        await _until_served(client)
        await client.create(NAMESPACES, {"metadata": {"name": _NAMESPACE}})
        binaries = await stack.enter_async_context(local_binaries())
        environment = os.environ | {PACE_VARIABLE: PACE}
        commands: Counter[str] = Counter()
        shared = Shared(binaries, Turns(4), ports.clock, Counted(commands), environment)
        yield World(cluster, client, ports, shared, commands)


async def _until_served(client: Client) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(ApiError):  # a kind that is new is a page not found, for a moment
                for kind in (CLUSTERS, PROCESS_GROUPS, BACKUPS, RESTORES):
                    await client.list(kind)
                return
            await asyncio.sleep(0.1)
