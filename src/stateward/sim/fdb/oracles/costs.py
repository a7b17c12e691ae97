"""F-S26: what a change costs in calm, as the documentation promises it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.sim.fdb.world import FdbWorld

#: How the cause of a recovery ends that begins no other one: it was under way.
_CAME: Final = " came"


@dataclass(frozen=True, slots=True)
class Cost:
    """How often processes are restarted by an operator, and how often databases recover."""

    restarts: int
    #: None: nothing is promised.
    recoveries: int | None = None
    #: Whether there may be fewer: who is restarted may have nothing that must be recovered.
    at_most: bool = False
    #: How often somebody is excluded, and coordinators change; None: nothing is promised.
    exclusions: int | None = None
    moves: int | None = None

    def __str__(self) -> str:
        most = "at most " if self.at_most else ""
        told = {
            "restarts": self.restarts,
            "recoveries": self.recoveries,
            "exclusions": self.exclusions,
            "changes of coordinators": self.moves,
        }
        words = {name: str(number) for name, number in told.items() if number is not None}
        if self.recoveries is not None:
            words["recoveries"] = f"{most}{self.recoveries}"
        return ", ".join(f"{name}: {text}" for name, text in words.items())


def spent(it: FdbWorld, acts: Mapping[str, int]) -> Cost:
    """Return what was spent so far."""
    it.realm.advance()
    recovered = sum(len(recoveries(one)) for one in it.realm.databases)
    excluded, moved = acts.get("fdb exclude", 0), acts.get("fdb coordinators", 0)
    return Cost(acts.get("fdb kill", 0), recovered, exclusions=excluded, moves=moved)


def recoveries(database: Database) -> list[str]:
    """Return why a database recovered, each time."""
    return [cause for _, cause in database.recovery.causes if not cause.endswith(_CAME)]


def complaint(promised: Cost, before: Cost, now: Cost) -> str:
    """Return how a step cost something else than what is promised; nothing: it did not.

    >>> complaint(Cost(2, 3), Cost(0, 1), Cost(2, 4))
    ''
    >>> complaint(Cost(1), Cost(0, 1), Cost(2, 9))
    'restarts: 2, and promised are restarts: 1'
    >>> complaint(Cost(2, 3, at_most=True), Cost(0, 1), Cost(2, 3))
    ''
    """
    real = Cost(
        now.restarts - before.restarts,
        _more(promised.recoveries, before.recoveries, now.recoveries),
        exclusions=_more(promised.exclusions, before.exclusions, now.exclusions),
        moves=_more(promised.moves, before.moves, now.moves),
    )
    if promised.at_most and (real.recoveries or 0) <= (promised.recoveries or 0):
        real = replace(real, recoveries=promised.recoveries, at_most=True)
    return "" if real == promised else f"{real}, and promised are {promised}"


def _more(promised: int | None, before: int | None, now: int | None) -> int | None:
    """Return how much was spent of something of which anything is promised."""
    return None if promised is None else (now or 0) - (before or 0)
