"""K9: how often an operator writes, also while it has much to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from stateward.kube.meta import ObjectKey
from stateward.sim.laws.watchman import Sent, Watchman

#: Writes for one object in one minute; a life that grows or rolls needs about a third of it.
MOST: Final = 300
_MINUTE: Final = 60.0
#: Calls of which the time is remembered.
_REMEMBERED: Final = 1000


class Rates:
    """K9: one operator's writes for one object stay below a rate; who repeats itself is above it.

    Two that both lead for a while are two.
    """

    law = "K9"

    def __init__(self, watchman: Watchman) -> None:
        self._book = watchman.book
        self._times: dict[tuple[str, ObjectKey | None], deque[float]] = {}
        #: When an operator last wrote anything but a lease, and what.
        self.last_write: tuple[float, str, str] = (0.0, "", "")
        #: When anything was asked, by whom and about what.
        self._asked: dict[tuple[str, ObjectKey | None], deque[float]] = {}
        self._loop = watchman.world.loop
        self.follow(watchman)

    def follow(self, watchman: Watchman) -> None:
        """Count what operators write beside as well."""
        watchman.on_sent(self._sent)

    def of_late(self) -> Iterator[tuple[str, ObjectKey, int]]:
        """Yield how often each operator called about each object in the last minute."""
        since = self._loop.time() - _MINUTE
        for (who, about), times in self._asked.items():
            if about is not None:
                yield who, about, sum(it > since for it in times)

    def _sent(self, sent: Sent) -> None:
        call = sent.call
        self._asked.setdefault((sent.who, sent.about), deque(maxlen=_REMEMBERED)).append(sent.at)
        if not call.writes:
            return
        self.last_write = (sent.at, sent.who, str(call))
        operator = sent.who.partition(".")[0]  # however often it was started
        times = self._times.setdefault((operator, sent.about), deque())
        times.append(sent.at)
        while times[0] < sent.at - _MINUTE:
            times.popleft()
        if len(times) > MOST:
            self._book.report(self.law, sent.who, f"more than {MOST} writes in a minute")
