"""The status of a cluster, derived from what was seen and from what the pass said. Pure.

Feeding it its own result, later, gives the same result: at rest nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from stateward.core.facts import Fact, Known
from stateward.core.outcome import Blocked, Outcome, Stop
from stateward.core.version import Version
from stateward.fdb.api import questions
from stateward.fdb.api.database import DatabaseConfiguration
from stateward.fdb.api.status import (
    FoundationDBClusterStatus,
    Health,
    MaintenanceModeInfo,
    Progress,
    RequiredAddresses,
)
from stateward.fdb.decide import configuration, coordinating
from stateward.fdb.decide.coordinating import CoordinatorPlan
from stateward.fdb.decide.operators import acting
from stateward.fdb.decide.tls import stages
from stateward.fdb.decide.tls.stages import Stage
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.intents import Intents
from stateward.fdb.model.locks import Found
from stateward.fdb.status import configuration as told
from stateward.fdb.status import health, movement
from stateward.fdb.status.complaints import is_emulated
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.conditions import conditions_of
from stateward.fdb.tell.doing import awaited, doing, on_the_way
from stateward.fdb.tell.generations import (
    Differences,
    generations,
    is_as_asked,
    reconciled_groups,
)
from stateward.fdb.tell.mirror import mirror
from stateward.fdb.tell.operators import locks_of, synchronization
from stateward.fdb.views import ClusterView
from stateward.kube import conditions
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import Condition

T = TypeVar("T")

#: What stands behind the version where a stand-in runs.
_EMULATED: Final = "EMULATED"
#: The step that waits when all others are through: the status is written once more then.
_LAST: Final = "UpdateStatus"
#: Judged by what steps say: while that is not told, as they were.
_OF_STEPS: Final = frozenset({"Ready", "Progressing"})


@dataclass(frozen=True, slots=True)
class Told:
    """What a pass adds to what was seen."""

    said: Sequence[tuple[str, Outcome]] = ()
    #: Whether something was said that is not worth a word.
    hushed: bool = False
    refused: Sequence[tuple[str, Refusal]] = ()
    #: What held it back a moment ago, and is not known to be over since.
    lately: Sequence[Blocker] = ()
    connection: ConnectionString | None = None
    configured: bool = False
    running: Version | None = None
    adopted_from: str = ""
    progress: Progress | None = None
    #: What is on record of maintenance, if that is new; without a zone: nothing any more.
    maintenance: MaintenanceModeInfo | None = None
    #: What is thought of the coordinators; None: nobody has thought of them yet.
    coordinators: coordinating.CoordinatorPlan | None = None
    #: Whose the lock of the database is; None: nobody has looked.
    locks: Found | None = None
    #: What of the deny list is in the database, and below which prefix; None: as before.
    deny_list: tuple[str, ...] | None = None
    key_prefix: str | None = None
    #: What operators of the database tell each other; None: nobody has looked.
    intents: Intents | None = None
    #: Nothing is said to them any more.
    silenced: bool = False
    #: Whether the job that looks for missing processes is not as asked; None: nobody has looked.
    job_differs: bool | None = None
    #: The spec cannot be honoured, so nothing is as it says.
    invalid: bool = False
    #: Objects that are not as wanted.
    config_map_differs: bool = False
    services_differ: bool = False
    #: Names of groups that are not made from what they would be made from now.
    outdated: frozenset[str] = field(default_factory=frozenset)
    addresses: RequiredAddresses = field(default_factory=RequiredAddresses)
    #: Which images groups have.
    image_types: frozenset[str] = field(default_factory=frozenset)


def status_of(view: ClusterView, pass_: Told) -> FoundationDBClusterStatus:
    """Return the status that the cluster should have; the view holds the one that it has."""
    former = view.status
    outcomes = [_blocking(outcome, pass_) for _, outcome in pass_.said]
    judged = _coordinating(view, pass_)
    truths = generations(view, _differences(view, pass_, judged))
    if pass_.invalid:
        truths = msgspec.structs.replace(truths, reconciled=former.generations.reconciled)
    reconciled = is_as_asked(truths, view.generation) and not pass_.invalid
    groups, truncated = mirror(view)
    connection = pass_.connection or view.connection
    said = _said(view, outcomes, pass_, reconciled=reconciled)
    stage = _stage(view, pass_)
    return msgspec.structs.replace(
        former,
        observed_generation=view.generation,
        doing=doing(view, outcomes, reconciled=reconciled, hushed=pass_.hushed, stage=stage),
        database_configuration=_live(view),
        generations=truths,
        health=_health(view),
        required_addresses=pass_.addresses,
        has_incorrect_config_map=pass_.config_map_differs,
        has_incorrect_service_config=pass_.services_differ,
        needs_new_coordinators=bool(judged.wrong),
        running_version=str(pass_.running or view.running_version),
        runs=_runs(view, pass_),
        connection_string=str(connection) if connection is not None else former.connection_string,
        configured=view.configured or pass_.configured or former.configured,
        adopted_from=pass_.adopted_from or former.adopted_from,
        has_listen_ips_for_all_pods=True,
        storage_servers_per_disk=_densities(view, ProcessClass.STORAGE),
        log_servers_per_disk=_densities(view, ProcessClass.LOG, ProcessClass.TRANSACTION),
        image_types=tuple(sorted({*pass_.image_types, view.spec.image_type or "unified"})),
        process_groups=groups,
        process_groups_truncated=truncated,
        desired_process_groups=sum(view.counts.values()),
        reconciled_process_groups=reconciled_groups(view, pass_.outdated),
        blockers=_blockers(view, outcomes, pass_, reconciled=reconciled),
        progress=_progress(view, outcomes, pass_, stage),
        maintenance_mode_info=_maintenance(view, pass_),
        locks=locks_of(view, pass_.locks, pass_.deny_list, pass_.key_prefix),
        synchronization=synchronization(view, pass_.intents, silenced=pass_.silenced),
        conditions=conditions.merge(former.conditions, said, view.now),
    )


def _differences(view: ClusterView, pass_: Told, judged: CoordinatorPlan) -> Differences:
    return Differences(
        configuration=_configuration_differs(view),
        coordinators=bool(judged.wrong) or (bool(judged.why_not) and _is_new(view)),
        config_map=pass_.config_map_differs,
        services=pass_.services_differ,
        outdated=pass_.outdated,
        detection_job=_job_differs(view, pass_),
    )


def _job_differs(view: ClusterView, pass_: Told) -> bool:
    """Tell whether the job that looks for missing processes differs; as before, unless known."""
    if pass_.job_differs is None:
        return bool(view.status.generations.needs_detection_job_update)
    return pass_.job_differs


def _coordinating(view: ClusterView, pass_: Told) -> CoordinatorPlan:
    if not view.configured:
        return CoordinatorPlan()
    elsewhere = acting.going_elsewhere(pass_.intents, questions.lock_owner(view.spec))
    return pass_.coordinators or coordinating.judge(view, elsewhere)


def _said(
    view: ClusterView, outcomes: Sequence[Outcome], pass_: Told, *, reconciled: bool
) -> tuple[Condition, ...]:
    found = conditions_of(view, outcomes, reconciled=reconciled)
    if not pass_.hushed or not view.status.conditions:
        return found
    return tuple(it for it in found if it.type not in _OF_STEPS)


def _blockers(
    view: ClusterView, outcomes: Sequence[Outcome], pass_: Told, *, reconciled: bool
) -> tuple[Blocker, ...]:
    """Return what is waited for: by steps, or by the cluster when all steps are through."""
    said = list(pass_.said)
    lasting = awaited(view, outcomes, reconciled=reconciled, hushed=pass_.hushed)
    if lasting is not None:
        said.append((_LAST, lasting))
    former = (*pass_.lately, *view.status.blockers)
    return blockers(former, said, pass_.refused, view.now)


def _blocking(outcome: Outcome, pass_: Told) -> Outcome:
    """Return what a step said; one that ended the pass until a person acts is blocked."""
    if isinstance(outcome, Stop):
        for _, it in pass_.refused:
            if it.guard == outcome.reason and it.hint:
                return Blocked(outcome.reason, outcome.message, it.hint)
    return outcome


def _is_new(view: ClusterView) -> bool:
    """Tell whether this generation never was as asked: what nobody knows is not as asked then."""
    return view.configured and view.status.generations.reconciled != view.generation


def _configuration_differs(view: ClusterView) -> bool:
    live = told.configuration(view.database)
    if not isinstance(live, Known):
        return _is_new(view)
    return bool(configuration.differs(live.value, configuration.wanted(view.spec)))


def _live(view: ClusterView) -> DatabaseConfiguration | None:
    """Return what the database is; what was known before, when it does not say."""
    live = told.configuration(view.database)
    if not isinstance(live, Known):
        return view.status.database_configuration
    return configuration.setting_of(live.value)


def _health(view: ClusterView) -> Health:
    if not view.configured:
        return Health(available=False)
    return Health(
        available=_value(health.is_available(view.database)),
        healthy=_value(health.is_fully_replicated(view.database)),
        full_replication=_value(health.is_fully_replicated(view.database)),
        data_movement_priority=_value(movement.highest_priority(view.database)),
    )


def _value(found: Fact[T]) -> T | None:
    return found.value if isinstance(found, Known) else None


def _runs(view: ClusterView, pass_: Told) -> str:
    """Return which FoundationDB runs, and that it is none, where a stand-in says so."""
    found = _value(is_emulated(view.database))
    if found is None:
        found = view.status.runs.endswith(_EMULATED)
    version = str(pass_.running or view.running_version)
    return f"{version} {_EMULATED}" if found else version


def _maintenance(view: ClusterView, pass_: Told) -> MaintenanceModeInfo | None:
    """Return what is on record of maintenance: as before, unless the pass says otherwise."""
    new = pass_.maintenance
    if new is None:
        return view.status.maintenance_mode_info
    return new if new.zone_id else None


def _densities(view: ClusterView, *classes: ProcessClass) -> tuple[int, ...]:
    """Return how many processes pods of some classes have, and shall have."""
    found = {it.servers for it in view.groups if it.process_class in classes}
    wanted = {questions.servers_per_pod(view.spec, it) for it in classes if it in view.counts}
    return tuple(sorted(found | wanted))[:5]


def _stage(view: ClusterView, pass_: Told) -> Stage | None:
    """Return where on the way to TLS, or back, something is done now.

    Pods that are given the programs of an upgrade have another way before them.
    """
    at_rest = pass_.invalid or view.spec.skip or view.staging
    return None if at_rest else stages.stage(view)


def _progress(
    view: ClusterView, outcomes: Sequence[Outcome], pass_: Told, stage: Stage | None
) -> Progress | None:
    if stage is None:
        return pass_.progress or _moving(view)
    if pass_.hushed and view.status.progress is not None:
        return view.status.progress
    return on_the_way(view, outcomes, stage)


def _moving(view: ClusterView) -> Progress | None:
    """Return how much data has yet to move, while somebody waits for it."""
    if not any(it.marked and not it.holds_nothing for it in view.groups):
        return None
    left = movement.moving_bytes(view.database)
    if not isinstance(left, Known) or not left.value:
        return None
    going = [it for it in view.groups if it.marked]
    empty = sum(it.holds_nothing for it in going)
    return Progress(step="MovingData", done=empty, of=len(going), bytes_left=left.value)
