"""The life of a team in a bad world: made, changed, grown, shrunk, deleted and made again, while
things break.

It exercises the whole runtime (informers, queue, election, fencing, own writes) with the example
operator, and checks at every write that the operator does nothing it must not.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from stateward.core.errors import HouseError
from stateward.core.ports import Ports
from stateward.example.api import FINALIZER, TEAMS, Team
from stateward.example.operator import LEASE, assemble
from stateward.kube import conditions
from stateward.kube.client import Change, MergePatch
from stateward.kube.codec import Json, decode
from stateward.kube.errors import NotFound
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import CONFIG_MAPS, LEASES
from stateward.local.store import StoreEvent
from stateward.runtime.telling.metrics import Metrics
from stateward.sim.network import CALM, Asked, Mix
from stateward.sim.world import Line, NotInTime, Operator, Result, World, simulate

KEY = ObjectKey("play", "crew")

#: What goes wrong while the world is bad.
STORMY = Mix(call=0.06, watch_cut=0.05, watch_gone=0.03, watch_lag=2.0)

#: Seconds within which a team must be as asked once nothing goes wrong any more.
PATIENCE = 240.0

#: An act may rest on what was asked for this long ago: the time of a re-read, a paused sender and a
#: slow wire.
_MEMORY = 120.0


#: Seconds of silence that a settled team must keep: longer than two looks of the controller.
_SILENCE = 150.0

#: Seconds in which what a late call did is mended and told.
_MENDING = 5.0

#: How old the reading of the intent may be when a deletion is sent.
_FRESH = 10.0


class BadAct(HouseError):
    """The operator did something that it must never do."""

    reason = "BadAct"


class Watchman:
    """Checks every change of the store against what may happen."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: dict[str, deque[tuple[float, int]]] = {}
        self._read_intent: dict[str, float] = {}
        self._asked_for: dict[ObjectKey, str] = {}  # who sent the last create for it
        self._made: dict[str, str] = {}  # by UID: who made it
        self._came: dict[str, float] = {}  # by UID of a member: since when it is there
        self._let_go: dict[str, float] = {}  # by UID of a team: when somebody last let it go
        self.violations: list[str] = []
        world.api.store.listen(self._look)
        world.weather.listeners.append(self._overhear)

    def _overhear(self, process: str, call: Asked) -> None:
        if isinstance(call, Call):
            self._judge_call(process, call)

    def _judge_call(self, process: str, call: Call) -> None:
        """Whoever deletes has just read past its cache what is asked for, and names the UID it
        means.
        """
        now = self._world.loop.time()
        if call.verb == "get" and call.resource is TEAMS:
            self._read_intent[process] = now
        elif call.verb == "delete":
            if now - self._read_intent.get(process, -math.inf) > _FRESH:
                self._blame(f"{process} sent {call} without reading the intent first")
            if not call.uid:
                self._blame(f"{process} sent {call} without a UID")
        elif call.verb == "create" and call.resource is CONFIG_MAPS:
            self._judge_request(process, call)
        elif call.resource is TEAMS and isinstance(call.body, MergePatch):
            metadata = call.body.body["metadata"]
            if "finalizers" in metadata and FINALIZER not in metadata["finalizers"]:
                self._let_go[metadata["uid"]] = now

    def _judge_request(self, process: str, call: Call) -> None:
        """Nobody makes a second time what it made itself: it waits until its cache shows it."""
        there = self._world.api.store.get(CONFIG_MAPS.name, call.key)
        if there is not None and self._made.get(there.uid) == process:
            self._blame(f"{process} makes {call.key} a second time")
        self._asked_for[call.key] = process

    def _look(self, event: StoreEvent) -> None:
        if event.resource == TEAMS.name:
            self._note_intent(event)
        elif event.resource == CONFIG_MAPS.name and event.change is Change.DELETED:
            self._judge_removal(event)
        elif event.resource == CONFIG_MAPS.name and event.change is Change.ADDED:
            self._judge_addition(event)

    def _note_intent(self, event: StoreEvent) -> None:
        team = decode(event.now.text, Team)
        if event.change is Change.DELETED and self._was_there(team.metadata.uid):
            self._blame("the team went before its members")
        gone = team.metadata.deleting or event.change is Change.DELETED
        sizes = self._asked.setdefault(team.metadata.uid, deque())
        sizes.append((self._world.loop.time(), 0 if gone else team.spec.size))

    def _was_there(self, team: str) -> bool:
        """Tell whether a team has members that were there when it was let go.

        What arrives later, sent by one who slept through its lease meanwhile, nobody could know.
        """
        let_go = self._let_go.get(team, math.inf)
        members = [it for it in self._world.api.store.all(CONFIG_MAPS.name) if team in it.owners]
        return any(self._came[it.uid] < let_go for it in members)

    def _judge_removal(self, event: StoreEvent) -> None:
        """A member may go only if its ordinal was too high, or its team was to go, a moment ago."""
        ordinal = int(event.now.key.name.rpartition("-")[2])
        owner = event.now.owners[0]
        if ordinal < self._smallest_size_lately(owner):
            self._blame(f"{event.now.key} was removed though its team wants it")

    def _judge_addition(self, event: StoreEvent) -> None:
        owner = event.now.owners[0]
        self._made[event.now.uid] = self._asked_for.get(event.now.key, "")
        self._came[event.now.uid] = self._world.loop.time()
        if owner not in self._asked:
            self._blame(f"{event.now.key} was made for a team that never was")

    def _smallest_size_lately(self, uid: str) -> int:
        sizes = self._asked[uid]
        since = self._world.loop.time() - _MEMORY
        while len(sizes) > 1 and sizes[1][0] < since:
            sizes.popleft()
        return min(size for _, size in sizes)

    def _blame(self, sentence: str) -> None:
        self._world.trace.note(f"VIOLATION: {sentence}")
        self.violations.append(sentence)

    def check(self) -> None:
        """Raise BadAct if anything happened that must not."""
        if self.violations:
            raise BadAct("; ".join(self.violations))


