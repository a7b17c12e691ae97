"""What was broken, by whom and when; and the book that it is written into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: A world that falls apart breaks laws without end; the first ones tell why.
_KEPT = 30


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that was broken: which, by whom, when, and what happened."""

    law: str
    actor: str
    at: float
    sentence: str

    def __str__(self) -> str:
        return f"{self.law} at {self.at:.3f} s by {self.actor}: {self.sentence}"


class Book:
    """Violations in the order in which they happened, each told once."""

    def __init__(self, time: Callable[[], float]) -> None:
        #: When something last went wrong with the world itself, which excuses some.
        self.last_fault = 0.0
        self._time = time
        self._told: set[tuple[str, str, str]] = set()
        self._violations: list[Violation] = []

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All that was written down."""
        return tuple(self._violations)

    def report(self, law: str, actor: str, sentence: str) -> None:
        """Write a violation down, unless it is known."""
        told = (law, actor, sentence)
        if told in self._told or len(self._violations) >= _KEPT:
            return
        self._told.add(told)
        self._violations.append(Violation(law, actor, self._time(), sentence))
