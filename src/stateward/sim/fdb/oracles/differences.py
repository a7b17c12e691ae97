"""DIFF: how a life of FoundationDB with faults may differ from the calm one, and how it may not.

It must end as the calm one does, and operators must have done no more to the world, but for what a
fault makes necessary. That is a table: what is not in it is not allowed. What was not done is fine
as long as the end is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from stateward.sim.faults import Family, Fault, Kind
from stateward.sim.laws.violations import Violation
from stateward.sim.lives import Life

Room = Mapping[str, int]

_PODS: Final = "delete pods"
_GROUPS: Final = "foundationdbprocessgroups.apps.foundationdb.org"
#: What may be repeated when nobody heard whether it was done.
_ALWAYS: Final[Room] = {
    "fdb exclude": 1,
    "fdb include": 1,
    "fdb maintenance": 6,
    "fdb backup pause": 1,
    "fdb backup resume": 1,
    "fdb backup modify": 1,
    "fdb backup delete": 1,
    "fdb restore abort": 1,
}
#: Whoever coordinated may be another afterwards.
_MOVED: Final[Room] = {"fdb coordinators": 2}
#: A bounce that was not seen to have come to its end may be repeated, and so may a change.
_REPEATED: Final[Room] = {"fdb kill": 1, "fdb configure": 1, "fdb make again": 1, **_MOVED}
#: Somebody took away what the operator makes.
_MADE: Final[Room] = {
    **_MOVED,
    "create pods": 8,
    "create configmaps": 1,
    "create services": 4,
}
#: A group is replaced, as somebody who deletes it asks for.
_REPLACED: Final[Room] = {
    **_MADE,
    f"create {_GROUPS}": 2,
    "create persistentvolumeclaims": 2,
    f"delete {_GROUPS}": 2,
    "delete persistentvolumeclaims": 2,
    _PODS: 3,
    "fdb exclude": 2,
    "fdb include": 2,
    "fdb kill": 1,
}
#: Groups that two made, each for itself, are too many, and go: more than these in large clusters.
_FEW: Final = 8
_TWO: Final[Room] = {
    **_REPLACED,
    **_REPEATED,
    "fdb make": 1,
    f"create {_GROUPS}": _FEW,
    "create persistentvolumeclaims": _FEW,
    "create pods": 2 * _FEW,
    f"delete {_GROUPS}": _FEW,
    "delete persistentvolumeclaims": _FEW,
    _PODS: _FEW,
}

FAMILIES: Final[Mapping[Family, Room]] = {
    **dict.fromkeys(Family, _REPEATED),
    Family.ZOMBIE: _TWO,
    Family.TWO_LEADERS: _TWO,
    Family.TWICE: _TWO,
    **dict.fromkeys((Family.PAST, Family.PAST_OF_SOME, Family.STALL), _TWO),
    **dict.fromkeys((Family.UNSEEN, Family.REORDER), _TWO),
}

#: Acts after which the end is another, and nothing can be compared.
_OTHER_ENDS: Final = frozenset({"edit", "recreate-cr", "exclude-other", "include-all"})
#: Acts that are no loss of anything.
_HARMLESS: Final = frozenset(
    {"cut", "cut-all", "silence", "partial", "unasked", "stays", "skew", "claim-stuck"}
)
_ENDLESS: Final = frozenset({"L0", "K8"})


def differences(reference: Life, life: Life) -> tuple[Violation, ...]:
    """Return how a life differs from the calm one in a way that its faults do not excuse."""
    made = sum(times for act, times in reference.acts.items() if _sort(act) == f"create {_GROUPS}")
    room = room_of(tuple(hit.fault for hit in life.ask.plan.hits), made)
    if life.hopeless or room is None or any(it.law in _ENDLESS for it in life.violations):
        return ()
    found = [*_excess(reference, life, room), *_ends(reference, life)]
    return tuple(Violation("DIFF", "nobody", life.seconds, it) for it in found)


def room_of(faults: tuple[Fault, ...], groups: int = 0) -> Room | None:
    """Return how often more something may be done under some faults together.

    ``groups``: how many the calm life made. Two that each make them make no more than twice these.
    """
    room = Counter(_ALWAYS)
    for fault in faults:
        act = fault.details[0] if fault.kind is Kind.ACT and fault.details else ""
        if act in _OTHER_ENDS:
            return None
        if act:
            room.update(_REPEATED if act in _HARMLESS else _REPLACED)
        else:
            more = FAMILIES[fault.family]
            room.update(more if more is not _TWO else _two(groups))
    return room


def _two(groups: int) -> Room:
    """Return what two may do who each make all groups."""
    larger = max(groups, _FEW) - _FEW
    return {act: many + larger * (many // _FEW) for act, many in _TWO.items()}


def _excess(reference: Life, life: Life, room: Room) -> Iterator[str]:
    """Yield what was done more often than the faults make room for."""
    more: Counter[str] = Counter()
    names: dict[str, list[str]] = {}
    for act, times in sorted(life.acts.items()):
        more[_sort(act)] += times - reference.acts.get(act, 0)
        names.setdefault(_sort(act), []).append(act)
    for sort, times in more.items():
        if times > room.get(sort, 0):
            allowed = room.get(sort, 0)
            yield f"{', '.join(names[sort])}: {times} more than in calm, of {allowed} allowed"


def _sort(act: str) -> str:
    """Return what is done, without to whom.

    >>> _sort("delete pods storage"), _sort("fdb make again")
    ('delete pods', 'fdb make again')
    """
    return act if act.startswith("fdb ") else " ".join(act.split()[:2])


def _ends(reference: Life, life: Life) -> Iterator[str]:
    for name in sorted(reference.end.keys() | life.end.keys()):
        calm, now = reference.end.get(name), life.end.get(name)
        if calm is None or now is None:
            yield f"{name} is {'missing' if now is None else 'left'} at the end"
        elif calm != now:
            yield f"{name} ends in another way: {calm[:200]} and now {now[:200]}"
