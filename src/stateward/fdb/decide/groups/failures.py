"""Which process groups have failed for so long that they are replaced without being asked.

Nothing is replaced unless it is enabled, only so many at a time, and only while the database is
known to serve: a database that is away is no reason to throw parts of it away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.questions import crash_loops, is_target
from stateward.fdb.decide.held import Held
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.status.health import is_available
from stateward.fdb.status.maintenance import Maintenance, maintenance
from stateward.fdb.views import ClusterView, GroupView

#: What does not go away by itself, and what another group would not have. A condition that needs
#: a patience of its own, as taints of nodes do, is asked for where ``failed`` asks for these.
FAILURES: Final = (
    Kind.MISSING_PROCESSES,
    Kind.POD_FAILING,
    Kind.POD_PENDING,
    Kind.MISSING_POD,
    Kind.MISSING_PVC,
    Kind.MISSING_SERVICE,
    Kind.PROCESS_IS_MARKED_AS_EXCLUDED,
    Kind.PROCESS_HAS_IO_ERROR,
    Kind.SIDECAR_UNREACHABLE,
)


@dataclass(frozen=True, slots=True)
class FailedGroup:
    """A group that has failed: what is wrong with it, and for how many seconds."""

    group: GroupView
    condition: Kind
    lasts: float


def failed(view: ClusterView) -> tuple[FailedGroup, ...]:
    """Return who has failed for too long, longest first; whoever shall fail or go has not."""
    patience = view.spec.automation_options.replacements.failure_detection_time_seconds
    found = []
    for it in view.unwell:
        worst = None if it.marked or crash_loops(view.spec, it.id) else _worst(it, view.now)
        if worst is not None and worst.lasts >= patience:
            found.append(worst)
    return tuple(sorted(found, key=lambda it: (-it.lasts, it.group.name)))


def _worst(group: GroupView, now: float) -> FailedGroup | None:
    """Return what has been wrong with a group for longest."""
    told = [(lasts, it) for it in FAILURES if (lasts := group.lasts(it, now)) is not None]
    if not told:
        return None
    lasts, kind = max(told, key=lambda it: it[0])
    return FailedGroup(group, kind, lasts)


def to_replace(view: ClusterView) -> tuple[FailedGroup, ...]:
    """Return the failed groups that are marked now, so that others take their place."""
    return judged(view)[0]


def held(view: ClusterView) -> tuple[Held, ...]:
    """Return the failed groups that are not marked now, and why."""
    return judged(view)[1]


def judged(view: ClusterView) -> tuple[tuple[FailedGroup, ...], tuple[Held, ...]]:
    """Return whom to mark now, and who has to wait for what."""
    some = failed(view)
    if some and (why := _not_at_all(view)):
        return (), tuple(Held(it.group.name, why) for it in some)
    at_work = maintenance(view.database)
    under_way = _UnderWay(view)
    chosen, waiting = [], []
    for it in some:
        why = _objection(view, it.group, at_work) or under_way.objection(it.group)
        if why:
            waiting.append(Held(it.group.name, why))
        else:
            chosen.append(it)
            under_way.add(it.group)
    return tuple(chosen), tuple(waiting)


def _not_at_all(view: ClusterView) -> str:
    """Return why no group is replaced now; nothing: groups are."""
    if not view.spec.automation_options.replacements.enabled:
        return "automatic replacements are not enabled"
    if view.spec.buggify.empty_monitor_conf:
        return "no process shall run"
    available = is_available(view.database)
    if isinstance(available, Unknown):
        return f"nobody knows whether the database is available: {available.reason}"
    return "" if available.value else "the database is not available"


def _objection(view: ClusterView, group: GroupView, at_work: Fact[Maintenance | None]) -> str:
    """Return why one group is not replaced, whatever becomes of others."""
    automation = view.spec.automation_options
    if is_target(automation.cancel_replacements_for_process_groups, group.id):
        return "it is never to be replaced"
    if view.staging and group.processes:  # a sidecar without its new image fails, and all would
        return "an upgrade is staged, and its processes run"
    if not automation.use_localities_for_exclusion and not group.addresses:
        return "it has no address that it could be excluded by"
    if group.process_class is not ProcessClass.STORAGE:
        return ""
    if not isinstance(at_work, Known):
        return f"nobody knows which zone is under maintenance: {at_work.reason}"
    zone = None if at_work.value is None else at_work.value.zone
    return "its zone is under maintenance" if zone and zone == group.zone else ""


class _UnderWay:
    """Replacements that have begun: groups, or fault domains, that may not be too many."""

    def __init__(self, view: ClusterView) -> None:
        options = view.spec.automation_options.replacements
        self._by_zone = options.fault_domain_based_replacements
        self._limit = options.max_concurrent_replacements
        self._places = set(self._begun(view))

    def _begun(self, view: ClusterView) -> Iterator[str]:
        return (self._place(it) for it in view.groups if it.marked and not it.holds_nothing)

    def objection(self, group: GroupView) -> str:
        """Return why one more cannot be replaced now; nothing: it can."""
        if len(self._places | {self._place(group)}) <= self._limit:
            return ""
        what = "fault domains have" if self._by_zone else "process groups are"
        return f"as many {what} being replaced as may be: {self._limit}"

    def add(self, group: GroupView) -> None:
        """Count one more."""
        self._places.add(self._place(group))

    def _place(self, group: GroupView) -> str:
        # One that never said where it is may be anywhere, so it counts for itself.
        return f"zone {group.zone}" if self._by_zone and group.zone else group.name
