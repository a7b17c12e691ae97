"""F-S26: what a change costs in calm, as the documentation promises it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    def __str__(self) -> str:
        if self.recoveries is None:
            return f"restarts: {self.restarts}"
        return f"restarts: {self.restarts}, recoveries: {self.recoveries}"


def spent(it: FdbWorld, acts: Mapping[str, int]) -> Cost:
    """Return what was spent so far."""
    it.realm.advance()
    return Cost(acts.get("fdb kill", 0), sum(len(recoveries(one)) for one in it.realm.databases))


def recoveries(database: Database) -> list[str]:
    """Return why a database recovered, each time."""
    return [cause for _, cause in database.recovery.causes if not cause.endswith(_CAME)]


def complaint(promised: Cost, before: Cost, now: Cost) -> str:
    """Return how a step cost something else than what is promised; nothing: it did not.

    >>> complaint(Cost(2, 3), Cost(0, 1), Cost(2, 4))
    ''
    >>> complaint(Cost(1), Cost(0, 1), Cost(2, 9))
    'restarts: 2, and promised are restarts: 1'
    """
    recovered = (now.recoveries or 0) - (before.recoveries or 0)
    real = Cost(now.restarts - before.restarts, None if promised.recoveries is None else recovered)
    return "" if real == promised else f"{real}, and promised are {promised}"
