"""Somebody who stands between an operator and the cluster, and writes down what it asks for.

witness = Witness(it)
async with it.operating(wrap=witness.between):
    ...
assert witness.restarted == ["shop-2", "shop-1", "shop-0"]
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from operators.etcd.worlds import World
from stateward.core.errors import PeerError
from stateward.etcd.members.port import MemberApi, Trust
from stateward.etcd.model.members import MemberStatus
from stateward.kube.client import Client, Selection
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.resources import EVENTS, LEASES, PODS

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Restart:
    """A pod that the operator deleted, and how its cluster was at that very moment."""

    pod: str
    leader: str
    #: How many members answered and followed a leader.
    healthy: int


@dataclass(slots=True)
class Witness(PassThrough):
    """Notes every write, and at every deletion of a pod asks etcd itself how it is."""

    world: World
    trust: Trust | None = None
    restarts: list[Restart] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    #: How often force-new-cluster was asked for.
    forced: int = 0

    def between(self, client: Client) -> Client:
        """Return a client that passes through here."""
        return InterceptedClient(client, self)

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        if call.writes and call.resource not in {LEASES, EVENTS}:
            self.writes.append(str(call))
            self.forced += "'ETCD_FORCE_NEW_CLUSTER': 'true'" in str(call.body)
        if call.verb == "delete" and call.resource == PODS:
            said = await self._asked(call.key.name.rpartition("-")[0])
            leads = [it for it, said in said.items() if said.leader == said.member_id]
            healthy = sum(it.leader != 0 for it in said.values())
            self.restarts.append(Restart(call.key.name, ",".join(leads), healthy))
        return await perform()

    async def _asked(self, cluster: str) -> dict[str, MemberStatus]:
        pods = [it for it in await self.world.pods(cluster) if it.status.pod_ip]
        doors = [self.world.glance(it, self.trust) for it in pods]
        said = await asyncio.gather(*map(_status, doors))
        return {pod.metadata.name: it for pod, it in zip(pods, said, strict=True) if it is not None}

    @property
    def restarted(self) -> list[str]:
        """The pods that were deleted, in order."""
        return [it.pod for it in self.restarts]


async def _status(door: MemberApi) -> MemberStatus | None:
    with suppress(PeerError):
        return await door.status()
    return None


async def leader_of(world: World, name: str, trust: Trust | None = None) -> str:
    """Return the pod whose etcd says that it leads."""
    for pod in await world.pods(name):
        if pod.status.pod_ip:
            said = await _status(world.glance(pod, trust))
            if said is not None and said.leader == said.member_id:
                return pod.metadata.name
    raise AssertionError(f"nobody leads {name}")


async def member_ids(world: World, name: str, trust: Trust | None = None) -> dict[str, int]:
    """Return who is on the list of a cluster, by a majority's word."""
    for pod in await world.pods(name):
        with suppress(PeerError):
            roster = await world.glance(pod, trust).members()
            return {it.name: it.id for it in roster.members}
    raise AssertionError(f"no majority of {name} answers")


async def told(world: World, name: str) -> list[str]:
    """Return the reasons of a cluster's events, oldest first."""
    return [it.reason for it in await events(world, name)]


async def events(world: World, name: str) -> list:
    """Return a cluster's events, oldest first."""
    found = (await world.client.list(EVENTS, Selection(world.namespace))).items
    mine = [
        it
        for it in found
        if it.involved_object.kind == "EtcdCluster" and it.involved_object.name == name
    ]
    return sorted(mine, key=lambda it: int(it.metadata.resource_version))


@asynccontextmanager
async def fewest_ready(world: World, name: str) -> AsyncGenerator[list[int], None]:
    """Keep the lowest number of pods that was seen meanwhile, of those that have been ready.

    One that only answers its probe late is no pod that somebody took away; who is there at the
    beginning has been ready.
    """
    seen: list[int] = []
    been_ready = {it.metadata.uid for it in await world.pods(name)}

    async def look() -> None:
        while True:
            pods = await world.pods(name)
            been_ready.update(it.metadata.uid for it in pods if it.ready)
            there = [it for it in pods if not it.metadata.deleting]
            seen[:] = [min([sum(it.metadata.uid in been_ready for it in there), *seen])]
            await asyncio.sleep(0.05)

    task = asyncio.create_task(look())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def uids(objects: Iterable) -> dict[str, str]:
    """Return which objects there are, each with what tells it from a later one of its name."""
    return {it.metadata.name: it.metadata.uid for it in objects}
