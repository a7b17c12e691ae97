"""Which pods are made anew now because they are not as asked: those of one zone, while all else is.

The order is always the same, so that it can be followed: zones in which something is away already
come first, because they lose least; then by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec import UNSET

from stateward.core.facts import Known
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.questions import keeps_data, pending_seconds
from stateward.fdb.decide.groups.replacing import not_now
from stateward.fdb.decide.held import Held
from stateward.fdb.status.maintenance import maintenance
from stateward.fdb.views import ClusterView, GroupView, PodSeen

#: For how long a pod that is not there holds others up: a database takes a minute to notice.
MISSING: Final = 90.0
#: For how long it is asked whether the processes of a new pod are back, whatever is said of it.
YOUNG: Final = 60.0
#: A zone; of a group that never said where it is, a zone of its own.
_Place: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PodUpdatePlan:
    """Whose pods are made anew now, in which zone (empty: in several), and what holds others."""

    obsolete: tuple[GroupView, ...] = ()
    zone: str = ""
    held: tuple[Held, ...] = ()


def plan(view: ClusterView) -> PodUpdatePlan:
    """Return which pods are made anew now; whether a zone may be lost at all, others ask."""
    wrong = [it for it in view.unwell if _is_wrong(it)]
    if not wrong:
        return PodUpdatePlan()
    if held := tuple(_holding(view)):
        return PodUpdatePlan(held=held)
    free, waiting = _allowed(view, wrong)
    chosen = _chosen(view, free)
    zones = {it.zone for it in chosen}
    return PodUpdatePlan(chosen, zones.pop() if len(zones) == 1 else "", waiting)


def _is_wrong(group: GroupView) -> bool:
    stays = not group.marked and not group.leaving
    return stays and group.has(Kind.INCORRECT_POD_SPEC) and group.pod is not None


# ------------------------------------------------------------------ what holds all of them
def _holding(view: ClusterView) -> Iterator[Held]:
    if view.spec.automation_options.deletion_mode == "None":
        yield Held("", "deletionMode is None: whoever deletes the pods decides when")
    if why := not_now(view):
        yield Held("", why)
    for it in view.staying():
        if why := _away(view, it):
            yield Held(it.name, why)


def _away(view: ClusterView, group: GroupView) -> str:
    """Return why all others wait for a group that is about to go or has just come."""
    pod = group.pod
    if pod is None:
        lasts = group.lasts(Kind.MISSING_POD, view.now)
        return "its pod is missing" if lasts is None or lasts < MISSING else ""
    if pod.terminating_since is not None:
        patience = view.spec.automation_options.ignore_terminating_pods_seconds
        return "its pod terminates" if view.now - pod.terminating_since < patience else ""
    if group.obsolete_pod == pod.uid:
        return "its pod is about to be made anew"
    age = view.now - pod.created
    if (age < YOUNG and not _is_back(group, pod, view.now)) or _comes(view, group, age):
        return "its pod is new, and not all of its processes report yet"
    return ""


def _comes(view: ClusterView, group: GroupView, age: float) -> bool:
    """Tell whether a pod is made as asked, is not back, and may still come."""
    is_away = group.has(Kind.POD_PENDING, Kind.MISSING_PROCESSES)
    is_as_asked = not group.has(Kind.INCORRECT_POD_SPEC)
    return is_as_asked and is_away and age < pending_seconds(view.spec)


def _is_back(group: GroupView, pod: PodSeen, now: float) -> bool:
    """Tell whether all processes report, and those of this pod: an older one started before it."""
    uptimes = [it.entry.uptime_seconds for it in group.processes]
    mine = [it for it in uptimes if it is not UNSET and it <= now - pod.created]
    return len(mine) >= group.servers


# ------------------------------------------------------------------ what holds some
def _allowed(
    view: ClusterView, wrong: Sequence[GroupView]
) -> tuple[list[GroupView], tuple[Held, ...]]:
    """Return whose pods may be made anew, and why others must not."""
    most, unavailable = view.spec.max_zones_with_unavailable_pods, _unavailable(view)
    at_work = maintenance(view.database)
    busy = at_work.value if isinstance(at_work, Known) else None
    stored = {_place(it) for it in wrong if keeps_data(it.process_class)}
    free, held = [], []
    for it in wrong:
        if most is not None and _too_many(_place(it), unavailable, most):
            held.append(Held(it.name, f"{len(unavailable)} zones have pods that are away"))
        elif busy and it.zone != busy.zone and _place(it) in stored:
            held.append(Held(it.name, str(busy)))
        elif it.pod is not None and it.pod.terminating_since is None:
            free.append(it)
    return free, tuple(held)


def _too_many(place: _Place, unavailable: set[_Place], most: int) -> bool:
    """Tell whether one more zone would be too many; one that counts already is none more."""
    return len(unavailable | {place}) > most


def _unavailable(view: ClusterView) -> set[_Place]:
    """Return the zones in which a pod that keeps data is away."""
    return {
        _place(it)
        for it in view.groups
        if keeps_data(it.process_class) and not it.holds_nothing and _is_unavailable(it)
    }


def _is_unavailable(group: GroupView) -> bool:
    away = (Kind.POD_PENDING, Kind.MISSING_PROCESSES, Kind.POD_FAILING)
    return group.pod is None or group.pod.terminating_since is not None or group.has(*away)


# ------------------------------------------------------------------ who is next
def _chosen(view: ClusterView, free: Sequence[GroupView]) -> tuple[GroupView, ...]:
    mode = view.spec.automation_options.deletion_mode
    zones: dict[_Place, list[GroupView]] = defaultdict(list)
    for it in sorted(free, key=_order):
        zones[_place(it)].append(it)
    if mode == "All" or not zones:
        return tuple(sorted(free, key=_order))
    first = min(zones, key=lambda place: (not any(map(_is_unavailable, zones[place])), place))
    return tuple(zones[first][:1] if mode == "ProcessGroup" else zones[first])


def _order(group: GroupView) -> tuple[bool, str, int]:
    return not _is_unavailable(group), group.process_class, group.id.number


def _place(group: GroupView) -> _Place:
    return (group.zone, "") if group.zone else ("", group.name)
