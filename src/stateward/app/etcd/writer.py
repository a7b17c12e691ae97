"""A small client that never stops writing, and knows what it was promised.

It counts what etcd acknowledged and what failed, and how long nothing went through. At the end
every acknowledged value is read back: one that is not there was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.etcd.members.port import MemberApi

#: Seconds between two writes that go through, and after one that does not.
_PACE = 0.02
_BREATH = 0.1
#: How many values are read back at once, and how often each is asked for until somebody answers.
_ABREAST = 48
_TRIES = 200


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
    #: The same since the last call of ``begin_lap``.
    lap_gap: float = 0.0
    #: True while it is known that nobody can be there, and nothing is written.
    resting: bool = False
    _last: float | None = None
    _kept: list[int] = field(default_factory=list)
    _number: int = 0
    #: Which of the doors took the last write: the search begins there.
    _favourite: int = 0

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            if self.resting:
                await self.clock.sleep(_BREATH)
                continue
            self._number += 1
            if await self._put(self._number):
                self._note(self._number)
                await self.clock.sleep(_PACE)
            else:
                # What was never there or sleeps has not failed: as with gaps, one must have begun.
                self.failed += self._last is not None
                await self.clock.sleep(_BREATH)

    def rest(self) -> None:
        """Write nothing until told to go on, and count none of that time as a gap."""
        self._close_gap()
        self._last = None
        self.resting = True

    def go_on(self) -> None:
        """Write again; gaps and failures count from the first acknowledgement on."""
        self._last = None
        self.resting = False

    def gap_so_far(self) -> float:
        """Return the longest time without an acknowledgement, the present one included."""
        if self._last is None:
            return self.longest_gap
        return max(self.longest_gap, self.clock.monotonic() - self._last)

    def begin_lap(self) -> None:
        """Measure gaps for the next part of a story as well; one that is open belongs to it."""
        self.lap_gap = 0.0

    def lap_gap_so_far(self) -> float:
        """Return the longest time without an acknowledgement in this lap, the present one too."""
        if self._last is None:
            return self.lap_gap
        return max(self.lap_gap, self.clock.monotonic() - self._last)

    async def missing(self) -> int:
        """Return how many values are missing at least, by one question; no proof that none is."""
        promised = self.acknowledged
        for door in self._in_turn():
            with suppress(PeerError):
                return max(0, promised - await door.count(self.prefix.encode()))
        return 0

    async def lost(self) -> list[int]:
        """Read back everything that was acknowledged; return the numbers that are not there.

        Raise PeerError when no member answers for so long that nothing can be said.
        """
        missing: list[int] = []
        kept = tuple(self._kept)
        for start in range(0, len(kept), _ABREAST):
            numbers = kept[start : start + _ABREAST]
            found = await asyncio.gather(*(self._is_kept(it) for it in numbers))
            missing += [it for it, there in zip(numbers, found, strict=True) if not there]
        return missing

    async def _put(self, number: int) -> bool:
        """Tell whether a member acknowledged the value; the first who does ends the search."""
        for door in self._in_turn():
            with suppress(PeerError):
                await door.put(self._key(number), str(number).encode())
                return True
        return False

    async def _is_kept(self, number: int) -> bool:
        for _ in range(_TRIES):
            for door in self._in_turn():
                with suppress(PeerError):
                    return await door.get(self._key(number)) == str(number).encode()
            await self.clock.sleep(_BREATH)
        raise PeerError(f"a member must answer for {self._key(number).decode()} to be read back")

    def _in_turn(self) -> Iterator[MemberApi]:
        """Yield the doors, the one that opened last first: who cannot answer costs time."""
        doors, first = tuple(self.doors()), self._favourite
        for number in range(len(doors)):
            self._favourite = (first + number) % len(doors)
            yield doors[self._favourite]

    def _note(self, number: int) -> None:
        self._close_gap()
        # The answer to a write that was on its way when the rest began opens no gap.
        self._last = None if self.resting else self.clock.monotonic()
        self.acknowledged += 1
        self._kept.append(number)

    def _close_gap(self) -> None:
        self.longest_gap, self.lap_gap = self.gap_so_far(), self.lap_gap_so_far()

    def _key(self, number: int) -> bytes:
        return f"{self.prefix}{number:09}".encode()
