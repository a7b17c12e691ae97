"""Two operators of one database: what concerns both is done once, by one of them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_worlds import PATIENCE, World, is_reconciled, told, world
from stateward.app.fdb.available import NAMED
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.decide.operators import agreeing
from stateward.kube.codec import Json

NAMES = ("dc1", "dc2")
KNOB = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}
TOGETHER: Json = {
    "automationOptions": {
        "synchronizationMode": "global",
        "useLocalitiesForExclusion": True,
        "waitBetweenRemovalsSeconds": 0,
    }
}
TURNS: Json = {"lockOptions": {"disableLocks": False}}
OLD, NEW = "7.1.61", "7.3.63"


async def both(it: World, **spec: object) -> None:
    """Have two clusters of one database, each with an operator of its own."""
    seed = ""
    for name in NAMES:
        mine: Json = {"processGroupIDPrefix": name, "dataCenter": name} | spec
        counts = {"storage": 2, "log": 2, "stateless": 1}
        await it.create(name, processCounts=counts, seedConnectionString=seed, **mine)
        found = await it.until(name, lambda one: one.status.configured)
        seed = found.status.connection_string
    await all_reconciled(it)


async def all_of_them(
    it: World, holds: Callable[[FoundationDBCluster], bool]
) -> list[FoundationDBCluster]:
    """Wait until something is true of both at once."""
    found = [await it.until(name, holds) for name in NAMES]
    while not all(map(holds, found)):
        found = [await it.until(name, holds) for name in NAMES]
    return found


async def all_reconciled(it: World) -> list[FoundationDBCluster]:
    return await all_of_them(it, is_reconciled)


async def edit_all(it: World, **spec: object) -> None:
    for name in NAMES:
        await it.edit(name, **spec)


@asynccontextmanager
async def two_operators(plane: str, *, nodes: int = 3) -> AsyncGenerator[World, None]:
    async with (
        world(plane, nodes=nodes) as it,
        it.operating(name="one", selector="place=dc1"),
        it.operating(name="other", selector="place=dc2"),
    ):
        yield it


@pytest.mark.long  # an upgrade of both is one restart, too
async def test_a_knob_for_two_operators_is_one_restart(plane: str) -> None:
    async with two_operators(plane) as it:
        await both(it, **TOGETHER)
        killed = it.asked("kill")
        async with shopping(it, "dc1") as client:
            await edit_all(it, processes=KNOB)
            clusters = await all_reconciled(it)
            assert it.asked("kill") == killed + 1
            assert await client.recoveries() >= 1
        spoke = [one.status.synchronization for one in clusters]
        assert [one.name for one in spoke if one is not None] == [*NAMES]


@pytest.mark.long
async def test_nobody_waits_for_an_operator_that_was_killed(
    plane: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for half a minute here, not five."""
    async with world(plane) as it, it.operating(name="one", selector="place=dc1"):
        # It waits for so long that it is surely killed before it restarts anybody.
        async with it.operating(name="other", selector="place=dc2", window=PATIENCE):
            await both(it, **TOGETHER)
            killed = it.asked("kill")
            await it.edit("dc2", processes=KNOB)
            await it.until("dc2", lambda one: _waits(one, "WaitsForOperators"))
        monkeypatch.setattr(agreeing, "DEAD", 30.0)
        await it.until("dc1", lambda one: _waits(one, "OperatorSilent"))
        await it.edit("dc1", processes=KNOB)
        await it.reconciled("dc1")
        assert it.asked("kill") == killed + 1, "of dc1 alone: what it has is not touched"
        assert not is_reconciled(await it.get("dc2"))


def _waits(cluster: FoundationDBCluster, reason: str) -> bool:
    return any(it.guard == reason for it in cluster.status.blockers)


# ------------------------------------------------------------------ who goes


@dataclass(slots=True)
class Course:
    """What became of a database: who was excluded, and who coordinated, in their order."""

    excluded: list[frozenset[str]] = field(default_factory=list)
    coordinated: list[frozenset[str]] = field(default_factory=list)

    async def look(self, it: World) -> None:
        said = (await it.typed("dc1", "exclude")).split()
        named = {word.partition(":")[2] for word in said if word.startswith("locality_instance")}
        found = (await it.get("dc1")).status.connection_string
        _add(self.excluded, frozenset(named))
        _add(self.coordinated, frozenset(found.partition("@")[2].split(",")))


def _add(course: list[frozenset[str]], now: frozenset[str]) -> None:
    if not course or course[-1] != now:
        course.append(now)


@asynccontextmanager
async def followed(it: World) -> AsyncGenerator[Course, None]:
    """See what becomes of the database until the end of the block."""
    course = Course()

    async def follow() -> None:
        while True:
            await course.look(it)
            await asyncio.sleep(0.3)

    await course.look(it)
    task = asyncio.create_task(follow())
    try:
        yield course
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await course.look(it)


@pytest.mark.long
async def test_who_goes_in_two_data_centers_goes_by_one_exclusion(plane: str) -> None:
    async with two_operators(plane, nodes=5) as it:  # coordinators of both find zones elsewhere
        await both(it, **TOGETHER)
        going = {name: min(await it.ids(name, "storage")) for name in NAMES}
        async with shopping(it, "dc1"), followed(it) as course:
            for name in NAMES:
                await it.edit(name, processGroupsToRemove=[going[name]])
            await all_reconciled(it)
            for name in NAMES:
                await _gone(it, name, going[name])
        gone = frozenset(going.values())
        assert course.excluded == [frozenset(), gone, frozenset()], "both at once, and back at once"
        assert len(course.coordinated) <= 2, "those of both are changed at once"


async def _gone(it: World, name: str, group: str) -> None:
    end = time.monotonic() + PATIENCE
    while group in await it.ids(name, "storage"):
        assert time.monotonic() < end, f"{group} is there: {told(await it.get(name))}"
        await asyncio.sleep(0.3)


# ------------------------------------------------------------------ another line of releases


@pytest.mark.skipif(
    NAMED in os.environ, reason="an upgrade needs two versions, and real programs are of one"
)
async def test_two_operators_upgrade_their_database_with_one_restart(plane: str) -> None:
    """Pods that follow are no matter of both: it is left out here that they do."""
    async with two_operators(plane) as it:
        await both(it, version=OLD, automationOptions={"deletionMode": "None"}, **TURNS)
        killed = it.asked("kill")
        async with shopping(it, "dc1") as client:
            await it.edit("dc1", version=NEW)
            await it.until("dc1", lambda one: "dc2" in _message(one, "UpgradeWaits"))
            assert it.asked("kill") == killed, "nobody restarts before all are prepared"
            await it.edit("dc2", version=NEW)
            await all_of_them(it, lambda one: one.status.running_version == NEW)
            assert it.asked("kill") == killed + 1, "all of both at once"
            assert await client.recoveries() >= 1


def _message(cluster: FoundationDBCluster, guard: str) -> str:
    return " ".join(it.message for it in cluster.status.blockers if it.guard == guard)
