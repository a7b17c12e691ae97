"""The demonstration comes true, and says so when it does not. In virtual time, so nobody waits."""

from __future__ import annotations

import asyncio

import pytest

from stateward.app import demo
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.sim.loop import SimClock


def ports() -> Ports:
    return Ports(SimClock(asyncio.get_running_loop()), Chance(1))


@pytest.mark.virtual
async def test_every_chapter_comes_true():
    async with demo.stage(ports()) as stage:
        for chapter in demo.story(stage):
            await chapter.act()
            await stage.until(chapter)

        assert stage.picture().team is None
        assert stage.picture().leader == "operator-b", "the first leader lost its cable"


@pytest.mark.virtual
async def test_a_chapter_that_does_not_come_true_is_said():
    async def nothing() -> None: ...

    async with demo.stage(ports()) as stage:
        with pytest.raises(demo.DemoFailed, match="a miracle: not true after"):
            await stage.until(demo.Chapter("a miracle", nothing, lambda _picture: False))
