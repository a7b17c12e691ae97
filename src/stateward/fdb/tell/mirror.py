"""Process groups in the status of their cluster: as others have always read them there.

What is there is a picture of the groups' own objects, and is never read back, but once: a cluster
that was made by the compatible operator has its groups nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from stateward.core.moments import from_rfc3339, to_rfc3339
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.status import FoundationDBClusterStatus, GroupCondition, GroupMirror
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.tell.generations import is_well
from stateward.fdb.views import ClusterView, GroupView

LIMIT: Final = 512 * 1024


# ------------------------------------------------------------------ there
def mirror(view: ClusterView, limit_bytes: int = LIMIT) -> tuple[tuple[GroupMirror, ...], bool]:
    """Return the groups in a few words, and whether some are left out: those that are well.

    An object may not be larger than a megabyte or so, all of it.
    """
    before = {it.process_group_id: it for it in view.status.process_groups}
    ordered = sorted(view.groups, key=_order)
    every = [_mirrored(view, it, before) for it in ordered]
    if _size(every) <= limit_bytes:
        return tuple(every), False
    unwell = [it for it, group in zip(every, ordered, strict=True) if not _is_dull(group)]
    return _fitting(unwell, limit_bytes), True


def _order(group: GroupView) -> tuple[str, int, str]:
    return group.process_class, group.id.number, group.id.prefix


def _is_dull(group: GroupView) -> bool:
    return is_well(group) and not group.marked


def _mirrored(
    view: ClusterView, group: GroupView, before: Mapping[str, GroupMirror]
) -> GroupMirror:
    name, marked, excluded = str(group.id), group.marked_since, None
    last = before.get(name, GroupMirror())
    if group.excluded:
        excluded = last.exclusion_timestamp or to_rfc3339(view.now)
    wrong = [
        GroupCondition(type=kind, timestamp=_since(view, last, kind, since))
        for kind, since in sorted(group.conditions.items())
        if kind is not GroupConditionType.READY  # others read every condition as a complaint
    ]
    return GroupMirror(
        process_group_id=name,
        process_class=group.process_class,
        addresses=group.addresses,
        removal_timestamp=None if marked is None else to_rfc3339(marked),
        exclusion_timestamp=excluded,
        exclusion_skipped=group.skipped,
        process_group_conditions=tuple(wrong),
        fault_domain=group.zone,
    )


def _since(view: ClusterView, last: GroupMirror, kind: GroupConditionType, since: float) -> int:
    """Return since when a condition is true; what is new to us may have been told before.

    A group whose own status is not seen yet has its conditions since now, with every look: each
    would be another status, which wakes whoever looks.
    """
    told = {it.type: it.timestamp for it in last.process_group_conditions}
    return told.get(kind, int(since)) if since >= view.now else int(since)


def _size(some: Sequence[GroupMirror]) -> int:
    """Return how long groups are together, each with a comma."""
    return len(msgspec.json.encode(some)) - 1


def _fitting(some: Iterable[GroupMirror], limit: int) -> tuple[GroupMirror, ...]:
    found, left = [], limit
    for it in some:
        left -= _size([it])
        if left < 0:
            break
        found.append(it)
    return tuple(found)


# ------------------------------------------------------------------ and back, once
@dataclass(frozen=True, slots=True)
class Import:
    """A group of before: who it is, since when it shall go, and since when it holds nothing."""

    id: ProcessGroupID
    removal_timestamp: float | None = None
    exclusion_timestamp: float | None = None
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Garbage:
    """An entry that is no group, and why."""

    entry: str
    why: str


@dataclass(frozen=True, slots=True)
class Imports:
    """All groups that a status tells of, and what of it tells of none."""

    groups: tuple[Import, ...] = ()
    garbage: tuple[Garbage, ...] = ()


def imported(status: FoundationDBClusterStatus) -> Imports:
    """Return the groups that another operator told of."""
    found: dict[tuple[ProcessClass, int], Import] = {}
    garbage = []
    for it in status.process_groups:
        try:
            read = _read(it)
        except (ValueError, OverflowError) as error:
            garbage.append(Garbage(it.process_group_id, str(error)))
            continue
        # Pods have no prefix in their names, so two of one class and number would be one.
        if found.setdefault((read.id.process_class, read.id.number), read) is not read:
            garbage.append(Garbage(it.process_group_id, "another one has its class and number"))
    return Imports(tuple(found.values()), tuple(garbage))


def _read(it: GroupMirror) -> Import:
    name = ProcessGroupID.parse(it.process_group_id)
    if it.process_class and it.process_class != name.process_class:
        raise ValueError(f"its class is {it.process_class}, and its id says otherwise")
    return Import(
        name, _moment(it.removal_timestamp), _moment(it.exclusion_timestamp), it.exclusion_skipped
    )


def _moment(text: str | None) -> float | None:
    """Return a moment; the first of all moments is how some write that there is none."""
    found = from_rfc3339(text) if text else 0.0
    return found if found > 0 else None
