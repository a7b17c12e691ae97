"""A small client that never stops writing, and knows what it was promised.

It counts what etcd acknowledged and what failed, and how long nothing went through. At the end
every acknowledged value is read back: one that is not there was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.etcd.members.port import MemberApi

#: Seconds between two writes that go through.
_PACE = 0.02
#: How many values are read back at once.
_ABREAST = 16


@dataclass(slots=True)
class Writer:
    """Writes one key after another, wherever a member takes it."""

    #: Who can be asked now; it is asked again for every write.
    doors: Callable[[], Sequence[MemberApi]]
    clock: Clock
    prefix: str = "stateward-writer/"
    acknowledged: int = 0
    failed: int = 0
    #: The longest time in which nothing was acknowledged, in seconds.
    longest_gap: float = 0.0
    _last: float | None = None
    _kept: list[int] = field(default_factory=list)
    _number: int = 0

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            self._number += 1
            if await self._put(self._number):
                self._note(self._number)
                await self.clock.sleep(_PACE)
            else:
                self.failed += 1
                await self.clock.sleep(_PACE)

    def gap_so_far(self) -> float:
        """Return the longest time without an acknowledgement, the present one included."""
        if self._last is None:
            return 0.0
        return max(self.longest_gap, self.clock.monotonic() - self._last)

    def forget_gap(self) -> None:
        """Begin to measure anew: what is to come is to be measured alone."""
        self.longest_gap = 0.0
        if self._last is not None:
            self._last = self.clock.monotonic()

    async def lost(self) -> list[int]:
        """Read back everything that was acknowledged; return the numbers that are not there."""
        missing: list[int] = []
        for start in range(0, len(self._kept), _ABREAST):
            numbers = self._kept[start : start + _ABREAST]
            found = await asyncio.gather(*(self._get(it) for it in numbers))
            missing += [it for it, value in zip(numbers, found, strict=True) if not value]
        return missing

    async def _put(self, number: int) -> bool:
        """Tell whether a member acknowledged the value; the first who does ends the search."""
        for door in self.doors():
            with suppress(PeerError):
                await door.put(self._key(number), str(number).encode())
                return True
        return False

    async def _get(self, number: int) -> bool:
        for door in self.doors():
            with suppress(PeerError):
                return await door.get(self._key(number)) == str(number).encode()
        raise PeerError(f"a member must answer for {self._key(number).decode()} to be read back")

    def _note(self, number: int) -> None:
        now = self.clock.monotonic()
        if self._last is not None:
            self.longest_gap = max(self.longest_gap, now - self._last)
        self._last = now
        self.acknowledged += 1
        self._kept.append(number)

    def _key(self, number: int) -> bytes:
        return f"{self.prefix}{number:09}".encode()
