"""Pods that wait for a place, what they say meanwhile, and what ends their wait."""

from __future__ import annotations

from typing import Any

import pytest

from contract.scheduling.stage import Stage, nobody, node

pytestmark = pytest.mark.xdist_group("scheduling")


async def test_without_nodes(stage: Stage) -> None:
    await stage.pod()

    assert await stage.refusal() == "no nodes available to schedule pods"


async def test_a_place_is_told(stage: Stage) -> None:
    await stage.nodes(node("a"))

    await stage.pod()

    assert await stage.placed() == "a"
    said = await stage.condition()
    assert said["status"] == "True"
    assert "reason" not in said
    assert "message" not in said
    told = await stage.events("it", "Scheduled")
    assert told == [f"Successfully assigned {stage.wire.namespace}/it to a"]


async def test_a_refusal_is_told(stage: Stage) -> None:
    await stage.nodes(node("a"))

    await stage.pod(wants={"cpu": "5"})

    why = nobody(1, "1 Insufficient cpu", hopeless=1)
    assert await stage.events("it", "FailedScheduling") == [why]
    assert (await stage.wire.get("pods/it"))["status.phase"] == "Pending"


async def test_a_gate_keeps_a_pod_from_being_placed(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.pod(schedulingGates=[{"name": "example.com/wait"}])

    said = await stage.condition()
    shown = {key: said[key] for key in ("status", "reason", "message")}
    assert shown == {
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }

    (await stage.wire.patch("pods/it", {"spec": {"schedulingGates": None}})).ok()
    assert await stage.placed() == "a"


async def test_the_pod_of_another_scheduler_is_left_alone(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.pod("theirs", schedulerName="somebody-else")

    await stage.pod("ours")

    assert await stage.placed("ours") == "a"
    theirs = await stage.wire.get("pods/theirs")
    assert theirs["spec.nodeName"] is None
    assert not theirs["status.conditions"]


# ------------------------------------------------------------------ what ends a wait
async def test_a_node_that_comes(stage: Stage) -> None:
    await stage.pod()
    await stage.refusal()

    await stage.nodes(node("a"))

    assert await stage.placed() == "a"


async def test_a_taint_that_goes(stage: Stage) -> None:
    await stage.nodes(node("a", taints=("only=db:NoSchedule",)))
    await stage.pod()
    await stage.refusal()

    (await stage.wire.patch("nodes/a", {"spec": {"taints": None}})).ok()

    assert await stage.placed() == "a"


async def test_a_cordon_that_is_lifted(stage: Stage) -> None:
    await stage.nodes(node("a", unschedulable=True))
    await stage.pod()
    await stage.refusal()

    (await stage.wire.patch("nodes/a", {"spec": {"unschedulable": None}})).ok()

    assert await stage.placed() == "a"


async def test_a_label_that_comes(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.pod(nodeSelector={"disk": "ssd"})
    await stage.refusal()

    (await stage.wire.patch("nodes/a", {"metadata": {"labels": {"disk": "ssd"}}})).ok()

    assert await stage.placed() == "a"


async def test_a_pod_that_goes(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.there("other", "a", wants={"cpu": "4"})
    await stage.pod(wants={"cpu": "1"})
    await stage.refusal()

    await stage.wire.delete("pods/other", gracePeriodSeconds=0)

    assert await stage.placed() == "a"


async def test_a_node_that_grows(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.pod(wants={"cpu": "5"})
    await stage.refusal()

    (await stage.wire.patch("nodes/a/status", {"status": {"allocatable": {"cpu": "8"}}})).ok()

    assert await stage.placed() == "a"


async def test_company_that_comes(stage: Stage) -> None:
    await stage.nodes(node("a"))
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    await stage.pod(
        affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    )
    await stage.refusal()

    await stage.pod("web", app="web")

    assert await stage.placed() == "a"


async def test_a_message_follows_the_cluster(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.pod(wants={"cpu": "5"})
    assert await stage.refusal() == nobody(1, "1 Insufficient cpu", hopeless=1)

    await stage.nodes(node("b", has={"cpu": "8"}, taints=("only=db:NoSchedule",)))
    (await stage.wire.patch("nodes/a/status", {"status": {"allocatable": {"cpu": "4500m"}}})).ok()

    why = "1 Insufficient cpu, 1 node(s) had untolerated taint(s)"
    await stage.says("it", nobody(2, why, hopeless=2))


# ------------------------------------------------------------------ bound by hand
def binding(name: str, to: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "target": {"kind": "Node", "name": to}}


async def test_a_pod_bound_by_hand_stays(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await stage.pod(nodeSelector={"disk": "ssd"})
    await stage.refusal()

    (await stage.wire.post("pods/it/binding", binding("it", "b"))).made()

    assert await stage.placed() == "b"
    assert (await stage.condition())["status"] == "True"
