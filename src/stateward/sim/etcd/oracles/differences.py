"""DIFF: how a life with faults may differ from the calm one, and how it may not.

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

#: How often more than in the calm life operators may do something, by what they do.
Room = Mapping[str, int]

#: Who leads is chance, and so is how often leadership is handed on. Upkeep may be repeated.
_ALWAYS: Final[Room] = {
    "etcd move_leader": 9,
    "etcd defragment": 3,
    **dict.fromkeys(("etcd compact", "etcd disarm"), 1),
}
_NONE: Final[Room] = {}
#: One member is replaced, with its volume.
_REPLACED: Final[Room] = {
    **dict.fromkeys(("etcd remove", "etcd add_learner", "etcd promote"), 1),
    **dict.fromkeys(("delete pods", "delete persistentvolumeclaims"), 2),
}
#: A learner that ended before it had joined gets another volume.
_FREED: Final[Room] = dict.fromkeys(("delete pods", "delete persistentvolumeclaims"), 1)
#: The same while whoever it joins is killed, again and again.
_FREED_OFTEN: Final[Room] = dict.fromkeys(_FREED, 3)
#: Somebody took away what the operator makes.
_MADE: Final[Room] = {
    "create services": 2,
    "create configmaps": 1,
    "create statefulsets.apps": 1,
    "create poddisruptionbudgets.policy": 1,
}
#: Pods that are not of its present template, or of none, are restarted.
_MADE_AGAIN: Final[Room] = {**_FREED, **_MADE, "delete pods": 2}
#: Somebody asks for more pods than there are members, with volumes of their own.
_EDITED: Final[Room] = {**_MADE_AGAIN, "delete persistentvolumeclaims": 3}
#: A learner's volume was deleted, and nothing was done for as long as nothing was heard: it started
#: on the volume that goes, and joins anew. So does one that cannot be reached where it was once.
_REJOINED: Final[Room] = {
    **_FREED,
    **dict.fromkeys(("etcd remove", "etcd add_learner", "etcd promote"), 1),
}
#: Etcd does not know who may ask it: who was leader may still add a learner, which goes again. And
#: it may still make what belongs to a cluster that is gone, and goes with it.
_UNFENCED: Final[Room] = {
    **_MADE,
    **dict.fromkeys(("etcd add_learner", "etcd remove"), 1),
    **dict.fromkeys(("etcd add_root", "etcd enable_auth", "etcd disable_auth"), 1),
    "delete persistentvolumeclaims": 1,
}

FAMILIES: Final[Mapping[Family, Room]] = {
    **dict.fromkeys(Family, _NONE),
    **dict.fromkeys((Family.PAST, Family.PAST_OF_SOME, Family.STALL), _REJOINED),
    **dict.fromkeys((Family.UNSEEN, Family.REORDER), _REJOINED),
    Family.ZOMBIE: _UNFENCED,
    Family.TWO_LEADERS: _UNFENCED,
}

#: What befalls the world; None: then the end is another, and nothing can be compared.
ACTS: Final[Mapping[str, Room | None]] = {
    **dict.fromkeys(("kill-pod", "kill-all", "delete-pod", "force-pod", "evict-pod"), _FREED),
    "oom-pod": _FREED_OFTEN,
    "stranger": {**_FREED, "delete pods": 2},
    **dict.fromkeys(("foreign-claim", "reuse"), _NONE),
    **dict.fromkeys(("stuck-pod", "no-room", "slow-pods", "no-image", "claim-stuck"), _NONE),
    **dict.fromkeys(("cut", "cut-all", "skew", "quota"), _NONE),
    **dict.fromkeys(("hang", "lose-node", "power", "split"), _REPLACED),
    **dict.fromkeys(("wipe", "damage", "lose-claim"), _REPLACED),
    # Its own alarm, and those of others that it had when it was removed, are taken back.
    "corrupt": {**_REPLACED, "etcd disarm": 1},
    "full": {"etcd compact": 1, "etcd defragment": 5},
    **dict.fromkeys(("delete-object", "orphan-object", "relabel"), _MADE_AGAIN),
    "edit-object": _EDITED,
    **dict.fromkeys(("edit", "delete-cr", "recreate-cr"), None),
}

#: Who leads is restarted last, and that is chance: one is restarted instead of another.
_WHOEVER: Final = frozenset({"delete pods"})

#: In the status of a cluster whose only member sleeps.
_ASLEEP: Final = '"doing":"asleep"'

#: Laws without whose being kept there is no end to compare.
_ENDLESS: Final = frozenset({"L0", "K8"})


def differences(reference: Life, life: Life) -> tuple[Violation, ...]:
    """Return how a life differs from the calm one in a way that its faults do not excuse."""
    room = room_of(tuple(hit.fault for hit in life.ask.plan.hits))
    if life.hopeless or room is None or any(it.law in _ENDLESS for it in life.violations):
        return ()
    found = [*_excess(reference, life, room), *_ends(reference, life)]
    return tuple(Violation("DIFF", "nobody", life.seconds, it) for it in found)


def room_of(faults: tuple[Fault, ...]) -> Room | None:
    """Return how often more something may be done under some faults together."""
    room = Counter(_ALWAYS)
    for fault in faults:
        act = fault.kind is Kind.ACT and bool(fault.details)
        one = ACTS.get(fault.details[0], _NONE) if act else FAMILIES[fault.family]
        if one is None or "inf" in fault.details:
            return None
        room.update(one)
    return room


def _excess(reference: Life, life: Life, room: Room) -> Iterator[str]:
    """Yield what was done more often than the faults make room for."""
    more: Counter[str] = Counter()
    names: dict[str, list[str]] = {}
    for act, times in sorted(life.acts.items()):
        if times > reference.acts.get(act, 0):
            more[_sort(act)] += times - reference.acts.get(act, 0)
            names.setdefault(_sort(act), []).append(act)
    for act, times in reference.acts.items():
        if _sort(act) in _WHOEVER:
            more[_sort(act)] -= max(times - life.acts.get(act, 0), 0)
    for sort, times in more.items():
        if times > room.get(sort, 0):
            allowed = room.get(sort, 0)
            yield f"{', '.join(names[sort])}: {times} more than in calm, of {allowed} allowed"


def _sort(act: str) -> str:
    """Return what is done, without to whom.

    >>> _sort("delete pods shop-1"), _sort("etcd compact")
    ('delete pods', 'etcd compact')
    """
    return " ".join(act.split()[:2])


def _ends(reference: Life, life: Life) -> Iterator[str]:
    for name in sorted(reference.end.keys() | life.end.keys()):
        calm, now = reference.end.get(name), life.end.get(name)
        if calm is None or now is None:
            yield f"{name} is {'missing' if now is None else 'left'} at the end"
        elif calm != now and not _forgot_asleep(life, now):
            yield f"{name} ends in another way: {_first_difference(calm, now)}"


def _forgot_asleep(life: Life, now: str) -> bool:
    """Tell whether an older operator rewrote a status while nobody was awake to tell it anew."""
    older = any(hit.fault.family is Family.UPGRADE for hit in life.ask.plan.hits)
    return older and _ASLEEP in now


def _first_difference(one: str, other: str) -> str:
    """Return the surroundings of the first place where two texts differ."""
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    start = max(place - 40, 0)
    return f"…{one[start : place + 60]}… and now …{other[start : place + 60]}…"
