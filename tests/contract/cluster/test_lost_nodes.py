"""Nodes that fall silent, and what becomes of their pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
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


@asynccontextmanager
async def alive(stage: Stage, name: str) -> AsyncGenerator[None, None]:
    """Have a node renew its lease: where all nodes are lost, a real cluster doubts itself."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

    async def renew() -> None:
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40}
        (await stage.wire.post(leases, {"metadata": {"name": name}, "spec": spec})).made()
        while True:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            (await stage.wire.patch(f"{leases}/{name}", {"spec": {"renewTime": now}})).ok()
            await asyncio.sleep(1)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        await stage.wire.delete(f"{leases}/{name}")


async def test_a_silent_node_is_unknown_and_its_pods_go(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    async with alive(stage, "b"):
        await _falls_silent(stage)


async def _falls_silent(stage: Stage) -> None:
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
    await stage.tainted("a", f"{UNREACHABLE}:NoSchedule", f"{UNREACHABLE}:NoExecute")
    await stage.wire.until(lambda: stage.is_going("brief"))
    told = await stage.events("brief", "TaintManagerEviction")
    assert f"Marking for deletion Pod {stage.wire.namespace}/brief" in told
    usual = (await stage.wire.get("pods/usual")).ok()
    assert usual["metadata.deletionTimestamp"] is None
    await stage.wire.until(lambda: _is_not_ready(stage, "usual"))


async def _is_not_ready(stage: Stage, name: str) -> bool:
    said = await stage.condition(name, "Ready")
    return bool(said["status"] == "False")
