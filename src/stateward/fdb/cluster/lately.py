"""What held a cluster back a moment ago, where a pass did not come to ask for it again.

Since when something is held back is in the status; what is not told for one pass would begin anew
with the next. A pass that ended before a step says nothing of it, and one that waits for something
else first has not come to its guards. Only for a moment: what was not seen for long may be another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stateward.core.clock import Clock
from stateward.core.outcome import Done, Outcome, Stop
from stateward.fdb.tell.doing import UNWELL
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import ObjectKey

#: Seconds for which something is kept in mind that nobody came to see again.
_MOMENT: Final = 60.0


class Lately:
    """By cluster: what was told until a moment ago, and since when it is not told any more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[ObjectKey, list[tuple[Blocker, float]]] = {}

    def recall(self, key: ObjectKey) -> tuple[Blocker, ...]:
        """Return what may hold a cluster back as before, though its status does not say so."""
        now = self._clock.monotonic()
        return tuple(it for it, since in self._kept.get(key, ()) if now - since < _MOMENT)

    def note(
        self,
        key: ObjectKey,
        before: Sequence[Blocker],
        after: Sequence[Blocker],
        said: Sequence[tuple[str, Outcome]],
    ) -> None:
        """Keep in mind what is not told any more, and is not known to be over."""
        now = self._clock.monotonic()
        missed = [(it, now) for it in before] + [
            (it, since) for it, since in self._kept.pop(key, ()) if now - since < _MOMENT
        ]
        told = {(it.step, it.guard) for it in after}
        over = set(_over(after, said))
        kept = {
            (it.step, it.guard): (it, since)
            for it, since in missed
            if (it.step, it.guard) not in told and _step(it) not in over
        }
        if kept:
            self._kept[key] = list(kept.values())

    def forget(self, key: ObjectKey) -> None:
        """Forget a cluster that is gone."""
        self._kept.pop(key, None)


def _over(after: Sequence[Blocker], said: Sequence[tuple[str, Outcome]]) -> Iterator[str]:
    """Yield the steps that were asked and are held back by nothing now."""
    still = {it.step for it in after}
    for step, outcome in said:
        if isinstance(outcome, Done | Stop) and step not in still:
            yield step
    if all(isinstance(it, Done) for _, it in said):
        yield UNWELL


def _step(it: Blocker) -> str:
    """Return by which step something is over; what all of the cluster waits for, when all is."""
    return UNWELL if it.guard == UNWELL else it.step
