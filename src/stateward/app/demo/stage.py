"""The stage: a local cluster with two instances of the example operator, all over HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

from stateward.app import homes
from stateward.app.demo.cable import Cable
from stateward.app.kinds import definitions
from stateward.core.errors import NotLeader, StatewardError
from stateward.core.ports import Ports
from stateward.example.api import TEAM_LABEL, TEAMS, Team
from stateward.example.operator import LEASE, assemble
from stateward.kube.client import Client, Selection
from stateward.kube.errors import ApiError
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCES, LEASES, NAMESPACES, PODS
from stateward.local.cluster import EmbeddedCluster, Plan, Tell, running
from stateward.runtime.election import Terms
from stateward.runtime.telling.metrics import Metrics

KEY = ObjectKey("demo", "crew")

#: Short terms, so that a lost leader is replaced before the eyes of the audience.
_TERMS = Terms(duration=3.0, renew_deadline=2.0, retry_every=0.4)
_PATIENCE = 30.0


class DemoFailed(StatewardError):
    """A chapter of the story did not come true."""

    reason = "DemoFailed"


@dataclass(frozen=True, slots=True)
class Picture:
    """What there is to see at one moment."""

    pods: tuple[Pod, ...]
    team: Team | None
    members: tuple[ConfigMap, ...]
    leader: str


@dataclass(slots=True)
class Stage:
    """The cluster, a client of the audience's own, and the cables of the instances."""

    ports: Ports
    cluster: EmbeddedCluster
    client: Client
    cables: dict[str, Cable] = field(default_factory=dict)

    def picture(self) -> Picture:
        """Return what there is to see now."""
        api = self.cluster.api
        team = api.store.get(TEAMS.name, KEY)
        lease = api.store.get(LEASES.name, LEASE)
        members = api.list(CONFIG_MAPS, Selection(namespace=KEY.namespace)).items
        return Picture(
            pods=tuple(PODS.read(stored.text) for stored in api.list(PODS).items),
            team=TEAMS.read(team.text) if team else None,
            members=tuple(
                CONFIG_MAPS.read(stored.text) for stored in members if TEAM_LABEL in stored.labels
            ),
            leader=(LEASES.read(lease.text).spec.holder_identity or "") if lease else "",
        )

    async def until(self, what: str, holds: Callable[[Picture], bool]) -> None:
        """Wait until something is true; raise DemoFailed when it is not in time."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not holds(self.picture()):
                    await self.ports.clock.sleep(0.05)
        except TimeoutError:
            raise DemoFailed(
                f"{what}: not true after {_PATIENCE:g} s", hint="please report it"
            ) from None


@asynccontextmanager
async def stage(ports: Ports, *, tick: Tell, say: Tell) -> AsyncGenerator[Stage, None]:
    """Set the stage, and clear it afterwards: not a process is left."""
    async with AsyncExitStack() as stack:
        root = stack.enter_context(homes.a_home(None))
        cluster = await stack.enter_async_context(running(Plan(root), ports, tick=tick, say=say))
        access = from_kubeconfig([cluster.kubeconfig], os.environ)
        client = await stack.enter_async_context(_client(access, ports, "you"))
        await _prepare(client)
        it = Stage(ports, cluster, client)
        for name in ("operator-a", "operator-b"):
            task = asyncio.create_task(_operate(it, access, name))
            stack.push_async_callback(_end, task)
        tick("two instances of the example operator")
        yield it


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _client(access: ClusterAccess, ports: Ports, name: str) -> HttpClient:
    return HttpClient(access, ports.clock, ports.chance.stream(name), field_manager=name)


async def _prepare(client: Client) -> None:
    """Install our kinds and make the namespaces that the story needs."""
    for definition in definitions().values():
        await client.create(CUSTOM_RESOURCES, definition)
    for name in (KEY.namespace, LEASE.namespace):
        await client.create(NAMESPACES, {"metadata": {"name": name}})


async def _operate(it: Stage, access: ClusterAccess, name: str) -> None:
    cable = it.cables[name] = Cable()
    async with _client(access, it.ports, name) as wire:
        client = InterceptedClient(wire, cable)
        with suppress(NotLeader, ApiError):
            ports = it.ports.stream(name)
            operator = assemble(client, ports, name, Metrics(ports.clock), _TERMS)
            await operator.run(asyncio.Event())
