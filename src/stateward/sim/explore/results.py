"""What a campaign has found so far: counts, coverage, and each way to fail once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from stateward.sim.explore.judging import DETERMINISM, Met, Outcome
from stateward.sim.explore.plans import LETTERS, TWO
from stateward.sim.faults import Family, Kind
from stateward.sim.laws.violations import Violation
from stateward.sim.lives import Ask

#: The letter of lives in which nothing goes wrong.
NONE: Final = "-"

#: What stands for a letter where faults of all families come by seeds.
SWARM: Final = "*"

#: What letters mean, for tables.
MEANING: Final = {it.value: it.name.lower().replace("_", " ") for it in Family} | {
    TWO: "two faults",
    NONE: "calm",
    SWARM: "swarm",
}


@dataclass(slots=True)
class Row:
    """Counts of one letter in one scenario."""

    plans: int = 0
    #: Virtual seconds.
    seconds: float = 0.0
    #: Lives in which a law was broken.
    bad: int = 0
    #: Plans of which a fault never came, because the life ended before.
    missed: int = 0

    def add(self, other: Row) -> None:
        """Count another row too."""
        self.plans += other.plans
        self.seconds += other.seconds
        self.bad += other.bad
        self.missed += other.missed


@dataclass(slots=True)
class Finding:
    """One way to fail: a law broken after certain faults at a certain place, and how often."""

    law: str
    place: str
    what: str
    first: Outcome
    violation: Violation
    count: int = 0
    #: The smallest plan that fails alike, as far as it was looked for.
    smallest: Ask | None = None


@dataclass(slots=True)
class Results:
    """Everything so far. Merging is adding one outcome after the other."""

    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    seen: Counter[Met] = field(default_factory=Counter)
    #: What could be seen.
    feasible: set[Met] = field(default_factory=set)
    lived_twice: int = 0

    def add(self, letter: str, outcome: Outcome) -> None:
        """Count one life."""
        row = self.rows.setdefault((letter, outcome.ask.scenario), Row())
        missed = len(outcome.met) < len(outcome.ask.plan.hits)
        row.add(Row(1, outcome.seconds, bool(outcome.violations), missed))
        self.seen.update(outcome.met)
        for violation in outcome.violations:
            self._blame(outcome, violation)

    def again(self, first: Outcome, second: Outcome) -> None:
        """Count the second life of a plan: it must be as the first."""
        self.lived_twice += 1
        if first.digest != second.digest:
            sentence = f"lived twice, the digest was {first.digest} and then {second.digest}"
            self._blame(first, Violation(DETERMINISM, "nobody", 0.0, sentence))

    def _blame(self, outcome: Outcome, violation: Violation) -> None:
        where = outcome.met[0].place if outcome.met else ""
        kinds = "+".join(it.what for it in outcome.met) or "calm"
        key = (violation.law, where, kinds)
        if key not in self.findings:
            self.findings[key] = Finding(*key, outcome, violation)
        self.findings[key].count += 1

    @property
    def lives(self) -> int:
        """How many lives there were, the second ones included."""
        return sum(it.plans for it in self.rows.values()) + self.lived_twice

    @property
    def hours(self) -> float:
        """Virtual hours."""
        return sum(it.seconds for it in self.rows.values()) / 3600

    def by_letter(self) -> dict[str, Row]:
        """Return the counts of every letter, over all scenarios."""
        return self._summed(0, (NONE, *LETTERS, SWARM))

    def by_scenario(self) -> dict[str, Row]:
        """Return the counts of every scenario, over all letters."""
        return self._summed(1, dict.fromkeys(scenario for _, scenario in self.rows))

    def _summed(self, part: int, names: Iterable[str]) -> dict[str, Row]:
        found: dict[str, Row] = {}
        for name in names:
            for key, row in self.rows.items():
                if key[part] == name:
                    found.setdefault(name, Row()).add(row)
        return found

    def ways(self) -> list[list[Finding]]:
        """Return the findings together that break the same law after the same faults."""
        found: dict[tuple[str, str], list[Finding]] = {}
        for it in self.findings.values():
            found.setdefault((it.law, it.what), []).append(it)
        return list(found.values())

    def covered(self, letter: str = "") -> tuple[int, int]:
        """Return how many of the places times faults were met, and how many there are."""
        asked = [it for it in self.feasible if not letter or letter_of(it) == letter]
        return sum(it in self.seen for it in asked), len(asked)

    def unseen(self) -> list[Met]:
        """Return what was not met, in a fixed order."""
        left = (it for it in self.feasible if it not in self.seen)
        return sorted(left, key=lambda it: (it.what, it.place))


_FAMILIES: Final = {it.text: it.family.value for it in Kind}


def letter_of(met: Met) -> str:
    """Return the letter of the family that a fault belongs to."""
    return _FAMILIES[met.what.partition(":")[0]]


def as_json(found: Results) -> dict[str, Any]:
    """Return everything in a form that programs read."""
    covered, feasible_ = found.covered()
    return {
        "plans": sum(it.plans for it in found.rows.values()),
        "lives": found.lives,
        "livedTwice": found.lived_twice,
        "virtualHours": round(found.hours, 3),
        "families": {
            letter: _row(row) | {"covered": list(found.covered(letter))}
            for letter, row in found.by_letter().items()
        },
        "scenarios": {name: _row(row) for name, row in found.by_scenario().items()},
        "coverage": {
            "seen": covered,
            "feasible": feasible_,
            "unseen": [f"{it.what} at {it.place}" for it in found.unseen()],
        },
        "findings": [_finding(it) for it in found.findings.values()],
    }


def _finding(it: Finding) -> dict[str, Any]:
    return {
        "law": it.law,
        "place": it.place,
        "fault": it.what,
        "count": it.count,
        "violation": str(it.violation),
        "first": str(it.first.ask),
        "smallest": str(it.smallest) if it.smallest is not None else None,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "plans": row.plans,
        "virtualHours": round(row.seconds / 3600, 3),
        "bad": row.bad,
        "missed": row.missed,
    }
