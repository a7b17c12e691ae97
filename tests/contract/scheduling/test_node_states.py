"""What a node is like shows as taints, and taints may end pods."""

from __future__ import annotations

import pytest

from contract.scheduling.stage import Stage, node

pytestmark = pytest.mark.xdist_group("scheduling")


async def test_a_node_that_is_not_ready_takes_nobody(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    said = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "no"}

    (await stage.wire.patch("nodes/a/status", {"status": {"conditions": [said]}})).ok()

    not_ready = "node.kubernetes.io/not-ready"
    await stage.tainted("a", f"{not_ready}:NoSchedule", f"{not_ready}:NoExecute")
    back = said | {"status": "True", "reason": "KubeletReady"}
    (await stage.wire.patch("nodes/a/status", {"status": {"conditions": [back]}})).ok()
    await stage.tainted("a")


async def test_a_cordon_is_a_taint(stage: Stage) -> None:
    await stage.nodes(node("a"))

    (await stage.wire.patch("nodes/a", {"spec": {"unschedulable": True}})).ok()

    await stage.tainted("a", "node.kubernetes.io/unschedulable:NoSchedule")
    (await stage.wire.patch("nodes/a", {"spec": {"unschedulable": None}})).ok()
    await stage.tainted("a")


async def test_a_taint_ends_the_pods_that_do_not_bear_it(stage: Stage) -> None:
    await stage.nodes(node("a"))
    for_ever = {"key": "leave", "operator": "Exists"}
    await stage.there("bears", "a", tolerations=[for_ever])
    await stage.there("does-not", "a")
    await stage.there(
        "a-second", "a", tolerations=[for_ever | {"effect": "NoExecute", "tolerationSeconds": 1}]
    )

    taint = {"key": "leave", "value": "now", "effect": "NoExecute"}
    (await stage.wire.patch("nodes/a", {"spec": {"taints": [taint]}})).ok()

    await stage.wire.until(lambda: stage.is_going("does-not"))
    await stage.wire.until(lambda: stage.is_going("a-second"))
    assert not await stage.is_going("bears")
