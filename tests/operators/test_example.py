"""The example operator, two instances of it, over HTTP on a whole cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from real.clusters import RunningCluster
from stateward.app.demo.cable import Cable
from stateward.app.kinds import definitions
from stateward.core.errors import NotLeader
from stateward.core.ports import Ports
from stateward.example.api import TEAM_LABEL, TEAMS
from stateward.example.operator import LEASE, assemble
from stateward.kube.client import Client, MergePatch, Selection
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCES, LEASES, NAMESPACES
from stateward.runtime.election import Terms
from stateward.runtime.telling.metrics import Metrics

PATIENCE = 40.0
TERMS = Terms(duration=3.0, renew_deadline=2.0, retry_every=0.3)


@dataclass(frozen=True, slots=True)
class Scene:
    """A client of the user's own, a namespace, and the cables of the instances."""

    client: Client
    namespace: str
    cables: dict[str, Cable]

    @property
    def team(self) -> ObjectKey:
        return ObjectKey(self.namespace, "crew")

    async def mottos(self) -> list[str]:
        """Return what the members say."""
        chosen = Selection(self.namespace, labels=TEAM_LABEL)
        return [it.data["motto"] for it in (await self.client.list(CONFIG_MAPS, chosen)).items]

    async def leader(self) -> str:
        try:
            return (await self.client.get(LEASES, LEASE)).spec.holder_identity or ""
        except NotFound:
            return ""

    async def until(self, holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await holds():  # noqa: ASYNC110 - a cluster rings no bell
                await asyncio.sleep(0.05)

    async def says(self, *mottos: str) -> None:
        async def all_do() -> bool:
            return sorted(await self.mottos()) == sorted(mottos)

        await self.until(all_do)


@asynccontextmanager
async def scene(cluster: RunningCluster) -> AsyncGenerator[Scene, None]:
    """Install the kind and run two instances."""
    ports = Ports.of_this_machine()
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(cluster.client("you", ports))
        for definition in definitions().values():
            with suppress(AlreadyExists):
                await client.create(CUSTOM_RESOURCES, definition)
        namespace = f"crew-{ports.chance.suffix(6)}"
        for name in (namespace, LEASE.namespace):
            with suppress(AlreadyExists):
                await client.create(NAMESPACES, {"metadata": {"name": name}})
        it = Scene(client, namespace, {})
        for name in ("a", "b"):
            wire = await stack.enter_async_context(cluster.client(name, ports))
            it.cables[name] = Cable()
            task = asyncio.create_task(_operate(InterceptedClient(wire, it.cables[name]), name))
            stack.push_async_callback(_end, task)
        yield it


async def _operate(client: Client, name: str) -> None:
    ports = Ports.of_this_machine()
    with suppress(NotLeader):  # as it says who could not renew; nothing else may end it
        operator = assemble(client, ports, name, Metrics(ports.clock), TERMS)
        await operator.run(asyncio.Event())


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_team_grows_changes_its_motto_and_goes(cluster: RunningCluster) -> None:
    async with scene(cluster) as it:
        await it.client.create(
            TEAMS,
            {
                "metadata": {"namespace": it.namespace, "name": "crew"},
                "spec": {"size": 3, "motto": "ahoy"},
            },
        )
        await it.says("ahoy", "ahoy", "ahoy")
        await it.client.patch(TEAMS, it.team, MergePatch({"spec": {"motto": "land", "size": 2}}))
        await it.says("land", "land")

        async def is_ready() -> bool:
            team = await it.client.get(TEAMS, it.team)
            ready = [c.status for c in team.status.conditions if c.type == "Ready"]
            return ready == ["True"] and team.status.members == 2

        await it.until(is_ready)
        team = await it.client.get(TEAMS, it.team)
        await it.client.delete(TEAMS, it.team, uid=team.metadata.uid)
        await it.says()

        async def is_gone() -> bool:
            return not (await it.client.list(TEAMS, Selection(it.namespace))).items

        await it.until(is_gone)


async def test_another_instance_goes_on_when_the_leader_is_cut_off(cluster: RunningCluster) -> None:
    async with scene(cluster) as it:
        spec = {"size": 1, "motto": "one"}
        body = {"metadata": {"namespace": it.namespace, "name": "crew"}, "spec": spec}
        await it.client.create(TEAMS, body)
        await it.says("one")
        first = await it.leader()

        it.cables[first].pull()
        await it.client.patch(TEAMS, it.team, MergePatch({"spec": {"motto": "two"}}))
        await it.says("two")

        assert await it.leader() not in {first, ""}
