"""What a step says when it is finished: one of five words, never a bag of flags.

    Done      nothing left to do here; run the next step
    Wait      an event we watch will wake us; later steps still run
    Retry     nothing will wake us, so a timer does; later steps still run
    Stop      later steps must not run on this state; look again after a delay
    Blocked   a human must act; later steps still run

An exception means a bug or an unreachable peer, and is never used for control flow.
``reason`` is one CamelCase word that users see and documentation explains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is left to do here."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Progress depends on something whose change reaches us as an event."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Progress depends on something that sends no event."""

    after: float
    reason: str
    message: str
    #: The same without what moves on by itself, as the end of a lease does; empty: nothing does.
    lasting: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Stop:
    """Acting further on this state would be wrong; look again after a delay.

    With a ``hint`` only a person can resolve this, as with Blocked.
    """

    after: float
    reason: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Only a person can resolve this; ``hint`` says how."""

    reason: str
    message: str
    hint: str


Outcome: TypeAlias = Done | Wait | Retry | Stop | Blocked

DONE = Done()


def wake_after(outcome: Outcome) -> float | None:
    """Return the seconds after which a timer must wake us, or None when an event will.

    >>> wake_after(Retry(5, "LearnerBehind", "the learner is still catching up"))
    5
    """
    match outcome:
        case Retry(after=after) | Stop(after=after):
            return after
        case Done() | Wait() | Blocked():
            return None
