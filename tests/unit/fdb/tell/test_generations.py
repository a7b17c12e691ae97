"""When all is as asked, and what is said when it is not."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_groups import AWAY, SILENT, cluster, group
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus, Generations, RequiredAddresses
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.transport import Transport
from stateward.fdb.tell.generations import (
    Differences,
    generations,
    is_as_asked,
    is_at_rest,
    is_well,
    reconciled_groups,
)
from stateward.fdb.views import ClusterView

BEFORE = FoundationDBClusterStatus(generations=Generations(reconciled=5))
ONE, TWO = group("storage-1"), group("storage-2")


def seen(*groups: Any, **said: Any) -> ClusterView:
    return cluster(*(groups or (ONE, TWO)), **{"status": BEFORE, **said})


def told(tls: bool, plain: bool) -> FoundationDBClusterStatus:
    return FoundationDBClusterStatus(
        generations=BEFORE.generations,
        required_addresses=RequiredAddresses(tls=tls, non_tls=plain),
    )


def names(view: ClusterView, **differences: Any) -> list[str]:
    """Return what is true for this generation."""
    found = generations(view, Differences(**differences))
    values = {name: getattr(found, name) for name in found.__struct_fields__}
    assert values["reconciled"] in (view.generation, 5)
    return sorted(name for name, it in values.items() if it == view.generation)


def ill(*kinds: Kind) -> ClusterView:
    return seen(ONE, group("storage-2", *kinds))


TLS = {"mainContainer": {"enableTls": True}}
#: What differs, and what is said.
TABLE: dict[str, tuple[ClusterView, dict[str, Any], list[str]]] = {
    "all is as asked": (seen(), {}, ["reconciled"]),
    "there is no database": (seen(configured=False), {}, ["needs_configuration_change"]),
    "another configuration": (seen(), {"configuration": True}, ["needs_configuration_change"]),
    "other coordinators": (seen(), {"coordinators": True}, ["needs_coordinator_change"]),
    "another config map": (seen(), {"config_map": True}, ["needs_monitor_conf_update"]),
    "other services": (seen(), {"services": True}, ["needs_service_update"]),
    "other locks": (seen(), {"locks": True}, ["needs_lock_configuration_changes"]),
    "another job, for which nobody waits": (seen(), {"detection_job": True}, ["needs_detection_job_update", "reconciled"]),
    "a group of another shape": (seen(), {"outdated": frozenset({"shop-storage-1"})}, ["needs_pod_deletion"]),
    "another prefix": (seen(spec={"processGroupIDPrefix": "b"}), {}, ["needs_shrink"]),
    "too few": (seen(counts={ProcessClass.STORAGE: 3}), {}, ["needs_grow"]),
    "too many": (seen(counts={ProcessClass.STORAGE: 1}), {}, ["needs_shrink"]),
    "a class that shall not be": (seen(counts={}), {}, ["needs_shrink"]),
    "one is named to go": (seen(spec={"processGroupsToRemove": ["storage-2"]}), {}, ["needs_shrink"]),
    "one is to go": (seen(ONE, group("storage-2", marked=True)), {}, ["needs_shrink"]),
    "one is going": (seen(ONE, group("storage-2", Kind.RESOURCES_TERMINATING, marked=True)), {}, ["has_pending_removal", "reconciled"]),
    "one is not well": (ill(Kind.MISSING_PROCESSES), {}, ["has_unhealthy_process"]),
    "one has other arguments": (ill(Kind.INCORRECT_COMMAND_LINE), {}, ["has_unhealthy_process", "needs_bounce"]),
    "one has another pod": (ill(Kind.INCORRECT_POD_SPEC), {}, ["has_unhealthy_process", "needs_pod_deletion"]),
    "one has old files": (ill(Kind.INCORRECT_CONFIG_MAP), {}, ["has_unhealthy_process", "needs_monitor_conf_update"]),
    "one has no service": (ill(Kind.MISSING_SERVICE), {}, ["has_unhealthy_process", "needs_service_update"]),
    "nobody has looked at one": (seen(ONE, group("storage-2", conditions={})), {}, ["has_unhealthy_process"]),
    "one is busy, which is only told": (ill(Kind.PROCESS_HAS_HIGH_RUN_LOOP_BUSY), {}, ["reconciled"]),
    "the database is away": (seen(database=AWAY), {}, ["missing_database_status"]),
    "the database says nothing": (seen(database=SILENT), {}, ["missing_database_status"]),
    "a version that runs not yet": (seen(spec={"version": "7.4.1"}), {}, ["needs_bounce"]),
    "a version that cannot be": (seen(spec={"version": "7.1.61"}), {}, ["needs_bounce"]),
    "an image of another patch": (seen(spec={"version": "7.3.999"}), {}, ["needs_bounce"]),
    "with TLS and without": (seen(status=told(True, True)), {}, ["has_extra_listeners"]),
    "without TLS, as asked": (seen(status=told(False, True)), {}, ["reconciled"]),
    "with TLS, as asked": (seen(status=told(True, False), spec=TLS, transport=Transport(tls=True, plain=False)), {}, ["reconciled"]),
    "TLS waits, and the status was wiped": (seen(spec=TLS, transport=Transport(held="no certificate")), {}, ["has_extra_listeners"]),
    "without TLS, and with it is asked": (seen(status=told(True, True), spec=TLS), {}, ["has_extra_listeners"]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_what_is_said(name: str) -> None:
    view, differences, said = TABLE[name]
    assert names(view, **differences) == said


def test_what_was_reconciled_before_is_remembered() -> None:
    assert generations(seen(database=SILENT), Differences()).reconciled == 5


def test_what_was_as_asked_once_may_not_be_so_now() -> None:
    now = generations(seen(database=SILENT), Differences())
    assert now.reconciled == 5
    assert not is_as_asked(now, 5)
    assert is_as_asked(generations(seen(), Differences()), seen().generation)


def test_with_another_job_all_is_done_and_not_as_asked() -> None:
    now = generations(seen(), Differences(detection_job=True))
    assert now.reconciled == seen().generation
    assert is_at_rest(now, seen().generation), "the lock is let go"
    assert not is_as_asked(now, seen().generation)


def test_groups_that_are_well_and_stay_count() -> None:
    some = [ONE, TWO, group("storage-3", marked=True), group("log-1", Kind.POD_PENDING)]
    assert reconciled_groups(seen(*some)) == 2
    assert reconciled_groups(seen(*some), {"shop-storage-1"}) == 1
    assert not is_well(group("log-1", conditions={}))
