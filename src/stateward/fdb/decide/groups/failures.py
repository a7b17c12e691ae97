"""Which process groups have failed for so long that they are replaced without being asked.

Nothing is replaced unless it is enabled, only so many at a time, and only while the database is
known to serve: a database that is away is no reason to throw parts of it away. When much fails at
once, or many nodes are tainted, that is no matter of single groups, and nobody is replaced at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from stateward.core.facts import Fact, Known, Unknown
from stateward.core.moments import from_rfc3339
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.questions import crash_loops, is_target, pending_seconds
from stateward.fdb.decide.held import Held
from stateward.fdb.model.listing import some_of
from stateward.fdb.status.health import is_available
from stateward.fdb.status.maintenance import Maintenance, maintenance
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.conditions import find
from stateward.kube.meta import Condition

#: What does not go away by itself, and what another group would not have. Taints of nodes have a
#: patience of their own.
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


#: Of how many fault domains some may have failed, or be tainted, before it is no matter of groups.
_FEW: Final = 2
_SHOWN: Final = 3
#: Seconds for which a database must serve before anybody is replaced: who was away with it may be
#: about to come back, too, and has been missing only because nobody could see it.
_BACK: Final = 120.0


@dataclass(frozen=True, slots=True)
class FailedGroup:
    """A group that has failed: what is wrong with it, and for how many seconds."""

    group: GroupView
    condition: Kind
    lasts: float


def failed(view: ClusterView) -> tuple[FailedGroup, ...]:
    """Return who has failed for too long, longest first; whoever shall fail or go has not."""
    return _failed(view, _patience(view))


def _failed(view: ClusterView, patience: Mapping[Kind, float]) -> tuple[FailedGroup, ...]:
    found = []
    for it in view.unwell:
        if not it.marked and not crash_loops(view.spec, it.id):
            found += _worst(it, patience, view.now)
    return tuple(sorted(found, key=lambda it: (-it.lasts, it.group.name)))


def _patience(view: ClusterView) -> dict[Kind, float]:
    """Return for how long each condition may last."""
    options = view.spec.automation_options.replacements
    taints = {Kind.NODE_TAINT_REPLACING: float(options.taint_replacement_time_seconds)}
    return _usual(view) | taints


def _usual(view: ClusterView) -> dict[Kind, float]:
    options = view.spec.automation_options.replacements
    return dict.fromkeys(FAILURES, float(options.failure_detection_time_seconds))


def _worst(group: GroupView, patience: Mapping[Kind, float], now: float) -> list[FailedGroup]:
    """Return what of all that lasts for too long has been wrong with a group for longest."""
    told = [
        FailedGroup(group, kind, lasts)
        for kind, most in patience.items()
        if (lasts := group.lasts(kind, now)) is not None and lasts >= most
    ]
    return [max(told, key=lambda it: it.lasts)] if told else []


def storm(view: ClusterView) -> str:
    """Return that too many fault domains are tainted, or have failed; nothing: they are few.

    Who never ran is nowhere yet, and who goes is no longer missed.
    """
    options = view.spec.automation_options.replacements
    here = [it for it in view.staying() if it.zone]
    every = {it.zone for it in here}
    tainted = {it.zone for it in here if it.has(Kind.NODE_TAINT_REPLACING)}
    limit = allowed(options.max_fault_domains_with_tainted_process_groups, len(every))
    if len(tainted) > limit:
        return f"{len(tainted)} of {len(every)} fault domains are tainted, and {limit} may be"
    few = max(len(every) // _FEW, 1)
    # However many may be tainted: whose node is left by plan serves, and who has failed does not.
    broken = {it.group.zone for it in _failed(view, _usual(view))} - {""}
    if len(broken) > few:
        return f"{len(broken)} of {len(every)} fault domains have failed"
    wrong = tainted | broken
    if len(wrong) > max(limit, few):
        return f"{len(wrong)} of {len(every)} fault domains have failed or are tainted"
    return ""


def allowed(said: int | str, every: int) -> int:
    """Return how many of all fault domains may be tainted; of a share at least one may.

    >>> [allowed(it, 14) for it in (0, 3, "0%", "10%", "25%", "100%")]
    [0, 3, 0, 1, 4, 14]
    """
    if isinstance(said, int):
        return said
    share = int(said.removesuffix("%"))
    return max(1, (every * share + 50) // 100) if share else 0


def to_replace(view: ClusterView) -> tuple[FailedGroup, ...]:
    """Return the failed groups that are marked now, so that others take their place."""
    return judged(view)[0]


def held(view: ClusterView) -> tuple[Held, ...]:
    """Return the failed groups that are not marked now, and why."""
    return judged(view)[1]


def judged(view: ClusterView) -> tuple[tuple[FailedGroup, ...], tuple[Held, ...]]:
    """Return whom to mark now, and who has to wait for what."""
    never = kept(view)
    waiting = [Held(it.group.name, "it is never to be replaced") for it in never]
    some = [it for it in failed(view) if it not in never]
    if some and (why := _not_at_all(view)):
        return (), (*waiting, *(Held(it.group.name, why) for it in some))
    at_work = maintenance(view.database)
    under_way = _UnderWay(view)
    chosen = []
    for it in some:
        why = _objection(view, it.group, at_work) or under_way.objection(it.group)
        if why:
            waiting.append(Held(it.group.name, why))
        else:
            chosen.append(it)
            under_way.add(it.group)
    return tuple(chosen), tuple(waiting)


def kept(view: ClusterView) -> tuple[FailedGroup, ...]:
    """Return the failed groups that are never to be replaced, whatever becomes of the rest."""
    asked = view.spec.automation_options.cancel_replacements_for_process_groups
    return tuple(it for it in failed(view) if is_target(asked, it.group.id))


def _not_at_all(view: ClusterView) -> str:
    """Return why no group is replaced now; nothing: groups are."""
    if not view.spec.automation_options.replacements.enabled:
        return "automatic replacements are not enabled"
    if view.spec.buggify.empty_monitor_conf:
        return "no process shall run"
    if why := storm(view):
        return why
    available = is_available(view.database)
    if isinstance(available, Unknown):
        return f"nobody knows whether the database is available: {available.reason}"
    return _came_back(view) if available.value else "the database is not available"


def _came_back(view: ClusterView) -> str:
    """Return that the database was away until just now, by what is on record; nothing: it was not.

    Of a database that was never told of nothing is known, and nobody was missed then. What became
    of it while nobody looked is on no record: where a whole site was dark, we were, too.
    """
    if view.watched < _BACK:
        return "the operator has looked at it for a moment only, and others may be coming back"
    told = find(view.status.conditions, "Available")
    if told is None:
        return ""
    if told.status == "True" and not 0 <= view.now - _since(told) < _BACK:
        return ""
    return "the database was away until a moment ago, and others may be coming back"


def _since(told: Condition) -> float:
    """Return since when it is so.

    What a hand wrote, or a clock that was ahead, is older than our looks: we write what changes.
    """
    try:
        return from_rfc3339(told.last_transition_time or "")
    except ValueError:
        return -inf


def _objection(view: ClusterView, group: GroupView, at_work: Fact[Maintenance | None]) -> str:
    """Return why one group is not replaced, whatever becomes of others."""
    if view.staging and group.processes:  # a sidecar without its new image fails, and all would
        return "an upgrade is staged, and its processes run"
    if not view.spec.automation_options.use_localities_for_exclusion and not group.addresses:
        return "it has no address that it could be excluded by"
    if why := _vain(view, group):
        return why
    if not isinstance(at_work, Known):
        return f"nobody knows which zone is under maintenance: {at_work.reason}"
    zone = None if at_work.value is None else at_work.value.zone
    return "its zone is under maintenance" if zone and zone == group.zone else ""


def _vain(view: ClusterView, group: GroupView) -> str:
    """Return why another group in its place would not come, or would not be any better off.

    What keeps one from being made, as a quota that is used up does, keeps the next one, too; and
    each replacement asks for more. Nodes that have no room for one class may have it for another.
    """
    if _was_there(group):
        kind = group.process_class
        late = [it for it in view.staying() if _does_not_come(view, it)]
        unborn = [it for it in late if it.pod is None or it.process_class is kind]
        names = some_of([str(it.id) for it in unborn], _SHOWN)
        return f"others have yet to come: {names}" if unborn else ""
    return "" if group.pod is not None else "its pod was never made, and another's would not be"


def _was_there(group: GroupView) -> bool:
    return group.reported or bool(group.processes)


def _does_not_come(view: ClusterView, group: GroupView) -> bool:
    """Tell whether a group has never been there, though it had the time for it."""
    late = view.now - group.created > pending_seconds(view.spec)
    return late and not _was_there(group) and not crash_loops(view.spec, group.id)


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
