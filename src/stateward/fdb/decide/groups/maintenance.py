"""Whose maintenance a zone is under, and when ours begins, is renewed and ends.

A database that is told that a zone may be away copies no data for it. So it is told before pods of
that zone are made anew, and told otherwise as soon as their processes are back. What is meant to be
told is on record first (``status.maintenanceModeInfo``): whoever comes after a crash knows by it
what is ours to end. What others told is theirs: it is respected, and not ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final, TypeAlias

from msgspec import UNSET

from stateward.core.facts import Unknown
from stateward.core.moments import from_rfc3339, to_rfc3339
from stateward.fdb.api.automation import MaintenanceModeOptions
from stateward.fdb.api.status import MaintenanceModeInfo
from stateward.fdb.decide.groups.pod_updates import PodUpdatePlan
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.listing import some_of
from stateward.fdb.status.maintenance import Maintenance, maintenance
from stateward.fdb.views import ClusterView, GroupView

OURS: Final = "operator"
OTHERS: Final = "others"
#: Seconds after which a command has arrived or never will: whoever runs fdbcli ends it before.
SETTLED: Final = 60.0
#: So many times as long as is asked for pods may take; then their failure is one, and data is
#: copied for them.
LONGEST: Final = 3
#: Seconds before its end at which it is renewed, at most.
_MARGIN: Final = 60.0
#: Seconds by which what is left may be more than was asked for: clocks of databases are their own.
_SLACK: Final = 5.0
_AGAIN: Final = 15.0
_SHOWN: Final = 3
#: What is to be done where others are at work in a zone.
OVER: Final = "wait until they are through; if nobody is at work there: maintenance off, in fdbcli"


@dataclass(frozen=True, slots=True)
class Noted:
    """What is on record: a zone, since when, whose pods are made anew, for how long, and whose."""

    zone: str
    since: float
    groups: frozenset[str]
    seconds: int
    ours: bool = True

    @property
    def info(self) -> MaintenanceModeInfo:
        """The same as the status has it."""
        return MaintenanceModeInfo(
            start_timestamp=to_rfc3339(self.since),
            zone_id=self.zone,
            process_groups=tuple(sorted(self.groups)),
            seconds=self.seconds,
            by=OURS if self.ours else OTHERS,
        )


# ------------------------------------------------------------------ what may be done
@dataclass(frozen=True, slots=True)
class Note:
    """Have it on record; nobody is told yet."""

    noted: Noted


@dataclass(frozen=True, slots=True)
class Begin:
    """Tell the database, of what is on record."""

    noted: Noted
    #: What for, in words.
    why: str


@dataclass(frozen=True, slots=True)
class End:
    """Tell the database that it is over."""

    noted: Noted
    why: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Take it off the record: it is over, or never was."""

    why: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Go no further with it for some seconds."""

    after: float
    reason: str
    why: str
    #: What a person may do about it.
    hint: str = ""


Move: TypeAlias = Note | Begin | End | Forget | Hold


def noted_of(info: MaintenanceModeInfo | None) -> Noted | None:
    """Return what is on record; what another operator wrote there, or nobody can read, is not."""
    if info is None or info.by not in (OURS, OTHERS) or not info.zone_id:
        return None
    try:
        since = from_rfc3339(info.start_timestamp or "")
    except ValueError:
        return None
    ours = info.by == OURS
    return Noted(info.zone_id, since, frozenset(info.process_groups), info.seconds, ours)


def _options(view: ClusterView) -> MaintenanceModeOptions:
    return view.spec.automation_options.maintenance_mode_options


# ------------------------------------------------------------------ before pods go
def before_taking(view: ClusterView, plan: PodUpdatePlan) -> Move | None:
    """Return what must be done before the pods of a plan go; None: they may.

    Where no storage server goes nobody need be told: only for these data is copied. Of pods in
    several zones, or in one that nobody knows, the database cannot be told.
    """
    options = _options(view)
    stores = any(it.process_class is ProcessClass.STORAGE for it in plan.obsolete)
    if not options.use_maintenance_mode_checker or not stores or not plan.zone:
        return None
    found, noted = maintenance(view.database), noted_of(view.status.maintenance_mode_info)
    if isinstance(found, Unknown):
        return Hold(_AGAIN, "MaintenanceUnknown", _unknown(found))
    mine = noted if noted is not None and noted.ours else None
    names = frozenset(str(it.id) for it in plan.obsolete)
    seconds = options.maintenance_mode_time_seconds
    fresh = Noted(plan.zone, view.now, names, seconds)
    if found.value is not None:
        return _while_on(found.value, mine, fresh)
    return _while_off(view, mine, fresh)


def _unknown(fact: Unknown) -> str:
    return f"nobody knows which zone is under maintenance: {fact.reason}"


def _while_on(active: Maintenance, mine: Noted | None, fresh: Noted) -> Move | None:
    if active.zone != fresh.zone:
        is_mine = mine is not None and mine.zone == active.zone
        return Hold(_AGAIN, "ZoneUnderMaintenance", str(active), "" if is_mine else OVER)
    if mine is None or mine.zone != fresh.zone:
        return None  # somebody let this very zone be away, which is all that is needed
    if not fresh.groups <= mine.groups:
        return Note(replace(mine, groups=mine.groups | fresh.groups))
    if active.seconds < _margin(mine):
        return Begin(mine, "too little time is left for pods to go")
    return None


def _while_off(view: ClusterView, mine: Noted | None, fresh: Noted) -> Move:
    if mine is not None and mine.zone != fresh.zone and view.now - mine.since < SETTLED:
        words = f"zone {mine.zone} is on record: the database may yet be told of it"
        return Hold(SETTLED - (view.now - mine.since), "MaintenanceUnsettled", words)
    known = mine is not None and mine.zone == fresh.zone and mine.seconds == fresh.seconds
    if mine is None or not known or not fresh.groups <= mine.groups:
        return Note(fresh)
    return Begin(mine, f"pods of {_names(mine.groups)} are made anew")


def _margin(noted: Noted) -> float:
    return min(_MARGIN, noted.seconds / 3)


# ------------------------------------------------------------------ afterwards
def check(view: ClusterView, *, wants: str) -> Move | None:
    """Return what becomes of what is on, or on record; None: nothing, or there is none.

    ``wants`` is the zone whose pods may go right now.
    """
    found, noted = maintenance(view.database), noted_of(view.status.maintenance_mode_info)
    if isinstance(found, Unknown):
        words = _unknown(found)
        return None if noted is None else Hold(_AGAIN, "MaintenanceUnknown", words)
    active = found.value
    if noted is None or not noted.ours:
        return _of_others(view, noted, active)
    if active is None:
        return _not_on(view, noted, is_wanted=wants == noted.zone)
    if active.zone != noted.zone or active.seconds > noted.seconds + _SLACK:
        return Forget(f"somebody else has told the database since: {active}")
    return _on(view, noted, active, is_wanted=wants == noted.zone)


def _not_on(view: ClusterView, noted: Noted, *, is_wanted: bool) -> Move | None:
    """Judge what is on record and not on: it has yet to begin, or it is over.

    It is not begun again for pods that are away: a database ends it early when another zone fails,
    and must then be free to copy what both have.
    """
    left = SETTLED - (view.now - noted.since)
    if left <= 0:
        gone = away(view, noted)
        late = f", and these are not back: {_names(_ids(gone))}" if gone else ""
        return Forget(f"zone {noted.zone} is no longer under maintenance{late}")
    if is_wanted:
        return None
    words = f"maintenance of zone {noted.zone} is on record: the database may yet be told of it"
    return Hold(left, "MaintenanceUnsettled", words)


def _on(view: ClusterView, noted: Noted, active: Maintenance, *, is_wanted: bool) -> Move | None:
    gone = away(view, noted)
    if not gone:
        return None if is_wanted else End(noted, "its processes are back")
    names, lasts = _names(_ids(gone)), view.now - noted.since
    may_last = lasts < (LONGEST - 1) * noted.seconds
    if active.seconds < _margin(noted) and may_last and _options(view).use_maintenance_mode_checker:
        return Begin(noted, f"{names} are not back yet")
    words = f"{active}: waiting for {names} to be back"
    if not may_last:
        words += f"; that takes too long, so it is not renewed: from then on {names} have failed"
    return Hold(_AGAIN, "ZoneMaintained", words)


def _of_others(view: ClusterView, noted: Noted | None, active: Maintenance | None) -> Move | None:
    """Judge what others told: it is ended where that is asked for and all there started anew."""
    reset = _options(view).reset_maintenance_mode
    if active is None or not reset:
        if noted is not None:
            return Forget("what others told the database is over, or theirs to end")
        return None if active is None else _respected(active, "somebody else said so")
    here = [it for it in view.staying() if _stores_in(it, active.zone)]
    if not here:
        return _respected(active, "no storage server of this cluster is there")
    if noted is None or noted.zone != active.zone:
        return Note(Noted(active.zone, view.now, _ids(here), ceil(active.seconds), ours=False))
    since = _restarted(view, noted, here)
    late = [it for it in here if not _started_since(it, view.now, _counts_from(it, since))]
    if late:
        return _respected(active, f"it is ended when these have started anew: {_names(_ids(late))}")
    return End(noted, "all storage servers there have started anew, and resetMaintenanceMode is on")


def _restarted(view: ClusterView, noted: Noted, here: Sequence[GroupView]) -> float:
    """Return from when on a start in the zone counts: where all were started anew, it was by us.

    Whoever works in a zone ends nobody elsewhere.
    """
    ids = _ids(here)
    others = [it for it in view.staying() if _stores(it) and str(it.id) not in ids]
    told = [it.entry.uptime_seconds for one in others for it in one.processes]
    uptimes = [it for it in told if it is not UNSET]
    oldest = view.now - max(uptimes, default=view.now)
    return oldest + SETTLED if oldest > noted.since else noted.since


def _counts_from(group: GroupView, since: float) -> float:
    """Return the same for one group: its pod may have been made anew by our own order."""
    pod, until = group.pod, group.ordered_until
    is_ours = pod is not None and until is not None and until > since
    return max(since, pod.created + SETTLED) if pod is not None and is_ours else since


def _stores(group: GroupView) -> bool:
    return group.process_class is ProcessClass.STORAGE


def _stores_in(group: GroupView, zone: str) -> bool:
    return _stores(group) and group.zone == zone


def _respected(active: Maintenance, why: str) -> Hold:
    words = f"{active} ({why}): nothing that keeps data is taken from any other"
    return Hold(min(_MARGIN, max(1.0, active.seconds)), "ZoneUnderMaintenance", words, OVER)


# ------------------------------------------------------------------ who is back
def away(view: ClusterView, noted: Noted) -> tuple[GroupView, ...]:
    """Return the groups on record that are not back; whoever shall go is not waited for."""
    return tuple(
        it for it in view.staying() if str(it.id) in noted.groups and not _is_there(it, view.now)
    )


def _is_there(group: GroupView, now: float) -> bool:
    """Tell whether a pod stays, and all its processes report: those of this pod."""
    pod = group.pod
    if pod is None or pod.terminating_since is not None or group.obsolete_pod == pod.uid:
        return group.leaving
    return group.leaving or _started_since(group, now, pod.created)


def _started_since(group: GroupView, now: float, moment: float) -> bool:
    uptimes = [it.entry.uptime_seconds for it in group.processes]
    mine = [it for it in uptimes if it is not UNSET and it <= now - moment]
    return len(mine) >= group.servers


def _ids(groups: Iterable[GroupView]) -> frozenset[str]:
    return frozenset(str(it.id) for it in groups)


def _names(ids: Iterable[str]) -> str:
    return some_of(sorted(ids), _SHOWN)
