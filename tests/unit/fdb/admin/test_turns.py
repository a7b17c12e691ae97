"""Clusters take turns, and nobody who gives up takes a turn with it."""

from __future__ import annotations

import asyncio

import pytest

from stateward.fdb.admin.turns import Turns


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Stage:
    """Calls of clusters, by name; each goes on until it is let go."""

    def __init__(self, most: int, each: int | None = None) -> None:
        self.turns = Turns(most, each)
        self.running: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    def ask(self, *names: str) -> None:
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._play(name))

    async def _play(self, name: str) -> None:
        async with self.turns.take(name[0]):
            self.running.append(name)
            await self._ends[name].wait()
            self.running.remove(name)

    async def end(self, name: str) -> list[str]:
        self._ends[name].set()
        await settle()
        return self.running


async def test_clusters_take_turns() -> None:
    stage = Stage(2)
    stage.ask("a1", "a2", "a3", "a4", "b1", "c1")
    await settle()
    assert stage.running == ["a1", "a2"]
    assert await stage.end("a1") == ["a2", "a3"]
    assert await stage.end("a2") == ["a3", "b1"]
    assert await stage.end("b1") == ["a3", "c1"]
    assert await stage.end("c1") == ["a3", "a4"]
    await stage.end("a3")
    await stage.end("a4")
    assert stage.turns.waiting == 0
    stage.ask("d1")
    await settle()
    assert await stage.end("d1") == []


async def test_one_cluster_never_has_all_turns_where_that_is_said() -> None:
    stage = Stage(3, each=2)
    stage.ask("a1", "a2", "a3")
    await settle()
    assert stage.running == ["a1", "a2"]
    stage.ask("b1", "b2")
    await settle()
    assert stage.running == ["a1", "a2", "b1"]
    assert await stage.end("b1") == ["a1", "a2", "b2"]
    assert await stage.end("b2") == ["a1", "a2"]
    assert await stage.end("a1") == ["a2", "a3"]
    assert stage.turns.waiting == 0
    await stage.end("a2")
    await stage.end("a3")


async def test_who_gives_up_takes_no_turn_with_it() -> None:
    stage = Stage(1)
    stage.ask("a1", "b1", "c1")
    await settle()
    stage.tasks["b1"].cancel()
    await settle()
    assert await stage.end("a1") == ["c1"]
    stage.ask("d1")
    await settle()
    stage.tasks["c1"].cancel()
    stage.tasks["d1"].cancel()
    await asyncio.gather(*stage.tasks.values(), return_exceptions=True)
    stage.running.clear()
    stage.ask("e1")
    await settle()
    assert stage.running == ["e1"]
    await stage.end("e1")


def test_nobody_may_run_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one must be allowed to run"):
        Turns(0)
