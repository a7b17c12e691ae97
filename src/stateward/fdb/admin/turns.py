"""At most so many programs at once, and clusters take turns: no sick one keeps others waiting.

A call to a database that does not answer takes its whole deadline. Were turns taken in the order in
which they were asked for, one cluster with many such calls would be all that is ever asked.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Turns:
    """Who may run now, and who comes next."""

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"at least one must be allowed to run, got {most}")
        self._free = most
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
            self._go()

    async def _come(self, whose: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._go()  # it was given to one who had gone already
            raise
        finally:
            self._forget(whose, turn)

    def _go(self) -> None:
        for whose in list(self._waiting):
            turns = self._waiting.pop(whose)
            self._waiting[whose] = turns  # its next turn comes after everybody else's
            for turn in turns:
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1

    def _forget(self, whose: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting[whose]
        turns.remove(turn)
        if not turns:
            del self._waiting[whose]
