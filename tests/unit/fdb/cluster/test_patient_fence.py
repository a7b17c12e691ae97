"""What takes its time may, for as long as we lead; and is given up before anybody else can."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from stateward.core.errors import NotLeader, OutcomeUnknown
from stateward.fdb.cluster.hands.fence import PatientFence
from stateward.runtime.election import Leadership, Terms
from stateward.sim.world import World, simulate


@dataclass
class Asked:
    """A program that runs for so long."""

    seconds: float
    ended: str = ""

    async def __call__(self) -> str:
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.ended = "given up"
            raise
        self.ended = "done"
        return self.ended


def lived(story: Callable[[Leadership, World], Awaitable[None]]) -> None:
    async def scenario(world: World) -> None:
        await story(Leadership(world.clock, Terms()), world)

    simulate(scenario, seed=1)


def test_it_may_take_long_while_the_lease_is_renewed() -> None:
    async def story(leadership: Leadership, world: World) -> None:
        async def renew() -> None:
            while True:
                leadership.renewed(world.clock.monotonic())
                await asyncio.sleep(5)

        renewing = asyncio.create_task(renew())
        await asyncio.sleep(0)
        asked = Asked(100.0)
        assert await PatientFence(leadership).change(asked) == "done"
        assert leadership.may_be_let_go
        renewing.cancel()

    lived(story)


def test_it_is_given_up_when_another_might_lead() -> None:
    async def story(leadership: Leadership, world: World) -> None:
        leadership.renewed(world.clock.monotonic())
        asked, began = Asked(100.0), world.clock.monotonic()
        with pytest.raises(OutcomeUnknown, match="lease"):
            await PatientFence(leadership).change(asked)
        await asyncio.sleep(0)
        assert asked.ended == "given up"
        assert world.clock.monotonic() - began == pytest.approx(15.0)
        with pytest.raises(NotLeader):
            await PatientFence(leadership).change(asked)

    lived(story)


def test_who_is_stopped_in_the_middle_is_not_sure_what_came_of_it() -> None:
    async def story(leadership: Leadership, world: World) -> None:
        leadership.renewed(world.clock.monotonic())
        asked = Asked(100.0)
        passing = asyncio.create_task(PatientFence(leadership).change(asked))
        await asyncio.sleep(1)
        passing.cancel()
        await asyncio.sleep(0.1)
        assert asked.ended == "given up"
        assert not leadership.may_be_let_go

    lived(story)
