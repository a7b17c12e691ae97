"""For which generation of the spec what is true: how users see whether all is as they asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final

import msgspec

from stateward.core.facts import Known
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import Generations
from stateward.fdb.decide.clients import VersionChange, of_other_patch, version_change
from stateward.fdb.decide.groups.additions import missing
from stateward.fdb.decide.groups.listed import listed
from stateward.fdb.status.health import is_available
from stateward.fdb.views import ClusterView, GroupView

#: Told, but no reason to call a group unwell: all others are.
HARMLESS: Final = frozenset({
    Kind.READY, Kind.PROCESS_HAS_HIGH_RUN_LOOP_BUSY, Kind.NODE_TAINT_DETECTED,
})  # fmt: skip
#: What does not say that something is left to do which others wait for.
_WAITED_FOR_BY_NOBODY: Final = frozenset({
    "reconciled", "has_pending_removal", "needs_detection_job_update",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Differences:
    """What others found that is not as asked."""

    configuration: bool = False
    coordinators: bool = False
    config_map: bool = False
    services: bool = False
    locks: bool = False
    #: The job that looks for missing processes; nothing else depends on it.
    detection_job: bool = False
    #: The names of groups that are not made from what they would be made from now.
    outdated: frozenset[str] = field(default_factory=frozenset)


def is_well(group: GroupView) -> bool:
    """Tell whether nothing is wrong with a group, and somebody has looked."""
    return bool(group.conditions) and not group.conditions.keys() - HARMLESS


def reconciled_groups(view: ClusterView, outdated: Container[str] = ()) -> int:
    """Return how many groups are as asked, and shall stay."""
    return sum(1 for it in view.staying() if is_well(it) and it.name not in outdated)


def generations(view: ClusterView, differences: Differences) -> Generations:
    """Return for which generation what is true; what is not true has 0.

    Groups whose data has left them and whose pods do not go hold nothing up: that may take for
    ever, and nobody waits for them. Nor does anybody wait for the job that looks for missing
    processes: whether the database is as asked is judged by what is reconciled.
    """
    wrong: set[Kind] = set().union(*(it.conditions for it in view.unwell if not it.marked))
    true = {
        "needs_configuration_change": differences.configuration or not view.configured,
        "needs_coordinator_change": differences.coordinators,
        "needs_bounce": Kind.INCORRECT_COMMAND_LINE in wrong or _runs_another(view),
        "needs_pod_deletion": bool(differences.outdated) or Kind.INCORRECT_POD_SPEC in wrong,
        "needs_shrink": _shrinks(view),
        "needs_grow": bool(missing(view)),
        "needs_monitor_conf_update": differences.config_map or Kind.INCORRECT_CONFIG_MAP in wrong,
        "missing_database_status": not _is_available(view),
        "has_extra_listeners": _listens_twice(view),
        "needs_service_update": differences.services or Kind.MISSING_SERVICE in wrong,
        "has_unhealthy_process": not all(map(is_well, view.staying())),
        "needs_lock_configuration_changes": differences.locks,
    }
    is_done, going = not any(true.values()), any(map(_is_going, view.groups))
    return Generations(
        reconciled=view.generation if is_done else view.status.generations.reconciled,
        has_pending_removal=view.generation if going else 0,
        needs_detection_job_update=view.generation if differences.detection_job else 0,
        **{name: view.generation for name, it in true.items() if it},
    )


def is_as_asked(stages: Generations, generation: int) -> bool:
    """Tell whether all is as asked now; that it once was stays on record, whatever came since."""
    return is_at_rest(stages, generation) and not stages.needs_detection_job_update


def is_at_rest(stages: Generations, generation: int) -> bool:
    """Tell whether all is as asked now but for what nothing waits for."""
    told = msgspec.structs.asdict(stages)
    wrong = told.keys() - _WAITED_FOR_BY_NOBODY
    return stages.reconciled == generation and not any(told[it] for it in wrong)


def _runs_another(view: ClusterView) -> bool:
    """Tell whether a release runs that is not the one asked for, and no pod has yet to change."""
    is_far = version_change(view) in (VersionChange.UPGRADE, VersionChange.REFUSED)
    return is_far or bool(of_other_patch(view))


def _shrinks(view: ClusterView) -> bool:
    """Tell whether there are more groups than shall be: named, marked and still there, or extra."""
    there = Counter(it.process_class for it in view.staying())
    extra = any(many > view.counts.get(kind, 0) for kind, many in there.items())
    stays = any(it.marked and not _is_going(it) for it in view.groups)
    # Whoever has another prefix is to be replaced, whatever else is right about it.
    prefix = view.spec.process_group_id_prefix
    renamed = any(it.id.prefix != prefix for it in view.staying())
    return extra or stays or renamed or bool(listed(view).to_mark)


def _is_going(group: GroupView) -> bool:
    return group.marked and group.has(Kind.RESOURCES_TERMINATING)


def _is_available(view: ClusterView) -> bool:
    found = is_available(view.database)
    return isinstance(found, Known) and found.value


def _listens_twice(view: ClusterView) -> bool:
    """Tell whether processes listen as they shall not, or not only as they shall."""
    told, now = view.status.required_addresses, view.transport  # a status may have been wiped
    if view.spec.main_container.enable_tls:
        return told.non_tls or now.plain
    return told.tls or now.tls
