"""Notices that the same is done again and again, and makes it wait.

Somebody may undo what we write each time, as a webhook does. Then nothing is gained by haste. Two
moves may take turns in that: one deletes, and the other makes anew.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from stateward.core.clock import Clock
from stateward.etcd.decide import moves

#: Times that the same may be done at once.
_FREE = 3
#: Seconds to wait after that, at first and at most.
_FIRST, _MOST = 1.0, 30.0
#: Seconds after which what was done has helped, if nothing had to be done meanwhile.
_HELPED = 60.0
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Last:
    """The one or two things that were done last, how often in a row, and when."""

    words: tuple[str, ...]
    times: int
    at: float

    @property
    def rounds(self) -> int:
        """Return how often each of them was done."""
        return self.times // len(self.words)


class Repeats:
    """What was last done about each cluster."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: OrderedDict[str, _Last] = OrderedDict()

    def wait(self, uid: str, move: moves.Act) -> float:
        """Return the seconds until a move may be made (again); 0: now."""
        last = self._last.get(uid)
        if last is None or _words(move) not in last.words or last.rounds < _FREE:
            return 0.0
        pause = min(_FIRST * 2.0 ** min(last.rounds - _FREE, 10), _MOST)
        return max(0.0, last.at + pause - self._clock.monotonic())

    def made(self, uid: str, move: moves.Act) -> None:
        """Note that a move was made."""
        last, words, now = self._last.pop(uid, None), _words(move), self._clock.monotonic()
        if last is None:
            self._last[uid] = _Last((words,), 1, now)
        elif words in last.words:
            self._last[uid] = _Last(last.words, last.times + 1, now)
        else:
            # The one before may take turns with this one.
            self._last[uid] = _Last((last.words[-1], words), 2, now)
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)

    def rested(self, uid: str) -> None:
        """Note that nothing had to be done: if that lasts, what was done helped.

        Not at once: an alarm that was disarmed comes back only with the next write of a client.
        """
        last = self._last.get(uid)
        if last is not None and self._clock.monotonic() - last.at >= _HELPED:
            del self._last[uid]


def _words(move: moves.Act) -> str:
    """Return what tells moves apart; what they were judged by is another in each look."""
    return f"{move.name}: {move.message}"
