"""What happens to a cluster of etcd around the death of its operator at its n-th call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from operators.dooms import Doom, Side
from operators.etcd.worlds import PATIENCE, World, is_ready, told
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.members.port import Dialer, Endpoint, MemberApi
from stateward.etcd.model.members import Roster

#: What changes something in etcd.
CHANGES: Final = frozenset(
    {
        "add_learner",
        "promote",
        "remove",
        "move_leader",
        "compact",
        "defragment",
        "disarm",
        "add_root",
        "enable_auth",
        "disable_auth",
    }
)
NAME: Final = "shop"
KEYS: Final = 10
#: So many clusters live side by side in one test: more would starve each other on two cores.
AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class _Dialer:
    inner: Dialer
    doom: Doom

    def dial(self, endpoint: Endpoint) -> MemberApi:
        door: MemberApi = self.doom.door(self.inner.dial(endpoint), CHANGES, "etcd")
        return door

    async def close(self) -> None:
        """Leave the connections to whom they belong."""


# -------------------------------------------------------------------------- an operation


@dataclass(frozen=True, slots=True)
class Operation:
    """What a user does, or what befalls a cluster; and who is to come out of it unharmed."""

    name: str
    #: How many members there are before; None: the cluster is not made yet.
    first: int | None
    wanted: int
    #: Ordinals whose data is lost on the way.
    emptied: tuple[int, ...] = ()
    #: Sizes that are asked for before ``first`` is reached by it, as to sleep.
    via: tuple[int, ...] = ()
    grace: str = "30s"
    #: How many calls it takes, more or less: so many deaths are tried at once.
    about: int = 15

    def __str__(self) -> str:
        return self.name

    @property
    def stayers(self) -> frozenset[str]:
        """The members that keep their ids and volumes."""
        kept = min(max(it, 1) for it in (*self.via, self.first or 0, self.wanted))
        if self.first is None:
            return frozenset()
        return frozenset(f"{NAME}-{n}" for n in range(kept) if n not in self.emptied)


@dataclass(frozen=True, slots=True)
class Before:
    """What there was before the operation."""

    cluster_id: str = ""
    ids: dict[str, int] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Trial:
    """One operation in a namespace of its own, with one death in it."""

    world: World
    operation: Operation
    doom: Doom
    before: Before = field(default_factory=Before)

    async def run(self) -> bool:
        """Go through it and check what came out; tell whether the death was reached."""
        if self.operation.first is not None:
            self.before = await self._prepare()
        world, doom = self.world, self.doom
        async with world.operating(wrap=doom.wrap, dialer=_Dialer(world.dialer, doom)):
            await self._begin()
            settled = asyncio.create_task(self._settle())
            died = asyncio.create_task(doom.died.wait())
            await asyncio.wait((settled, died), return_when=asyncio.FIRST_COMPLETED)
            if not doom.died.is_set():
                died.cancel()
                await settled
            settled.cancel()
            await asyncio.gather(settled, died, return_exceptions=True)
        if doom.died.is_set():
            async with world.operating():
                await self._settle()
        await self._check()
        return doom.died.is_set()

    # ------------------------------------------------------------------ before

    async def _prepare(self) -> Before:
        world, operation = self.world, self.operation
        sizes = (*operation.via, operation.first or 0)
        async with world.operating():
            await world.create(NAME, replicas=sizes[0], unhealthyMemberGracePeriod=operation.grace)
            await self._settle(sizes[0])
            door = world.door((await world.pods(NAME))[0])
            for n in range(KEYS):
                await door.put(f"key-{n}".encode(), str(n).encode())
            roster = await door.members()
            for size in sizes[1:]:
                await world.edit(NAME, replicas=size)
                await self._settle(size)
        found = await world.get(NAME)
        claims = {it.metadata.name: it.metadata.uid for it in await world.claims(NAME)}
        return Before(found.status.cluster_id, _ids(roster), claims)

    async def _begin(self) -> None:
        world, operation = self.world, self.operation
        if operation.first is None:
            await world.create(NAME, replicas=operation.wanted)
            return
        for ordinal in operation.emptied:
            faults = world.cluster.agent.faults
            pod = f"{NAME}-{ordinal}"
            await faults.wipe(world.key(f"data-{pod}"))
            faults.kill(world.key(pod))
        if operation.wanted != operation.first:
            await world.edit(NAME, replicas=operation.wanted)

    # ------------------------------------------------------------------ after

    async def _settle(self, size: int | None = None) -> None:
        """Wait until there is nothing left to do, and nothing left over."""
        wanted = self.operation.wanted if size is None else size
        names = [f"data-{NAME}-{n}" for n in range(max(wanted, 1))]
        found = None
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    found = await self.world.get(NAME)
                    if found.status.replicas == wanted and self._rests(found):
                        claims = [it.metadata.name for it in await self.world.claims(NAME)]
                        if claims == names:
                            return
                    await asyncio.sleep(0.25)
        except TimeoutError:
            raise AssertionError(f"{self}: does not settle: {told(found)}") from None

    def _rests(self, cluster: EtcdCluster) -> bool:
        """Tell whether nothing is left to do, which must include what was lost."""
        if not is_ready(cluster) or cluster.status.doing not in {"nothing to do", "asleep"}:
            return False
        ids = {it.name: it.id for it in cluster.status.members}
        lost = [f"{NAME}-{n}" for n in self.operation.emptied if self.before.ids]
        return all(it in ids and int(ids[it], 16) != self.before.ids[it] for it in lost)

    async def _check(self) -> None:
        world, operation, before = self.world, self.operation, self.before
        found = await world.get(NAME)
        claims = {it.metadata.name: it.metadata.uid for it in await world.claims(NAME)}
        for name in operation.stayers:
            claim = f"data-{name}"
            assert claims[claim] == before.claims[claim], f"{self}: {claim} was replaced"
        if before.cluster_id:
            assert found.status.cluster_id == before.cluster_id, f"{self}: another cluster"
        if operation.wanted == 0:
            assert await world.pods(NAME) == [], f"{self}: a pod that nobody wants"
            async with world.operating():
                await world.edit(NAME, replicas=1)
                await self._settle(1)
        await self._check_etcd(max(operation.wanted, 1))

    async def _check_etcd(self, size: int) -> None:
        """Ask etcd itself, since a status only tells."""
        door = self.world.door((await self.world.pods(NAME))[0])
        roster = await door.members()
        ids = _ids(roster)
        assert sorted(ids) == [f"{NAME}-{n}" for n in range(size)], f"{self}: {roster}"
        assert not [it for it in roster.members if it.learner], f"{self}: {roster}"
        for name in self.operation.stayers:
            assert ids[name] == self.before.ids[name], f"{self}: {name} has another id"
        if self.operation.first is not None:
            assert await door.count(b"key-") == KEYS, f"{self}: keys were lost"

    def __str__(self) -> str:
        calls = self.doom.calls
        last = f" ({calls[self.doom.at - 1]})" if len(calls) >= self.doom.at else ""
        where = f"dying {self.doom.side.value} call {self.doom.at}{last}"
        return f"{self.operation.name}, {where}"


def _ids(roster: Roster) -> dict[str, int]:
    return {it.name: it.id for it in roster.members}


# -------------------------------------------------------------------------- all n


@dataclass(slots=True)
class Sweep:
    """Deaths at the calls of an operation, side by side, each in a namespace of its own."""

    world: World
    operation: Operation
    #: Where to begin, and every how many-th n is tried.
    first: int = 1
    stride: int = 1
    sides: tuple[Side, ...] = (Side.AFTER,)
    tried: int = 0
    #: What a run does that nobody disturbs.
    calls: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Try n after n until a run ends without its n-th call."""
        end = self.operation.about + self.stride + 1
        await self._try(range(self.first, end, self.stride))
        for n in count(end + (self.first - end) % self.stride, self.stride):
            if self.calls:
                return
            await self._try([n])

    async def _try(self, numbers: Iterable[int]) -> None:
        dooms = [Doom(n, side) for n in numbers for side in self.sides]
        if self.first == 1 and not self.tried and Side.BEFORE not in self.sides:
            dooms.append(Doom(1, Side.BEFORE))
        rooms = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for doom in dooms:
                group.create_task(self._one(doom, rooms))

    async def _one(self, doom: Doom, rooms: asyncio.Semaphore) -> None:
        async with rooms:
            await self._die(doom)

    async def _die(self, doom: Doom) -> None:
        room = await self.world.room(f"{doom.side.value}-{doom.at}")
        reached = await Trial(room, self.operation, doom).run()
        self.tried += reached
        if not reached:
            self.calls = self.calls or doom.calls
        await room.delete(NAME)

    def __str__(self) -> str:
        tried = f"{self.operation.name}: {self.tried} deaths around {len(self.calls)} calls"
        return "\n  ".join([tried, *self.calls])
