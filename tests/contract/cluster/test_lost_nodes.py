"""Nodes that fall silent, and what becomes of their pods."""

from __future__ import annotations

from typing import Any

import pytest

from contract.scheduling.stage import Stage, node

pytestmark = pytest.mark.xdist_group("lost nodes")

UNREACHABLE = "node.kubernetes.io/unreachable"


async def ready(stage: Stage, name: str, status: str) -> dict[str, Any]:
    """Wait until a node says this of itself, or somebody for it."""

    async def said() -> Any:
        found = (await stage.wire.get(f"nodes/{name}"))["status.conditions"] or []
        return next((it for it in found if it["type"] == "Ready" and it["status"] == status), None)

    found: dict[str, Any] = await stage.wire.until(said)
    return found


async def taints(stage: Stage, name: str, *wanted: str) -> None:
    """Wait until a node has exactly these taints."""
    last: list[str] = []

    async def same() -> bool:
        found = (await stage.wire.get(f"nodes/{name}"))["spec.taints"] or []
        last[:] = sorted(f"{it['key']}:{it['effect']}" for it in found)
        return last == sorted(wanted)

    try:
        await stage.wire.until(same)
    except TimeoutError:
        assert last == sorted(wanted), last


async def test_a_silent_node_is_unknown_and_its_pods_go(stage: Stage) -> None:
    await stage.nodes(node("a"))
    brief = {
        "key": UNREACHABLE,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 1,
    }
    await stage.there("brief", "a", tolerations=[brief])
    await stage.there("usual", "a")
    own = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    (await stage.wire.patch("pods/usual/status", {"status": own})).ok()

    said = await ready(stage, "a", "Unknown")

    assert said["reason"] == "NodeStatusUnknown"
    assert said["message"] == "Kubelet stopped posting node status."
    await taints(stage, "a", f"{UNREACHABLE}:NoSchedule", f"{UNREACHABLE}:NoExecute")
    await stage.wire.until(lambda: _is_going(stage, "brief"))
    told = await stage.events("brief", "TaintManagerEviction")
    assert told == [f"Marking for deletion Pod {stage.wire.namespace}/brief"]
    usual = (await stage.wire.get("pods/usual")).ok()
    assert usual["metadata.deletionTimestamp"] is None
    await stage.wire.until(lambda: _is_not_ready(stage, "usual"))


async def _is_going(stage: Stage, name: str) -> bool:
    found = await stage.wire.get(f"pods/{name}")
    return found.code == 404 or bool(found["metadata.deletionTimestamp"])


async def _is_not_ready(stage: Stage, name: str) -> bool:
    said = await stage.condition(name, "Ready")
    return bool(said["status"] == "False")


async def test_a_node_that_is_not_ready_takes_nobody(stage: Stage) -> None:
    await stage.nodes(node("a"))
    said = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "no"}

    (await stage.wire.patch("nodes/a/status", {"status": {"conditions": [said]}})).ok()

    not_ready = "node.kubernetes.io/not-ready"
    await taints(stage, "a", f"{not_ready}:NoSchedule", f"{not_ready}:NoExecute")
    back = said | {"status": "True", "reason": "KubeletReady"}
    (await stage.wire.patch("nodes/a/status", {"status": {"conditions": [back]}})).ok()
    await taints(stage, "a")


async def test_a_cordon_is_a_taint(stage: Stage) -> None:
    await stage.nodes(node("a"))

    (await stage.wire.patch("nodes/a", {"spec": {"unschedulable": True}})).ok()

    await taints(stage, "a", "node.kubernetes.io/unschedulable:NoSchedule")
    (await stage.wire.patch("nodes/a", {"spec": {"unschedulable": None}})).ok()
    await taints(stage, "a")


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

    await stage.wire.until(lambda: _is_going(stage, "does-not"))
    await stage.wire.until(lambda: _is_going(stage, "a-second"))
    assert not await _is_going(stage, "bears")
