"""What stories about trouble share: who is there, what was told, and trouble itself.

async with world(plane) as it, it.operating():
    before = await three(it)                 # shop-0 leads
    await lose_disk(it, 2)
    after = await replaced(it, before, 2)
    assert after.pods[0] == before.pods[0]
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from fakes import kubectl
from operators.etcd.worlds import PATIENCE, World
from stateward.core.errors import PeerError, UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.members.errors import EtcdPacing
from stateward.etcd.members.port import Dialer, Endpoint, MemberApi
from stateward.etcd.model.members import MemberStatus
from stateward.etcd.model.names import ordinal_of
from stateward.kube.client import MergePatch, Selection
from stateward.kube.interception import Call, PassThrough
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import EVENTS, NODES

R = TypeVar("R")

NAME = "shop"
#: Seconds that a member of these stories may be away, and a while in which nothing may happen.
GRACE = 6.0
A_WHILE = 10.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is there, by ordinal: members by id in etcd, pods and claims by uid."""

    members: Mapping[int, str]
    pods: Mapping[int, str]
    claims: Mapping[int, str]

    def without(self, ordinal: int) -> Standing:
        """Return the others."""
        parts = (self.members, self.pods, self.claims)
        return Standing(*({at: it for at, it in part.items() if at != ordinal} for part in parts))


async def standing(world: World) -> Standing:
    """Return who is there; members by the last list that a quorum agreed to."""
    cluster = await world.get(NAME)
    members = {_ordinal(it.name): it.id for it in cluster.status.last_known_members}
    pods = {_ordinal(it.metadata.name): it.metadata.uid for it in await world.pods(NAME)}
    claims = {_ordinal(it.metadata.name): it.metadata.uid for it in await world.claims(NAME)}
    return Standing(members, pods, claims)


async def three(world: World, *, leader: int = 0, **spec: Any) -> Standing:
    """Have three members Ready, of whom one leads that the story knows; return who they are."""
    usual = {"replicas": 3, "unhealthyMemberGracePeriod": f"{GRACE:g}s"}
    await world.create(NAME, **(usual | spec))
    await world.ready(NAME)
    await lead(world, leader)
    return await standing(world)


async def lead(world: World, ordinal: int) -> None:
    """Hand leadership to a member."""
    heir = (await pod(world, ordinal)).status.pod_ip
    for _ in range(20):
        for each in await world.pods(NAME):
            with suppress(PeerError):
                door = world.glance(each)
                said = await door.status()
                if said.leader == said.member_id:
                    to = await world.dialer.dial(Endpoint(heir, 2379)).status()
                    if to.member_id == said.member_id:
                        return
                    await door.move_leader(to.member_id)
        await asyncio.sleep(0.2)
    raise AssertionError(f"leadership did not go to {NAME}-{ordinal}")


async def pod(world: World, ordinal: int) -> Pod:
    """Return a pod of the cluster."""
    return next(it for it in await world.pods(NAME) if _ordinal(it.metadata.name) == ordinal)


# -------------------------------------------------------------------------- trouble


async def lose_disk(world: World, ordinal: int) -> None:
    """Empty the disk of a member and kill its etcd, so that it starts with nothing."""
    faults = world.cluster.agent.faults
    await faults.wipe(world.key(f"data-{NAME}-{ordinal}"))
    faults.kill(world.key(f"{NAME}-{ordinal}"))


@asynccontextmanager
async def killing(world: World, ordinal: int) -> AsyncGenerator[None, None]:
    """Kill the etcd of a pod as often as it starts, for the length of a block."""
    victim = (await pod(world, ordinal)).metadata.uid

    async def kill() -> None:
        while True:
            with suppress(StopIteration, UsageError):
                if (await pod(world, ordinal)).metadata.uid == victim:
                    world.cluster.agent.faults.kill(world.key(f"{NAME}-{ordinal}"))
            await asyncio.sleep(0.2)

    task = asyncio.create_task(kill())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def no_room(world: World) -> AsyncGenerator[None, None]:
    """Let no node take new pods, for the length of a block."""

    async def cordon(*, is_on: bool) -> None:
        for node in (await world.client.list(NODES)).items:
            body = MergePatch({"spec": {"unschedulable": is_on or None}})
            await world.client.patch(NODES, node.metadata.key, body)

    await cordon(is_on=True)
    try:
        yield
    finally:
        await cordon(is_on=False)


