"""Whether all operators of a database are ready for an act that is done once for all of them.

What is pending is compared with what is ready class by class: logs that wait for nobody do not wait
for storage servers. Nobody is waited for without end: an operator that has not been there for a
while, or that cannot get its groups ready, is left out and named, and nothing is done to those. Who
was acted upon takes no part until its owner has seen what became of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from stateward.fdb.model.intents import READY, Intent, Intents, Whose
from stateward.fdb.model.names import ProcessGroupID

#: Seconds for which nothing new must have been said, unless the operator is told otherwise.
WINDOW: Final = 30.0
#: Seconds after which an operator that says nothing is not waited for any more.
DEAD: Final = 300.0
#: By how many times the window, and seconds at least, groups that do not get ready are waited for.
_WINDOWS, _PATIENCE = 5.0, 300.0
#: Seconds after which those who are ready wait no longer, whoever joins them meanwhile.
_LONGEST: Final = 900.0
#: Seconds after which those who are ready are acted upon by nobody: who could is held back.
_OVERDUE: Final = 1800.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """Who may be acted upon now; who is waited for, or left out; and when to look again."""

    together: frozenset[Whose] = frozenset()
    waiting: tuple[Whose, ...] = ()
    left_out: tuple[Whose, ...] = ()
    after: float | None = None


def agreement(told: Intents, pending: Intent, now: float, window: float) -> Agreement:
    """Return of whom all agree, for one kind of act.

    ``window`` is for how many seconds nothing new must have been said of a class.
    """
    together, waiting, left_out = set[Whose](), list[Whose](), list[Whose]()
    times = list[float]()
    open_ = told.yet_to_do(pending)
    # A restart of any class is a recovery, so all classes restart at once.
    every = [sorted(open_)] if pending is Intent.RESTART and open_ else _classes(open_)
    for some in every:
        found = _of_class(told, pending, some, now, window)
        together |= found.together
        waiting += found.waiting
        left_out += found.left_out
        times += [] if found.after is None else [found.after]
    after = min(times, default=None)
    return Agreement(frozenset(together), tuple(waiting), tuple(left_out), after)


def awaited(found: Agreement, pending: Intent, groups: Collection[str]) -> tuple[Whose, ...]:
    """Return whom some groups wait for: a restart is of all classes, all else of theirs alone."""
    if pending is Intent.RESTART:
        return found.waiting
    classes = {_class_of(it) for it in groups}
    return tuple(it for it in found.waiting if _class_of(it.group) in classes)


def is_due(told: Intents, pending: Intent, found: Agreement, now: float) -> bool:
    """Tell whether somebody will act soon: who could may be held back for days."""
    ready = _heard_by(told.of(READY[pending]), now)
    return any(now - ready[it] < _OVERDUE for it in found.together)


def _classes(pending: Collection[Whose]) -> Iterator[list[Whose]]:
    """Yield those of each class."""
    found: dict[str, list[Whose]] = defaultdict(list)
    for it in sorted(pending):
        found[_class_of(it.group)].append(it)
    yield from found.values()


def _class_of(group: str) -> str:
    """Return the class of a group; one whose class nobody can read is one for itself."""
    try:
        return ProcessGroupID.parse(group).process_class
    except ValueError:
        return group


def _of_class(
    told: Intents, pending: Intent, some: list[Whose], now: float, window: float
) -> Agreement:
    since, ready = _heard_by(told.of(pending), now), _heard_by(told.of(READY[pending]), now)
    gone = {it for it in {one.operator for one in some} if not is_alive(told, it, now)}
    dead = [it for it in some if it.operator in gone]
    alive = [it for it in some if it.operator not in gone]
    late = [it for it in alive if it not in ready]
    last = max((moment for it in alive for moment in (since[it], ready.get(it, 0))), default=0)
    first = min((ready[it] for it in alive if it in ready), default=now)
    needed = max(_WINDOWS * window, _PATIENCE) if late else window
    left = min(needed - (now - last), _LONGEST - (now - first))
    if left > 0:
        return Agreement(waiting=tuple(late or alive), left_out=tuple(dead), after=left)
    together = frozenset(it for it in alive if it in ready)
    return Agreement(together, left_out=(*dead, *late))


def _heard_by(said: Mapping[Whose, int], now: float) -> dict[Whose, int]:
    """Return when something was said; what a clock that was far ahead wrote, long ago."""
    return {it: moment if moment - now < DEAD else 0 for it, moment in said.items()}


def is_alive(told: Intents, operator: str, now: float) -> bool:
    """Tell whether an operator said anything in a while; those without a pulse by what they say."""
    return abs(now - heard(told, operator, now)) < DEAD


def heard(told: Intents, operator: str, now: float) -> int:
    """Return when an operator said anything last: whose clock is far ahead tells of no moment."""
    beats = [told.beats[operator].at] if operator in told.beats else []
    said = (
        moment for every in told.said.values() for it, moment in every.items()
        if it.operator == operator
    )  # fmt: skip
    return min([*beats, *said], key=lambda it: abs(now - it), default=0)


def silent(told: Intents, now: float) -> tuple[str, ...]:
    """Return the operators that have something pending, and have said nothing for a while."""
    some = {it.operator for intent in READY for it in told.of(intent)}
    return tuple(sorted(it for it in some if not is_alive(told, it, now)))
