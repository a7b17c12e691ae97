"""The work queue: which keys want a pass, and when.

What it promises:

- a key that is added many times before its pass gets one pass;
- a key has at most one pass at a time; added during its pass, it gets one more afterwards;
- passes of one key begin at least a pace apart, so that a burst of events is one more pass and not
  one for each; what was asked for with a delay comes when it was asked for;
- first come, first served: a busy key goes to the end of the line, so it cannot starve the others;
- a delayed key comes back by itself, at the soonest moment anybody asked for; a pass makes delays
  obsolete;
- failures of one key delay that key alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from itertools import takewhile
from typing import Generic, Protocol, TypeVar

from stateward.core.clock import Timer
from stateward.core.errors import HouseError
from stateward.core.ports import Ports
from stateward.runtime.backoff import Backoff

K = TypeVar("K", bound=Hashable)


class QueueClosed(HouseError):
    """The queue was closed: there will be no more work."""

    reason = "QueueClosed"


class QueueMeter(Protocol):
    """What a queue tells about itself."""

    def added(self) -> None:
        """A key got in line."""

    def depth(self, keys: int) -> None:
        """So many keys are in line now."""

    def started(self, waited: float) -> None:
        """A key was taken after waiting so long."""

    def finished(self, worked: float) -> None:
        """A pass took so long."""

    def retried(self) -> None:
        """A key failed and will come back."""


class WorkQueue(Generic[K]):
    """Keys in line, keys in work, keys that come back later."""

    def __init__(
        self,
        ports: Ports,
        meter: QueueMeter,
        backoff: Backoff | None = None,
        *,
        pace: float = 0.0,
    ) -> None:
        self._clock = ports.clock
        self._chance = ports.chance
        self._meter = meter
        self._backoff = backoff or Backoff()
        self._pace = pace
        self._line: deque[K] = deque()
        self._in_line: dict[K, float] = {}  # since when
        self._in_work: dict[K, float] = {}  # since when
        self._again: set[K] = set()  # added while in work; membership only, never iterated
        self._rests: dict[K, float] = {}  # until when, those whose rest ends first come first
        self._later: dict[K, tuple[float, Timer]] = {}
        self._failures: dict[K, int] = {}
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._closed = False

    def __len__(self) -> int:
        return len(self._line)

    @property
    def in_work(self) -> int:
        """How many keys have a pass now."""
        return len(self._in_work)

    def add(self, key: K) -> None:
        """Put a key in line, unless it is there already, or as soon as its pace allows."""
        if key in self._in_work:
            self._again.add(key)
        else:
            rest = self._rests.get(key, 0.0) - self._clock.monotonic()
            self.add_after(key, rest)

    def add_after(self, key: K, delay: float) -> None:
        """Put a key in line after a delay, or sooner if somebody asked for sooner."""
        if self._closed:
            return
        if delay <= 0:
            self._line_up(key)
            return
        due = self._clock.monotonic() + delay
        if key in self._later:
            if self._later[key][0] <= due:
                return
            self._later[key][1].cancel()
        self._later[key] = (due, self._clock.call_later(delay, lambda: self._due(key)))

    def add_failed(self, key: K, *, at_least: float = 0.0) -> float:
        """Put a key in line after a delay that grows with its failures; return the delay."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = max(at_least, self._backoff.delay(failures, self._chance))
        self._meter.retried()
        self.add_after(key, delay)
        return delay

    def failures(self, key: K) -> int:
        """Return how often the key failed since its last success."""
        return self._failures.get(key, 0)

    def forget_failures(self, key: K) -> None:
        """Let the next failure of a key be its first."""
        self._failures.pop(key, None)

    async def take(self) -> K:
        """Return the next key and start its pass; raise QueueClosed when there will be none."""
        while not self._line:
            if self._closed:
                raise QueueClosed("the queue is closed")
            await self._wait()
        key = self._line.popleft()
        now = self._clock.monotonic()
        self._meter.started(now - self._in_line.pop(key))
        self._meter.depth(len(self._line))
        self._in_work[key] = now
        self._call_off(key)
        self._let_rest(key, now)
        return key

    def done(self, key: K) -> None:
        """End the pass of a key; it goes to the end of the line if it was added meanwhile."""
        self._meter.finished(self._clock.monotonic() - self._in_work.pop(key))
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def close(self) -> None:
        """Take no more keys, forget delays, and let everybody who waits know."""
        self._closed = True
        for key in tuple(self._later):
            self._call_off(key)
        self._line.clear()
        self._in_line.clear()
        self._meter.depth(0)
        while self._waiters:
            self._wake_one()

    def _line_up(self, key: K) -> None:
        if key in self._in_line:
            return
        if key in self._in_work:
            self._again.add(key)
            return
        self._in_line[key] = self._clock.monotonic()
        self._line.append(key)
        self._meter.added()
        self._meter.depth(len(self._line))
        self._wake_one()

    def _let_rest(self, key: K, now: float) -> None:
        """Note until when a key that begins a pass is not woken again; forget who has rested."""
        for rested in takewhile(lambda it: self._rests[it] <= now, tuple(self._rests)):
            del self._rests[rested]
        self._rests.pop(key, None)
        self._rests[key] = now + self._pace

    async def _wait(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            elif not waiter.cancelled():
                self._wake_one()  # we were chosen and cannot come: pass it on
            raise

    def _wake_one(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _due(self, key: K) -> None:
        del self._later[key]
        self._line_up(key)

    def _call_off(self, key: K) -> None:
        if key in self._later:
            self._later.pop(key)[1].cancel()
