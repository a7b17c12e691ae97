"""What was last worked out for each of many things, while the same is asked about it.

For pure work that a pass would otherwise do again and again. The question is kept beside the answer
and compared whole, so an answer is never older than what it was worked out from.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Last(Generic[Q, A]):
    """The answer to what was asked last. It is handed out again: nobody may change it."""

    def __init__(self) -> None:
        self._kept: tuple[Q, A] | None = None

    def recall(self, asked: Q, work_out: Callable[[], A]) -> A:
        """Return the answer, worked out anew unless the same was asked last."""
        if self._kept is None or self._kept[0] != asked:
            self._kept = (asked, work_out())
        return self._kept[1]

    def kept(self, asked: Q) -> A | None:
        """Return the answer; None: another was asked last, or nothing was kept."""
        return self._kept[1] if self._kept is not None and self._kept[0] == asked else None

    def keep(self, asked: Q, answer: A) -> None:
        """Keep an answer."""
        self._kept = (asked, answer)


class Memory(Generic[Q, A]):
    """Such an answer for each of many things; of too many, one is forgotten: the longest unused."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._about: OrderedDict[str, Last[Q, A]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._about)

    def recall(self, about: str, asked: Q, work_out: Callable[[], A]) -> A:
        """Return the answer about a thing, worked out anew unless the same was asked last."""
        return self._last(about).recall(asked, work_out)

    def kept(self, about: str, asked: Q) -> A | None:
        """Return the answer about a thing; None: another was asked last, or nothing was kept."""
        return self._last(about).kept(asked)

    def keep(self, about: str, asked: Q, answer: A) -> None:
        """Keep an answer, for those who know only when they have it that it is worth it."""
        self._last(about).keep(asked, answer)

    def _last(self, about: str) -> Last[Q, A]:
        last = self._about.get(about)
        if last is not None:
            self._about.move_to_end(about)
            return last
        last = self._about[about] = Last()
        if len(self._about) > self._limit:
            self._about.popitem(last=False)
        return last
