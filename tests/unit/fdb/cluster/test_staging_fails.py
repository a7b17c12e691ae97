"""Pods that do not get the programs of an upgrade: what is told, and that a table has room for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_desk import Desk
from fakes.fdb_views import NOW, cluster
from stateward.core.outcome import Blocked, Retry
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.tell.status import Told, status_of
from stateward.fdb.views import ClusterView, GroupView

SLOW, FAST = NOW - 200.0, NOW - 20.0
IMAGE = "its pod fails: container foundationdb-kubernetes-sidecar: image none:typo cannot be pulled"
SILENT = "the sidecar of its pod does not answer"
OTHER = "its pod is not as the spec asks for"


def staging(conditions: dict[str, dict[Kind, float]]) -> ClusterView:
    def unwell(it: GroupView) -> GroupView:
        return replace(it, conditions=conditions.get(str(it.id), {Kind.READY: SLOW}))

    return replace(cluster("s1 s2 s3 l1 x1", change=unwell, version="7.4.5"), staging=True)


def says(kind: Kind, message: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": "True", "reason": kind, "message": message}]}


#: What is true of groups, what the first of them says, and how DOING begins.
TROUBLES: dict[str, tuple[dict[str, dict[Kind, float]], dict[str, Any], str]] = {
    "an image": (
        {"storage-1": {Kind.POD_FAILING: SLOW, Kind.INCORRECT_CONFIG_MAP: SLOW}},
        says(Kind.POD_FAILING, IMAGE),
        "storage-1 cannot get the programs of 7.4.5: its pod fails: container",
    ),
    "two sidecars": (
        {"storage-1": {Kind.SIDECAR_UNREACHABLE: SLOW}, "log-1": {Kind.SIDECAR_UNREACHABLE: SLOW}},
        says(Kind.SIDECAR_UNREACHABLE, SILENT),
        f"log-1 and 1 more cannot get the programs of 7.4.5: {SILENT[:22]}",
    ),
    "a pod of another kind, at once": (
        {"storage-1": {Kind.INCORRECT_POD_SPEC: FAST}},
        says(Kind.INCORRECT_POD_SPEC, OTHER),
        f"storage-1 cannot get the programs of 7.4.5: {OTHER}",
    ),
    "one that says nothing": (
        {"storage-1": {Kind.INCORRECT_CONFIG_MAP: SLOW}},
        {},
        "storage-1 cannot get the programs of 7.4.5; nobody is restarted before these",
    ),
}


@pytest.mark.parametrize("name", TROUBLES)
async def test_the_trouble_is_told_first(name: str) -> None:
    conditions, said, doing = TROUBLES[name]
    desk = Desk(staging(conditions))
    desk.statuses = dict.fromkeys(("storage-1", "log-1"), said)
    found = await desk.run("UpdateSidecarVersions")
    assert isinstance(found, Blocked)
    assert found.reason == "StagingFails"
    assert all(it in found.message for it in conditions), "all of them are named"
    told = status_of(desk.view, Told(said=[("UpdateSidecarVersions", found)]))
    assert told.doing.startswith(doing)


async def test_who_is_not_slow_yet_is_waited_for() -> None:
    desk = Desk(staging({"storage-1": {Kind.POD_FAILING: FAST, Kind.INCORRECT_CONFIG_MAP: FAST}}))
    found = await desk.run("UpdateSidecarVersions")
    words = "1 of 5 process groups have not the programs of 7.4.5 yet: storage-1"
    assert found == Retry(15.0, "UpgradeStaging", words)
