"""The clock as a port: the only way to learn the time or to wait for it.

Production uses :class:`SystemClock`. The simulation hands out clocks that show virtual time, with a
skew of their own if the scenario wants one, so everything that takes a ``Clock`` runs unchanged in
both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """Something that will happen later and can still be called off."""

    def cancel(self) -> None:
        """Call it off; harmless when it has already happened."""


class Clock(Protocol):
    """What time it is, for people and for measuring, and how to wait."""

    def now(self) -> float:
        """Seconds since the epoch: for people and for other machines. May jump."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment: for measuring. Never jumps back."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call back once, after ``delay`` seconds."""

    async def sleep(self, delay: float) -> None:
        """Return after ``delay`` seconds."""


class SystemClock:
    """The machine's clock. Waiting goes through the running event loop."""

    def now(self) -> float:
        """Seconds since the epoch, as this machine believes."""
        return time.time()

    def monotonic(self) -> float:
        """The event loop's time, so that measuring and timers agree."""
        return asyncio.get_running_loop().time()

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call back on the event loop after ``delay`` seconds."""
        return asyncio.get_running_loop().call_later(delay, callback)

    async def sleep(self, delay: float) -> None:
        """Let other tasks run for ``delay`` seconds."""
        await asyncio.sleep(delay)
