"""Notices that the same is done again and again, and makes it wait.

Somebody may undo what we write each time, as a webhook does. Then nothing is gained by haste.
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
    """What was done last, how often in a row, and when."""

    words: str
    times: int
    at: float


class Repeats:
    """What was last done about each cluster."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: OrderedDict[str, _Last] = OrderedDict()

    def wait(self, uid: str, move: moves.Act) -> float:
        """Return the seconds until a move may be made (again); 0: now."""
        last = self._last.get(uid)
        if last is None or last.words != _words(move) or last.times < _FREE:
            return 0.0
        pause = min(_FIRST * 2.0 ** min(last.times - _FREE, 10), _MOST)
        return max(0.0, last.at + pause - self._clock.monotonic())

    def made(self, uid: str, move: moves.Act) -> None:
        """Note that a move was made."""
        last, words = self._last.pop(uid, None), _words(move)
        times = last.times + 1 if last is not None and last.words == words else 1
        self._last[uid] = _Last(words, times, self._clock.monotonic())
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
