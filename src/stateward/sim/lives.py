"""What is lived, and what came of it, whatever the operators look after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stateward.sim.faults import CALM, Kind, Plan
from stateward.sim.laws.violations import Violation
from stateward.sim.sites import Site

#: Seconds by which caches are late at most in calm weather, before anybody may be blamed.
_LATE = 15.0
_LAGS = frozenset(
    {Kind.STALE, Kind.STALE_KINDS, Kind.STALL, Kind.UNSEEN, Kind.REORDER, Kind.SERVER}
)
#: The longest of those that come without a number.
_LONGEST_LAG = 120.0


@dataclass(frozen=True, slots=True)
class Ask:
    """What is lived."""

    scenario: str
    plan: Plan = CALM
    seed: int = 1
    #: How many operators there are; a zombie needs a second one that takes over.
    operators: int = 1

    def __str__(self) -> str:
        several = f" --operators {self.operators}" if self.operators != 1 else ""
        return f"--scenario {self.scenario} --plan {self.plan} --seed {self.seed}{several}"


@dataclass(frozen=True, slots=True)
class Life:
    """How it went."""

    ask: Ask
    violations: tuple[Violation, ...]
    #: Every call of the operators, in order.
    calls: tuple[Site, ...]
    #: What was done to the world by operators, and how often: creates, deletes, acts on databases.
    acts: Mapping[str, int]
    #: The end state by roles, without chance's names.
    end: Mapping[str, str]
    digest: str
    seconds: float
    steps: int
    #: The revision of the store at the end.
    revisions: int
    lines: tuple[str, ...] = field(default=(), repr=False)
    #: Whether only a person could have helped, and nobody did.
    hopeless: bool = False
    #: How many calls there were when each step began.
    begins: tuple[int, ...] = ()


def same(one: Life, other: Life) -> bool:
    """Tell whether two lives are one and the same, to the last step."""
    return (one.digest, one.steps, one.violations) == (other.digest, other.steps, other.violations)


#: Is asked at every call, before anything befalls it, what is lived from there on: another plan
#: whose first fault comes here or later, or None, as before.
Turn = Callable[[int], Ask | None]


def lateness(plan: Plan) -> float:
    """Return by how many seconds caches may be late under a plan."""
    lags = [
        max((float(it) for it in hit.fault.details if _is_number(it)), default=_LONGEST_LAG)
        for hit in plan.hits
        if hit.fault.kind in _LAGS
    ]
    return _LATE + sum(lags)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()
