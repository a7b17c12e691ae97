"""Nodes and trouble with the server, in virtual time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes.rough_wire import RoughWire, refuse
from stateward.core.errors import PeerUnreachable, UsageError
from stateward.core.moments import from_rfc3339
from stateward.kube.errors import BadRequest, Conflict, NotFound, ServerFailed
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES, NODES, PODS
from stateward.kube.schemas import vendored
from stateward.local.agent.nodes import LEASE_NAMESPACE
from stateward.local.documents import loosely
from unit.local.agent.stage import is_ready, key
from unit.local.agent.theatre import Theatre, one

pytestmark = pytest.mark.virtual

NODE = ObjectKey("", "node-1")


class RoughTheatre(Theatre):
    """One whose agent reaches the server over a rough wire."""

    def __init__(self, root: Path) -> None:
        self.wire_to_server = RoughWire()
        super().__init__(root)

    def new_agent(self):
        gold = self.client
        self.client = InterceptedClient(gold, self.wire_to_server)
        try:
            return super().new_agent()
        finally:
            self.client = gold


async def test_a_node_says_what_it_is(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await asyncio.sleep(1)
        node = await stage.client.get(loosely(NODES), NODE)
    assert node.metadata.labels["kubernetes.io/hostname"] == "node-1"
    assert node.metadata.labels["topology.kubernetes.io/zone"] == "a"
    assert {it["type"]: it["status"] for it in node.status["conditions"]} == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert node.status["allocatable"]["cpu"] == "8"
    release = vendored().kubernetes
    assert node.status["nodeInfo"]["kubeletVersion"] == f"v{release}-stateward"


async def test_leases_are_renewed_until_the_node_is_lost(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)

    async def age() -> float:
        lease = await stage.client.get(LEASES, ObjectKey(LEASE_NAMESPACE, "node-1"))
        return stage.ports.clock.now() - from_rfc3339(lease.spec.renew_time or "")

    async with stage.running() as agent:
        await asyncio.sleep(100)
        assert await age() <= 6
        agent.faults.lose_node("node-1")
        await asyncio.sleep(100)
        assert await age() >= 90
        await agent.faults.return_node("node-1")
        assert await age() == 0


async def test_a_node_that_somebody_deletes_stays_away_until_the_agent_is_restarted(
    tmp_path: Path,
) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await asyncio.sleep(1)
        uid = (await stage.client.get(NODES, NODE)).metadata.uid
        await stage.client.delete(NODES, NODE, uid=uid)
        await asyncio.sleep(1000)
        with pytest.raises(NotFound):
            await stage.client.get(NODES, NODE)
    async with stage.running():
        await asyncio.sleep(1)
        again = (await stage.client.get(NODES, NODE)).metadata.uid
        assert again != uid
    async with stage.running():
        await asyncio.sleep(1)
        assert (await stage.client.get(NODES, NODE)).metadata.uid == again


@pytest.mark.parametrize(
    "error",
    [PeerUnreachable("cut"), ServerFailed("sick"), Conflict("slow")],
    ids=lambda it: it.reason,
)
async def test_what_the_server_refuses_is_tried_again(tmp_path: Path, error: Exception) -> None:
    stage = RoughTheatre(tmp_path)
    async with stage.running():
        await asyncio.sleep(1)
        stage.wire_to_server.plan("patch", *[refuse(error)] * 4)
        await stage.make("p", one("server"))
        await stage.until("p", is_ready, within=60)
        stage.wire_to_server.plan("delete", *[refuse(PeerUnreachable("cut"))] * 3)
        await stage.delete("p", 1)
        await stage.gone("p", within=60)


async def test_an_odd_pod_disturbs_no_other(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        metadata = {"namespace": "ns", "name": "odd"}
        await stage.client.create(
            PODS,
            {"metadata": metadata, "spec": {"nodeName": "node-1", "containers": [{"image": "x"}]}},
        )
        await stage.make("p", one("server"))
        await stage.ready("p")


async def test_a_folder_that_cannot_be_written_is_said_aloud(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="must be one we may write to"):
        Theatre(tmp_path / "file")


async def test_faults_that_make_no_sense_are_said_aloud(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", one("server"))
        await stage.ready("p")
        with pytest.raises(UsageError, match="must be one of this agent: node-1, node-2"):
            agent.faults.lose_node("node-9")
        with pytest.raises(UsageError, match="must run on a node"):
            agent.faults.kill(key("nobody"))
        with pytest.raises(UsageError, match="it has: main"):
            agent.faults.kill(key("p"), "side")
        with pytest.raises(UsageError, match="it has: none"):
            await agent.faults.wipe_volume(key("p"), "data")
        agent.faults.lose_node("node-1")
        await agent.faults.stop_node("node-1")  # a lost node says nothing, and does not hang
        assert stage.actors.running == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"choose one of: \[a b\]"),
        ({"container": "c"}, "container c is not valid for pod p"),
        (
            {"container": "a", "previous": True},
            'previous terminated container "a" in pod "p" not found',
        ),
    ],
)
async def test_logs_that_are_not_there(tmp_path: Path, options: Any, message: str) -> None:
    stage = Theatre(tmp_path)
    async with stage.running():
        await stage.make("p", one("server", "a"), one("server", "b"))
        await stage.ready("p")
        with pytest.raises(BadRequest, match=message):
            await stage.log("p", **options)
