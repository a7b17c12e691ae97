"""That somebody else wrote first is ordinary: we look again, and people hear of it if it lasts."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from stateward.core.clock import Clock
from stateward.core.outcome import Outcome, Retry, Stop
from stateward.kube.errors import Conflict
from stateward.runtime.pipeline import Report

#: Why a step looks again, when that is nobody's trouble.
_ORDINARY: Final = frozenset({Conflict.reason, "Changed", "SpecChanged"})
#: Seconds from which on it is trouble: something writes all the time.
LASTS: Final = 30.0
_REMEMBERED: Final = 10_000


class Hush:
    """Keeps what is ordinary from people for as long as it goes away by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: By the uid of an object: since when no pass over it was without.
        self._since: OrderedDict[str, float] = OrderedDict()

    def heard(self, uid: str, report: Report) -> Report:
        """Return what people are told of a pass: the same report, if there is nothing to hush."""
        said = [it for it in report.said if not _is_ordinary(it.outcome)]
        failure = report.failure
        if failure is not None and isinstance(failure.error, Conflict):
            failure = None
        if len(said) == len(report.said) and failure is report.failure:
            self._since.pop(uid, None)
            return report
        now = self._clock.monotonic()
        if now - self._since.setdefault(uid, now) >= LASTS:
            return report
        if len(self._since) > _REMEMBERED:
            self._since.popitem(last=False)
        return Report(said, failure)


def _is_ordinary(outcome: Outcome) -> bool:
    return isinstance(outcome, Retry | Stop) and outcome.reason in _ORDINARY