async def life_of_a_team(world: World) -> None:
    """Create, change, grow, shrink, delete and recreate a team while the world is stormy.

    Then demand order.
    """
    watchman = Watchman(world)
    for number in range(2):
        world.run_operator(f"op{number}", _operator, skew=world.chance.between(-30, 30))
    world.weather.mix = STORMY
    await world.client.create(TEAMS, team(size=3, motto="hold fast"))
    for edit in _edits(world):
        await asyncio.sleep(world.chance.between(3, 25))
        await edit()
    await asyncio.sleep(world.chance.between(3, 25))
    world.weather.mix = CALM
    if _is_leaving(world):
        await world.until("the name is free", lambda: not _exists(world), within=PATIENCE)
    if not _exists(world):
        await world.client.create(TEAMS, team(size=3, motto="once more"))
    await world.until("the team is as asked", lambda: is_as_asked(world), within=PATIENCE)
    await world.until(
        "late calls have arrived", lambda: not world.weather.troubled, within=PATIENCE
    )
    # What the last of them did is being mended, and told, for a moment after all looks well.
    await asyncio.sleep(_MENDING)
    await world.until("the team is still as asked", lambda: is_as_asked(world), within=PATIENCE)
    await _demand_silence(world)
    await _delete(world)
    await world.until("nothing is left", lambda: _members(world) == [], within=PATIENCE)
    watchman.check()


def simulate_team(seed: int) -> Result:
    """Run one life; the same seed gives the same digest in every process."""
    return simulate(life_of_a_team, seed=seed, custom=(TEAMS,))


def team(*, size: int, motto: str) -> Json:
    """Return the manifest of the team."""
    metadata = {"namespace": KEY.namespace, "name": KEY.name}
    return {"metadata": metadata, "spec": {"size": size, "motto": motto}}


