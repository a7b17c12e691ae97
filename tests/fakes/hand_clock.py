"""A clock that stands still until a test moves it: nothing waits or reads the real time."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

#: 2023-11-14T22:13:20Z: easy to recognise in expected output.
START = 1_700_000_000.0


@dataclass(order=True, slots=True)
class HandTimer:
    """One call to come; calling it off leaves it in the heap, where it does nothing."""

    due: float
    order: int
    callback: Callable[[], None] | None = field(compare=False)

    def cancel(self) -> None:
        """Call it off."""
        self.callback = None


class HandClock:
    """Time moves by :meth:`advance` alone; timers that come due on the way are called in order."""

    def __init__(self, now: float = START) -> None:
        self._now = now
        self._elapsed = 0.0
        self._order = count()
        self._timers: list[HandTimer] = []

    def now(self) -> float:
        """Seconds since the epoch, as the test wants them."""
        return self._now

    def monotonic(self) -> float:
        """Seconds by which the test has moved the clock so far."""
        return self._elapsed

    def call_later(self, delay: float, callback: Callable[[], None]) -> HandTimer:
        """Call back when the test has moved the clock this far."""
        timer = HandTimer(self._elapsed + max(delay, 0.0), next(self._order), callback)
        heapq.heappush(self._timers, timer)
        return timer

    async def sleep(self, delay: float) -> None:
        """Return when the test has moved the clock this far."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_later(delay, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            timer.cancel()

    def advance(self, seconds: float) -> None:
        """Move the clock, calling what comes due on the way."""
        target = self._elapsed + seconds
        while self._timers and self._timers[0].due <= target:
            timer = heapq.heappop(self._timers)
            self._move_to(max(timer.due, self._elapsed))
            if (callback := timer.callback) is not None:
                timer.callback = None
                callback()
        self._move_to(target)

    def jump(self, seconds: float) -> None:
        """Set the wall clock forwards or back, as NTP does; measured time is not touched."""
        self._now += seconds

    def _move_to(self, elapsed: float) -> None:
        self._now += elapsed - self._elapsed
        self._elapsed = elapsed
