"""What is told on one stage: one long story, or a short one for each of many seeds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from stateward.app.demo.ledger import Ledger
from stateward.app.demo.ledger_story import beside
from stateward.app.demo.performance import Performance, Step
from stateward.app.demo.play import Play
from stateward.app.demo.stage import Stage
from stateward.app.demo.story import short, whole

#: What the cluster of the long story is called.
NAME = "shop"
#: How many short stories are told at once: more would only wait for the machine.
_ABREAST = 2


@dataclass(frozen=True, slots=True)
class Session:
    """A story that is about to be told, and the cluster that it is about."""

    play: Play
    performance: Performance


@asynccontextmanager
async def the_story(stage: Stage, seed: int | None) -> AsyncGenerator[Session, None]:
    """Provide the long story, its writer at work."""
    play = Play(stage, NAME)
    async with play.writing():
        chapters = (*whole(play), *beside(Ledger(stage)))
        yield Session(play, Performance(play, stage.ports.clock, chapters, seed))


async def many(
    stage: Stage, seeds: Sequence[int], heard: Callable[[Performance, Step], None]
) -> list[Performance]:
    """Tell the short story once for each seed, with a cluster of its own, a few at once."""
    room = asyncio.Semaphore(_ABREAST)

    async def one(seed: int) -> Performance:
        async with room:
            return await _short(stage, seed, heard)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(seed)) for seed in seeds]
    return [it.result() for it in tasks]


async def _short(
    stage: Stage, seed: int, heard: Callable[[Performance, Step], None]
) -> Performance:
    play = Play(stage, f"{NAME}-{seed}")
    told = Performance(play, stage.ports.clock, short(play), seed)
    async with play.writing():
        await told.run(lambda step: heard(told, step))
    await play.delete()
    return told
