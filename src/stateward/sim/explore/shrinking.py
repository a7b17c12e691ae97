"""From a plan that fails to a small one that fails alike: fewer faults, earlier and shorter ones.

Nothing here lives or judges: whoever shrinks says whether a plan fails, and when time is up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from stateward.sim.faults import Fault, Hit, Kind, Plan
from stateward.sim.lives import Ask

Fails = Callable[[Ask], bool]

#: Which detail of a fault says how long it lasts.
_LASTING: Final = {
    **dict.fromkeys((Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.CRASH_ANSWERED, Kind.ZOMBIE), 0),
    **dict.fromkeys((Kind.STALE, Kind.STALL, Kind.REORDER), 1),
    **dict.fromkeys((Kind.STALE_KINDS, Kind.ACT), 2),
    Kind.TWO_LEADERS: 0,
}
_SHORTER: Final = (0, 1, 5, 12, 20, 30, 60)


class Shrinker:
    """One search; it asks as long as there is time and keeps the smallest plan that failed."""

    def __init__(self, fails: Fails, has_time: Callable[[], bool]) -> None:
        self._fails = fails
        self._has_time = has_time
        #: How many lives it took.
        self.lives = 0

    def shrunk(self, ask: Ask) -> Ask:
        """Return the smallest plan found; what was given must fail."""
        ask = self._with_fewer(ask)
        ask = self._first_of(ask, (replace(ask, operators=n) for n in range(1, ask.operators)))
        for place in range(len(ask.plan.hits)):
            ask = self._first_of(ask, _shorter(ask, place))
            ask = self._earlier(ask, place)
        return ask

    def _still(self, ask: Ask) -> bool:
        if not self._has_time():
            return False
        self.lives += 1
        return self._fails(ask)

    def _first_of(self, ask: Ask, candidates: Iterator[Ask]) -> Ask:
        return next((it for it in candidates if self._still(it)), ask)

    def _with_fewer(self, ask: Ask) -> Ask:
        """Delete faults, half of them at a time, then ever smaller parts (delta debugging)."""
        hits, parts = ask.plan.hits, 2
        while len(hits) > 1 and self._has_time():
            without = self._without_a_part(ask, hits, parts)
            if without is not None:
                hits, parts = without, max(2, parts - 1)
            elif parts >= len(hits):
                break
            else:
                parts = min(len(hits), 2 * parts)
        return _with_hits(ask, hits)

    def _without_a_part(
        self, ask: Ask, hits: tuple[Hit, ...], parts: int
    ) -> tuple[Hit, ...] | None:
        for number in range(parts):
            start, end = (len(hits) * n // parts for n in (number, number + 1))
            left = hits[:start] + hits[end:]
            if len(left) < len(hits) and self._still(_with_hits(ask, left)):
                return left
        return None

    def _earlier(self, ask: Ask, place: int) -> Ask:
        """Move one fault towards the beginning, by large steps first."""
        step = ask.plan.hits[place].call // 2
        while step and self._has_time():
            hit = ask.plan.hits[place]
            moved = _with_hit(ask, place, replace(hit, call=hit.call - step))
            if hit.call > step and self._still(moved):
                ask = moved
            else:
                step //= 2
        return ask


def _shorter(ask: Ask, place: int) -> Iterator[Ask]:
    hit = ask.plan.hits[place]
    details, which = hit.fault.details, _LASTING.get(hit.fault.kind, len(hit.fault.details))
    if which >= len(details):
        return
    for seconds in _SHORTER:
        if seconds == 0 and hit.fault.kind is Kind.ZOMBIE:
            continue  # which would be a pause of any length
        if seconds < float(details[which]):
            changed = (*details[:which], str(seconds), *details[which + 1 :])
            yield _with_hit(ask, place, Hit(hit.call, Fault(hit.fault.kind, changed)))


def _with_hit(ask: Ask, place: int, hit: Hit) -> Ask:
    hits = ask.plan.hits
    return _with_hits(ask, (*hits[:place], hit, *hits[place + 1 :]))


def _with_hits(ask: Ask, hits: Sequence[Hit]) -> Ask:
    return replace(ask, plan=Plan(tuple(hits)))