def is_as_asked(world: World) -> bool:
    """Tell whether the team has exactly its members, all in step, and its status says so."""
    try:
        now = decode(world.api.get(TEAMS, KEY).text, Team)
    except NotFound:
        return False
    members = _members(world)
    return (
        [m.metadata.name for m in members] == [f"{KEY.name}-{n}" for n in range(now.spec.size)]
        and all(m.data.get("motto") == now.spec.motto for m in members)
        and all(o.uid == now.metadata.uid for m in members for o in m.metadata.owner_references)
        and FINALIZER in now.metadata.finalizers
        and conditions.is_true(now.status.conditions, "Ready")
        and now.status.observed_generation == now.metadata.generation
        and now.status.members == now.status.up_to_date == now.spec.size
    )


def _operator(line: Line, ports: Ports, identity: str) -> Operator:
    return assemble(line.client, ports, identity, Metrics(ports.clock))


def _members(world: World) -> list[ConfigMap]:
    return [decode(stored.text, ConfigMap) for stored in world.api.store.all(CONFIG_MAPS.name)]


async def _edit(world: World, spec: Json) -> None:
    world.trace.note(f"user: {spec}")
    with suppress(NotFound):
        await world.client.patch(TEAMS, KEY, MergePatch({"spec": spec}))


async def _delete(world: World) -> None:
    world.trace.note("user: delete")
    with suppress(NotFound):
        found = await world.client.get(TEAMS, KEY)
        await world.client.delete(TEAMS, KEY, uid=found.metadata.uid)


async def _make_again(world: World) -> None:
    """Delete the team and, as soon as its name is free, make another of that name."""
    await _delete(world)
    with suppress(
        NotInTime
    ):  # a storm may hold the end up for long; then the old one stays deleted
        await world.until("the name is free", lambda: not _exists(world), within=PATIENCE)
    if not _exists(world):
        world.trace.note("user: create again")
        await world.client.create(TEAMS, team(size=2, motto="again"))


async def _kill_the_leader(world: World) -> None:
    lease = world.api.store.get(LEASES.name, LEASE)
    holder = decode(lease.text, Lease).spec.holder_identity if lease else None
    for process in world.processes:
        if process.name == holder:
            world.trace.note(f"user: kill {process.name}")
            process.crash()


async def _forget_history(world: World) -> None:
    world.trace.note("kubernetes: forgets its history")
    world.api.store.compact()


async def _demand_silence(world: World) -> None:
    """A settled team is left alone: nobody writes anything but leases."""
    writes: list[str] = []
    end = world.api.store.listen(
        lambda e: None if e.resource == LEASES.name else writes.append(f"{e.resource} {e.now.key}")
    )
    await asyncio.sleep(_SILENCE)
    end()
    if writes:
        raise BadAct(f"a settled team was written to: {', '.join(writes)}")


def _edits(world: World) -> list[Callable[[], Awaitable[None]]]:
    """Return what happens in this life: everything at least once, in an order of chance."""
    edits: list[Callable[[], Awaitable[None]]] = [
        lambda: _edit(world, {"size": 5}),
        lambda: _edit(world, {"size": 1}),
        lambda: _edit(world, {"motto": "onward"}),
        lambda: _edit(world, {"size": world.chance.below(6)}),
        lambda: _kill_the_leader(world),
        lambda: _forget_history(world),
        lambda: _make_again(world),
    ]
    order = []
    while edits:
        order.append(edits.pop(world.chance.below(len(edits))))
    return order


def _exists(world: World) -> bool:
    return world.api.store.get(TEAMS.name, KEY) is not None


def _is_leaving(world: World) -> bool:
    stored = world.api.store.get(TEAMS.name, KEY)
    return stored is not None and decode(stored.text, Team).metadata.deleting
