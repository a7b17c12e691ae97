"""Run ordered steps over one snapshot and fold what they say into one report.

The order of the steps is data, written down where the steps are listed. The report is the only
thing that changes during a pass, it is owned here, and everything that is told to people
(conditions, blockers, events, metrics, journal) is derived from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, assert_never

from stateward.core.clock import Clock
from stateward.core.errors import HouseError, StatewardError
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Retry, Stop, Wait, wake_after

S_contra = TypeVar("S_contra", contravariant=True)


class Step(Protocol[S_contra]):
    """One thing to do about a snapshot. Its name is shown to users."""

    @property
    def name(self) -> str:
        """CamelCase, stable."""

    async def run(self, seen: S_contra) -> Outcome:
        """Do it, or say why not."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one step said, and how long it took to say it."""

    step: str
    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """The step that failed, and how: a peer that is in trouble, or a bug of ours."""

    step: str
    error: Exception

    @property
    def reason(self) -> str:
        """One CamelCase word."""
        return self.error.reason if isinstance(self.error, StatewardError) else "InternalError"

    @property
    def outcome(self) -> Outcome:
        """What the step would have said: a peer is asked again, a bug is for people."""
        error = self.error
        if isinstance(error, StatewardError) and not isinstance(error, HouseError):
            return Retry(0.0, self.reason, error.message)
        words = f"{self.step} failed: {type(error).__name__}: {error}"
        hint = "this is a bug; please report it, with what the operator's log says"
        return Blocked("InternalError", words, hint)


@dataclass(slots=True)
class Report:
    """All that happened in one pass."""

    said: list[Said] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def words(self) -> list[tuple[str, Outcome]]:
        """What every step said, and what the one that failed would have said."""
        said = [(it.step, it.outcome) for it in self.said]
        return said if self.failure is None else [*said, (self.failure.step, self.failure.outcome)]

    @property
    def settled(self) -> bool:
        """True when every step was reached and had nothing left to do."""
        return self.failure is None and all(isinstance(s.outcome, Done) for s in self.said)

    @property
    def wake_after(self) -> float | None:
        """The soonest moment at which a step wants to be asked again, if any."""
        return min((t for s in self.said if (t := wake_after(s.outcome)) is not None), default=None)

    @property
    def outcome(self) -> Outcome:
        """The first thing that is not done, with the soonest wake-up of all of them."""
        first = next((s.outcome for s in self.said if not isinstance(s.outcome, Done)), DONE)
        after = self.wake_after
        match first:
            case Wait(reason=reason, message=message) if after is not None:
                return Retry(after, reason, message)
            case Blocked(reason=reason, message=message) if after is not None:
                return Retry(after, reason, message)
            case Retry(reason=reason, message=message) if after is not None:
                return Retry(after, reason, message)
            case _:
                return first


async def run_steps(steps: Sequence[Step[S_contra]], seen: S_contra, clock: Clock) -> Report:
    """Run the steps in order until one says Stop or fails; never raise what a step raised."""
    report = Report()
    for step in steps:
        started = clock.monotonic()
        try:
            outcome = await step.run(seen)
        except Exception as error:  # noqa: BLE001 - a step's bug must reach the report, not end the worker
            report.failure = Failure(step.name, error)
            return report
        report.said.append(Said(step.name, outcome, clock.monotonic() - started))
        match outcome:
            case Done() | Wait() | Retry() | Blocked():
                continue
            case Stop():
                break
            case _:
                assert_never(outcome)
    return report
