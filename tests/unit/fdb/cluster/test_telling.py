"""What steps say while they wait, and what the log keeps of what they did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes.fdb_desk import Desk, with_condition
from fakes.fdb_views import cluster, healthy
from stateward.core.outcome import Blocked, Retry, Stop, Wait
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.model.names import FINALIZER
from stateward.fdb.views import ClusterView, GroupView

WHOLE = "s1 s2 s3 l1 l2 l3 x1 x2"
COUNTS = {"s": 3, "l": 3, "x": 2}


def without_pod(it: GroupView) -> GroupView:
    gone = replace(it, pod=None, has_claim=False, has_service=True)
    return gone if it.leaving else it


#: A cluster in which a group goes, and what is waited for.
GOING: dict[str, tuple[ClusterView, str]] = {
    "data is on it": (
        cluster(
            f"{WHOLE} s4-",
            counts=COUNTS,
            entries={"storage-4": {"excluded": True, "roles": [{"role": "storage"}]}},
        ),
        "waiting for data to leave storage-4 (it has the role storage)",
    ),
    "nobody knows what is on it": (
        cluster(
            f"{WHOLE} s4-",
            healthy(recovery_state__seconds_since_last_recovered=50.0),
            counts=COUNTS,
            entries={"storage-4": {"excluded": True}},
        ),
        (
            "waiting for proof that nothing is left on storage-4: the database was recovered less"
            " than 120 s ago"
        ),
    ),
    "it coordinates": (
        cluster(
            f"{WHOLE} s4-",
            counts=COUNTS,
            coordinating="storage-1 storage-2 storage-4",
            entries={"storage-4": {"excluded": True}},
        ),
        "waiting to remove storage-4: it coordinates",
    ),
    "its pod goes": (
        cluster(f"{WHOLE} s4!>", counts=COUNTS, entries={"storage-4": {"excluded": True}}),
        "waiting for the pods of storage-4 to go",
    ),
    "its pod is gone": (
        cluster(f"{WHOLE} s4!>?", counts=COUNTS, change=without_pod),
        "waiting for what is left of storage-4 to go",
    ),
    "one of each": (
        cluster(
            f"{WHOLE} s4!> s4-",
            counts=COUNTS,
            entries={
                "storage-4": {"excluded": True},
                "storage-5": {"excluded": True, "roles": [{"role": "storage"}]},
            },
        ),
        (
            "waiting for data to leave storage-5 (it has the role storage);"
            " waiting for the pods of storage-4 to go"
        ),
    ),
}


@pytest.mark.parametrize("name", GOING)
async def test_while_groups_go_it_is_said_what_is_waited_for(name: str) -> None:
    view, words = GOING[name]
    found = await Desk(view).run("RemoveProcessGroups", FINALIZER)
    assert isinstance(found, Retry), found
    assert (found.reason, found.message) == ("RemovalWaits", words)


# ------------------------------------------------------------------ who waits for a person
def saying(reason: str, message: str, doing: str) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "False", "reason": reason, "message": message}
    return {"conditions": [ready], "doing": doing}


async def test_pods_that_kubernetes_refuses_are_told_of_the_cluster() -> None:
    desk = Desk(cluster(WHOLE, counts=COUNTS, change=with_condition(Kind.MISSING_POD)))
    quota = "CreatePod: pods is forbidden: exceeded quota"
    desk.statuses["storage-1"] = saying("ObjectRefused", quota, f"{quota}; raise it")
    found = await desk.run("AddPods")
    assert found == Blocked(
        "ObjectRefused",
        f"1 of 8 process groups have no pod yet: storage-1; storage-1: {quota}",
        "raise it",
    )


async def test_a_quota_that_replacements_use_up_is_told_with_the_way_back() -> None:
    view = cluster("s1- s2 s3 s4 l1 l2 x1", counts={"s": 3, "l": 2, "x": 1})
    unmade = replace(view.groups[3], conditions={Kind.MISSING_POD: 0.0}, pod=None)
    desk = Desk(replace(view, groups=(*view.groups[:3], unmade, *view.groups[4:])))
    quota = "CreatePod: pods is forbidden: exceeded quota"
    desk.statuses["storage-4"] = saying("QuotaExceeded", quota, f"{quota}; have more")
    found = await desk.run("AddPods")
    assert isinstance(found, Blocked)
    assert (found.reason, quota in found.message) == ("QuotaExceeded", True)
    way = "or keep who is replaced: cancelReplacementsForProcessGroups (storage-1)"
    assert found.hint == f"have more; {way}"


async def test_pods_that_are_being_made_are_waited_for() -> None:
    desk = Desk(cluster(WHOLE, counts=COUNTS, change=with_condition(Kind.MISSING_POD)))
    desk.statuses["storage-1"] = saying("MissingPod", "its pod is not there", "")
    assert isinstance(await desk.run("AddPods"), Wait)


@pytest.mark.parametrize(
    ("has_claim", "reason", "words"),
    [
        (False, "ClaimsMissing", "have no claim yet"),
        (True, "ClaimsTerminating", "have no claim, or one that is being deleted"),
    ],
)
async def test_a_claim_that_goes_is_not_called_missing(
    has_claim: bool, reason: str, words: str
) -> None:
    marked = with_condition(Kind.MISSING_PVC)
    view = cluster(WHOLE, counts=COUNTS, change=lambda it: replace(marked(it), has_claim=has_claim))
    found = await Desk(view).run("AddPVCs")
    assert found == Wait(reason, f"1 of 8 process groups {words}: storage-1")


async def test_clients_that_could_not_follow_are_told_as_what_holds_an_upgrade() -> None:
    tree = healthy()
    tree["cluster"]["clients"]["supported_versions"] = [
        {
            "client_version": "7.3.79",
            "protocol_version": "fdb00b073000000",
            "max_protocol_clients": [{"address": "10.9.0.1:500", "log_group": "web"}],
            "max_protocol_count": 1,
        }
    ]
    desk = Desk(cluster(WHOLE, tree, counts=COUNTS, version="7.4.1"))
    found = await desk.run("CheckClientCompatibility")
    assert isinstance(found, Blocked)
    assert found.reason == "ClientsIncompatible"
    assert "10.9.0.1:500 (web)" in found.message
    assert "ignoreUpgradabilityChecks" in found.hint


# ------------------------------------------------------------------ what the log keeps
#: A cluster in which a step acts, and what the log must say of it.
ACTS: dict[str, tuple[ClusterView, str, dict[str, Any]]] = {
    "UpdateDatabaseConfiguration": (
        cluster(WHOLE, counts=COUNTS, databaseConfiguration={"logs": 7}),
        "DatabaseConfigured",
        {},
    ),
    "ExcludeInstances": (
        cluster(f"{WHOLE} s4-", counts=COUNTS),
        "Excluded",
        {"excluded": ["locality_instance_id:storage-4"]},
    ),
    "ChangeCoordinators": (
        cluster("s1 s2 s3? s4", coordinating="storage-1 storage-2 storage-3"),
        "CoordinatorsChanged",
        {"now": "shop:new@10.0.0.1:4501"},
    ),
    "BounceProcesses": (
        cluster(WHOLE, counts=COUNTS, change=with_condition(Kind.INCORRECT_COMMAND_LINE)),
        "ProcessesBounced",
        {},
    ),
    "UpdatePods": (
        cluster(WHOLE, counts=COUNTS, change=with_condition(Kind.INCORRECT_POD_SPEC)),
        "PodsUpdated",
        {},
    ),
    "ChooseRemovals": (
        cluster(f"{WHOLE} s3", counts=COUNTS),
        "MarkedForRemoval",
        {"without_exclusion": False},
    ),
}


@pytest.mark.parametrize("step", ACTS)
async def test_what_a_step_does_is_one_line_of_the_log(step: str) -> None:
    view, reason, details = ACTS[step]
    with capture_logs() as lines:
        found = await Desk(view).run(step)
    assert isinstance(found, Stop), found
    (line,) = lines
    assert (line["log_level"], line["reason"], line["event"]) == ("info", reason, found.message)
    assert {name: line[name] for name in details} == details


async def test_what_is_held_back_is_no_line_of_the_log() -> None:
    view, _, _ = ACTS["BounceProcesses"]
    with capture_logs() as lines:
        assert isinstance(await Desk(view, is_ours=False).run("BounceProcesses"), Retry)
    assert lines == []
