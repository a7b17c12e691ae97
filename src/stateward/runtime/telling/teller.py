"""Tell one report everywhere: journal, metrics, events. Conditions are the operator's own words.

People are told what changed, not what is still so: an event is written when a step says something
else about an object than it said last time.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import structlog

from stateward.core.clock import Clock
from stateward.core.outcome import Blocked, Done, Outcome, Retry, Stop
from stateward.runtime.pipeline import Report
from stateward.runtime.telling.hush import Hush
from stateward.runtime.telling.journal import Journal, Subject, entry_of
from stateward.runtime.telling.metrics import StepMetrics
from stateward.runtime.telling.recorder import EventType, ObjectReference, Recorder

_log = structlog.get_logger("teller")

#: Objects whose last words we keep in mind.
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Ears:
    """Who is told."""

    journal: Journal
    steps: StepMetrics
    recorder: Recorder


class Teller:
    """Derives everything that is told from the report of a pass."""

    def __init__(self, ears: Ears, clock: Clock) -> None:
        self._ears = ears
        self._clock = clock
        self._hush = Hush(clock)
        self._last: OrderedDict[str, dict[str, str]] = OrderedDict()

    async def tell(
        self, subject: Subject, about: ObjectReference, report: Report, *, began: float
    ) -> Report:
        """Write the journal, count the steps, tell people what changed; return what they hear."""
        entry = entry_of(
            subject,
            report,
            pass_id=str(structlog.contextvars.get_contextvars().get("pass_id", "")),
            at=self._clock.now(),
            seconds=self._clock.monotonic() - began,
        )
        self._ears.journal.add(entry)
        self._ears.steps.record(report)
        last = self._words_about(about.uid)
        report = self._hush.heard(about.uid, report)
        for said in report.said:
            await self._tell_change(about, said.step, said.outcome, last)
        if report.failure is not None:
            error = report.failure.error
            kind = EventType.WARNING
            await self._ears.recorder.tell(about, kind, report.failure.reason, str(error))
        return report

    async def _tell_change(
        self, about: ObjectReference, step: str, outcome: Outcome, last: dict[str, str]
    ) -> None:
        if isinstance(outcome, Done):
            last.pop(step, None)
            return
        lasting = outcome.lasting if isinstance(outcome, Retry) else ""
        words = f"{outcome.reason}: {lasting or outcome.message}"
        if last.get(step) == words:
            return
        last[step] = words
        kind = EventType.NORMAL
        hint = outcome.hint if isinstance(outcome, Blocked | Stop) else ""
        if isinstance(outcome, Blocked) or hint:
            kind = EventType.WARNING
            _log.warning(outcome.message, step=step, reason=outcome.reason, hint=hint)
        await self._ears.recorder.tell(about, kind, outcome.reason, outcome.message)

    def _words_about(self, uid: str) -> dict[str, str]:
        words = self._last.setdefault(uid, {})
        self._last.move_to_end(uid)
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)
        return words
