"""At most so many programs at once, and clusters take turns: no sick one keeps others waiting.

A call to a database that does not answer takes its whole deadline. Were turns taken in the order in
which they were asked for, one cluster with many such calls would be all that is ever asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Turns:
    """Who may run now, and who comes next."""

    def __init__(self, most: int, each: int | None = None) -> None:
        if most < 1:
            raise ValueError(f"at least one must be allowed to run, got {most}")
        self._free = most
        #: How many of one cluster run at once, and how many do.
        self._each = most if each is None else each
        self._running: Counter[str] = Counter()
        #: By cluster, the one that had its turn last at the end.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def take(self, whose: str) -> AsyncGenerator[None, None]:
        """Wait for a turn of a cluster, have it, and give it on."""
        await self._come(whose)
        try:
            yield
        finally:
            self._end(whose)

    async def _come(self, whose: str) -> None:
        if self._free and self._running[whose] < self._each:
            self._begin(whose)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._end(whose)  # it was given to one who had gone already
            raise
        finally:
            self._forget(whose, turn)

    def _begin(self, whose: str) -> None:
        self._free -= 1
        self._running[whose] += 1

    def _end(self, whose: str) -> None:
        self._free += 1
        self._running[whose] -= 1
        if not self._running[whose]:
            del self._running[whose]
        for it in list(self._waiting):
            if self._free and self._running[it] < self._each:
                self._give(it)

    def _give(self, whose: str) -> None:
        """Give a cluster a turn, if it still waits for one."""
        turns = self._waiting.pop(whose)
        self._waiting[whose] = turns  # its next turn comes after everybody else's
        for turn in turns:
            if not turn.done():
                self._begin(whose)
                turn.set_result(None)
                return

    def _forget(self, whose: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting[whose]
        turns.remove(turn)
        if not turns:
            del self._waiting[whose]