async def run_kubectl(world: World, *words: str) -> str:
    """Run kubectl as a user would, and return what it says."""
    program = kubectl.find().program
    assert program, f"a story needs kubectl: {kubectl.find().told}"
    place = ("--kubeconfig", str(world.cluster.kubeconfig), "-n", world.namespace)
    process = await asyncio.create_subprocess_exec(
        program,
        *place,
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


async def add_by_hand(world: World, peer_url: str) -> int:
    """Do as ``etcdctl member add --learner`` does; return who was added."""
    added = await _by_hand(world, lambda door: door.add_learner(peer_url))
    return added.id


async def remove_by_hand(world: World, member_id: int) -> None:
    """Do as ``etcdctl member remove`` does."""
    await _by_hand(world, lambda door: door.remove(member_id))


async def _by_hand(world: World, ask: Callable[[MemberApi], Awaitable[R]]) -> R:
    """Ask etcd until it agrees: it refuses for some seconds after a start or a change."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(EtcdPacing):
                return await ask(world.door(await pod(world, 1)))
            await asyncio.sleep(0.2)


# -------------------------------------------------------------------------- what comes of it


async def nudge(world: World) -> None:
    """Have the operator look now: at rest it looks every 20 s, since etcd tells nobody."""
    body = {"metadata": {"annotations": {"story/nudged-at": str(world.ports.clock.now())}}}
    await world.client.patch(ETCD_CLUSTERS, world.key(NAME), MergePatch(body))


async def replaced(world: World, before: Standing, ordinal: int) -> Standing:
    """Wait until a member is another one and all is well; return who is there then."""

    def is_another(cluster: EtcdCluster) -> bool:
        now = {_ordinal(it.name): it.id for it in cluster.status.last_known_members}
        return now.get(ordinal) not in {None, before.members[ordinal]}

    await world.until(NAME, is_another)
    await world.ready(NAME)
    return await standing(world)


async def eventually(holds: Callable[[], Awaitable[bool]], *, within: float = PATIENCE) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(within):
        while True:
            with suppress(PeerError):  # whoever has not answered has not said no
                if await holds():
                    return
            await asyncio.sleep(0.1)


async def stays(look: Callable[[], Awaitable[R]], expected: R, *, seconds: float = A_WHILE) -> None:
    """See that something does not change for a while."""
    for _ in range(int(seconds / 0.25)):
        assert await look() == expected
        await asyncio.sleep(0.25)


async def told(world: World) -> set[str]:
    """Return the reasons of all events about the cluster."""
    events = (await world.client.list(EVENTS, Selection(world.namespace))).items
    about = (it for it in events if it.involved_object.kind == ETCD_CLUSTERS.kind)
    return {it.reason for it in about if it.involved_object.name == NAME}


async def tells(world: World, *reasons: str) -> None:
    """Wait until events tell all of this: they are written beside the work."""

    async def all_told() -> bool:
        return set(reasons) <= await told(world)

    try:
        await eventually(all_told)
    except TimeoutError:
        raise AssertionError(f"wanted {sorted(reasons)}, told {await told(world)}") from None


# -------------------------------------------------------------------------- ears and doors


@dataclass(slots=True)
class Writes(PassThrough):
    """Writes down every call that changes something beside the telling: status, events, lease."""

    made: list[str] = field(default_factory=list)

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        tells = call.subresource == "status" or call.resource.plural in {"events", "leases"}
        if call.writes and not tells:
            self.made.append(str(call))
        return await perform()


@dataclass(slots=True)
class Severed:
    """A dialer whose connections can be cut: nobody listens where it then leads."""

    inner: Dialer
    is_cut: bool = False

    def dial(self, endpoint: Endpoint) -> MemberApi:
        return self.inner.dial(replace(endpoint, port=1) if self.is_cut else endpoint)

    async def close(self) -> None:
        return None


@dataclass(slots=True)
class Impostor:
    """A dialer by which one member answers for another cluster."""

    inner: Dialer
    address: str = ""

    def dial(self, endpoint: Endpoint) -> MemberApi:
        door = self.inner.dial(endpoint)
        is_it = endpoint.address == self.address
        return _AsAnother(door) if is_it else door  # type: ignore[return-value]

    async def close(self) -> None:
        return None


@dataclass(slots=True)
class _AsAnother:
    door: MemberApi

    def __getattr__(self, name: str) -> Any:
        return getattr(self.door, name)

    async def status(self) -> MemberStatus:
        return replace(await self.door.status(), cluster_id=0xBAD)


def _ordinal(name: str) -> int:
    found = ordinal_of(NAME, name.removeprefix("data-"))
    assert found is not None, name
    return found
