"""The small client that never stops writing: what it counts, and what it calls lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from stateward.app.etcd.writer import Writer
from stateward.core.clock import SystemClock
from stateward.core.errors import PeerError, PeerUnreachable

pytestmark = pytest.mark.virtual


@dataclass(slots=True)
class Door:
    """A member of which only the keys are asked; several can share what they keep."""

    kept: dict[bytes, bytes] = field(default_factory=dict)
    open: bool = True
    asked: int = 0

    async def put(self, key: bytes, value: bytes) -> int:
        self._ask()
        self.kept[key] = value
        return len(self.kept)

    async def get(self, key: bytes) -> bytes | None:
        self._ask()
        return self.kept.get(key)

    async def count(self, prefix: bytes) -> int:
        self._ask()
        return sum(it.startswith(prefix) for it in self.kept)

    def _ask(self) -> None:
        self.asked += 1
        if not self.open:
            raise PeerUnreachable("it does not listen")


@asynccontextmanager
async def writing(*doors: Door) -> AsyncGenerator[Writer, None]:
    """Write through these doors for the length of a block."""
    members: Any = doors
    it = Writer(lambda: members, SystemClock())
    task = asyncio.create_task(it.run())
    try:
        yield it
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_it_writes_and_everything_is_there() -> None:
    door = Door()
    async with writing(door) as it:
        await asyncio.sleep(2)

    assert it.acknowledged == len(door.kept) > 50
    assert (it.failed, await it.missing(), await it.lost()) == (0, 0, [])


async def test_what_was_acknowledged_and_is_gone_is_lost() -> None:
    door = Door()
    async with writing(door) as it:
        await asyncio.sleep(1)
    del door.kept[b"stateward-writer/000000003"]
    door.kept[b"stateward-writer/000000005"] = b"something else"

    assert (await it.missing(), await it.lost()) == (1, [3, 5])


async def test_one_door_that_opens_is_enough_and_is_asked_first_from_then_on() -> None:
    shut, door = Door(open=False), Door()
    async with writing(shut, door) as it:
        await asyncio.sleep(2)

    assert it.failed == 0
    assert (shut.asked, door.asked) == (1, it.acknowledged)


async def test_a_time_in_which_nobody_answers_is_a_gap_with_failures() -> None:
    door = Door()
    async with writing(door) as it:
        await asyncio.sleep(1)
        door.open = False
        await asyncio.sleep(3)
        assert it.gap_so_far() == pytest.approx(3, abs=0.1)
        door.open = True
        await asyncio.sleep(1)

    assert it.longest_gap == pytest.approx(3, abs=0.2)
    assert it.failed == pytest.approx(30, abs=2)


async def test_a_lap_has_gaps_of_its_own_and_one_that_is_open_belongs_to_the_next() -> None:
    door = Door()
    async with writing(door) as it:
        await asyncio.sleep(1)
        door.open = False
        await asyncio.sleep(1)
        it.begin_lap()
        await asyncio.sleep(1)
        door.open = True
        await asyncio.sleep(1)
        assert it.lap_gap_so_far() == pytest.approx(2, abs=0.2)
        it.begin_lap()
        await asyncio.sleep(1)

    assert it.lap_gap < 0.1
    assert it.longest_gap == pytest.approx(2, abs=0.2)


async def test_before_the_first_acknowledgement_and_at_rest_nothing_fails() -> None:
    door = Door(open=False)
    async with writing(door) as it:
        await asyncio.sleep(5)
        assert (it.failed, it.gap_so_far()) == (0, 0.0)
        door.open = True
        await asyncio.sleep(1)
        it.rest()
        door.open = False
        asked = door.asked
        await asyncio.sleep(20)
        assert door.asked - asked <= 1
        it.go_on()
        await asyncio.sleep(2)
        door.open = True
        await asyncio.sleep(1)

    assert (it.failed, await it.lost()) == (0, [])
    assert it.gap_so_far() < 0.2


async def test_where_nobody_answers_nothing_is_said_about_losses() -> None:
    door = Door()
    async with writing(door) as it:
        await asyncio.sleep(1)
    door.open = False

    with pytest.raises(PeerError, match="a member must answer"):
        await it.lost()
