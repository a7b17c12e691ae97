"""Nodes fall silent and come back, and pods leave those that will not have them."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.bench import until
from stateward.kube.codec import Json
from stateward.kube.resources import NODES, PODS
from stateward.local.controllers.cluster.evictions import leaves_at
from stateward.local.controllers.cluster.nodes import conditions_of, taints_of
from stateward.local.controllers.cluster.staff import Terms
from unit.local.controllers.cluster.cluster import Cluster, settled, stays

UNREACHABLE = "node.kubernetes.io/unreachable"
TWO_MINUTES = {
    "key": UNREACHABLE,
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 120,
}
FIVE_MINUTES = TWO_MINUTES | {"tolerationSeconds": 300}


# ------------------------------------------------------------------ pictures
def ready(status: str, reason: str = "KubeletReady") -> Json:
    return {"type": "Ready", "status": status, "reason": reason}


def effects(taints: list[Json]) -> str:
    return " ".join(f"{it['key'].rpartition('/')[2]}:{it['effect']}" for it in taints)


@pytest.mark.parametrize(
    ("spec", "status", "then"),
    [
        ({}, "True", ""),
        ({}, "False", "not-ready:NoSchedule not-ready:NoExecute"),
        ({}, "Unknown", "unreachable:NoSchedule unreachable:NoExecute"),
        ({"unschedulable": True}, "True", "unschedulable:NoSchedule"),
        ({"taints": [{"key": "mine", "effect": "NoSchedule"}]}, "True", "mine:NoSchedule"),
        ({"taints": [{"key": UNREACHABLE, "effect": "NoExecute"}]}, "True", ""),
        (
            {"taints": [{"key": UNREACHABLE, "effect": "NoExecute"}]},
            "Unknown",
            "unreachable:NoExecute unreachable:NoSchedule",
        ),
        (
            {"taints": [{"key": UNREACHABLE, "effect": "NoExecute"}]},
            "False",
            "not-ready:NoSchedule not-ready:NoExecute",
        ),
    ],
)
def test_what_the_state_of_a_node_means_for_its_taints(spec: Json, status: str, then: str) -> None:
    assert effects(taints_of(spec, [ready(status)], 0.0)) == then


def test_a_node_that_was_never_lost_says_what_it_said() -> None:
    said = [ready("False", "NotYet"), {"type": "Other", "status": "True"}]

    assert conditions_of(said, lost=False, now=0.0) == said


def test_a_lost_node_and_back() -> None:
    said = [ready("True"), {"type": "DiskPressure", "status": "False"}]
    lost = conditions_of(said, lost=True, now=0.0)
    assert [(it["type"], it["status"]) for it in lost] == [
        ("Ready", "Unknown"),
        ("DiskPressure", "Unknown"),
    ]
    assert conditions_of(lost, lost=True, now=99.0) == lost

    back = conditions_of(lost, lost=False, now=99.0)
    assert [(it["type"], it["status"]) for it in back] == [
        ("Ready", "True"),
        ("DiskPressure", "False"),
    ]


ADDED = {"key": UNREACHABLE, "effect": "NoExecute", "timeAdded": "1970-01-01T00:01:40Z"}


@pytest.mark.parametrize(
    ("tolerations", "taints", "evict_after", "moment"),
    [
        ([], [], None, None),
        ([], [ADDED], None, 100),
        ([{"operator": "Exists"}], [ADDED], None, None),
        ([{"operator": "Exists"}], [ADDED], 5, None),
        ([TWO_MINUTES], [ADDED], None, 220),
        ([TWO_MINUTES], [ADDED], 5, 220),
        ([FIVE_MINUTES], [ADDED], None, 400),
        ([FIVE_MINUTES], [ADDED], 5, 105),
        ([TWO_MINUTES], [ADDED, {"key": "other", "effect": "NoExecute"}], None, 0),
        ([TWO_MINUTES, TWO_MINUTES | {"tolerationSeconds": 30}], [ADDED], None, 130),
        ([TWO_MINUTES | {"tolerationSeconds": -1}], [ADDED], None, 100),
    ],
)
def test_when_a_pod_must_leave(
    tolerations: Any, taints: Any, evict_after: Any, moment: Any
) -> None:
    assert leaves_at(tolerations, taints, evict_after) == moment


# ------------------------------------------------------------------ worlds
async def two(**terms: Any) -> Cluster:
    cluster = Cluster(terms=Terms(**terms))
    await cluster.node("n1")
    await cluster.node("n2")
    return cluster


def status_of(cluster: Cluster, node: str) -> str:
    return str(cluster.condition(NODES, node, "Ready").get("status"))


@pytest.mark.virtual
async def test_a_lost_node_is_tainted_and_its_pods_leave_when_they_bear_it_no_longer():
    cluster = await two()
    await cluster.pod("a", nodeSelector={"kubernetes.io/hostname": "n1"}, tolerations=[TWO_MINUTES])
    async with cluster.works():
        await until(lambda: cluster.condition(PODS, "a", "Ready"))
        await stays(lambda: status_of(cluster, "n1") == "True", 60)

        cluster.lost.add("n1")
        lost_at = cluster.clock.now()
        await until(lambda: status_of(cluster, "n1") == "Unknown")
        assert 19 < cluster.clock.now() - lost_at < 22
        await settled(1)
        taints = cluster.see(NODES, "n1")["spec"]["taints"]
        assert effects(taints) == "unreachable:NoSchedule unreachable:NoExecute"
        assert cluster.condition(PODS, "a", "Ready")["status"] == "False"

        await until(lambda: "deletionTimestamp" in cluster.see(PODS, "a")["metadata"])
        assert 138 < cluster.clock.now() - lost_at < 143
        assert (
            cluster.condition(PODS, "a", "DisruptionTarget")["reason"] == "DeletionByTaintManager"
        )
        await stays(lambda: bool(cluster.see(PODS, "a")), 100)

        cluster.lost.clear()
        await until(lambda: not cluster.see(PODS, "a"), within=5)
        await until(lambda: not cluster.see(NODES, "n1")["spec"].get("taints"), within=5)
        assert status_of(cluster, "n1") == "True"


@pytest.mark.virtual
async def test_a_node_that_is_back_in_time_keeps_its_pods():
    cluster = await two()
    await cluster.pod("a", nodeSelector={"kubernetes.io/hostname": "n1"}, tolerations=[TWO_MINUTES])
    async with cluster.works():
        await until(lambda: cluster.condition(PODS, "a", "Ready"))
        cluster.lost.add("n1")
        await until(lambda: status_of(cluster, "n1") == "Unknown")
        await settled(60)
        cluster.lost.clear()
        await settled(300)
        assert "deletionTimestamp" not in cluster.see(PODS, "a")["metadata"]


@pytest.mark.virtual
async def test_a_cluster_in_a_hurry_evicts_sooner():
    cluster = await two(lost_after=2.0, evict_after=3.0)
    await cluster.pod("a", nodeSelector={"kubernetes.io/hostname": "n1"})
    async with cluster.works():
        await until(lambda: cluster.condition(PODS, "a", "Ready"))
        cluster.lost.add("n1")
        await until(lambda: "deletionTimestamp" in cluster.see(PODS, "a")["metadata"], within=7)


@pytest.mark.virtual
async def test_pods_of_a_node_that_is_gone_are_removed():
    cluster = await two()
    await cluster.pod("a", nodeSelector={"kubernetes.io/hostname": "n1"})
    async with cluster.works():
        await until(lambda: cluster.placed() == "a:n1")
        await cluster.delete(NODES, "n1")
        await stays(lambda: bool(cluster.see(PODS, "a")), 4)
        await until(lambda: not cluster.see(PODS, "a"), within=3)


@pytest.mark.virtual
async def test_a_taint_that_nobody_bears_clears_the_node_at_once():
    cluster = await two()
    for name in "ab":
        await cluster.pod(
            name,
            nodeSelector={"kubernetes.io/hostname": "n1"},
            tolerations=[{"operator": "Exists"}] if name == "b" else [],
        )
    async with cluster.works():
        await until(lambda: cluster.placed() == "a:n1 b:n1")
        await cluster.patch(
            NODES, "n1", {"spec": {"taints": [{"key": "out", "effect": "NoExecute"}]}}
        )
        await until(lambda: cluster.placed() == "b:n1", within=3)


@pytest.mark.virtual
async def test_only_so_many_finished_pods_are_kept():
    cluster = await two(keep_finished=2)
    for name in "abcd":
        await cluster.pod(name)
        await settled(1)
    async with cluster.works():
        for name in "abcd":
            patch = {"status": {"phase": "Succeeded"}}
            await cluster.say(PODS, name, patch)
        await until(lambda: cluster.names(PODS) == "c d")


@pytest.mark.virtual
async def test_restarted_controllers_give_a_silent_node_its_time_again():
    cluster = await two()
    cluster.lost.add("n1")
    async with cluster.works():
        await settled(15)
    cluster.desk = cluster.new_desk()
    async with cluster.works():
        await stays(lambda: status_of(cluster, "n1") == "True", 19)
        await until(lambda: status_of(cluster, "n1") == "Unknown", within=3)
