"""Row 19: a change of the template reaches real members one at a time, the leader last."""

from __future__ import annotations

from typing import Any

import pytest

from operators.etcd.witness import Witness, fewest_ready, leader_of, member_ids, told
from operators.etcd.worlds import World, said, world
from stateward.etcd.api.kind import EtcdCluster


async def rolled(it: World, witness: Witness, change: dict[str, Any]) -> None:
    """Change something under writes and see every member restarted as it must be."""
    before, first = await member_ids(it, "shop"), await leader_of(it, "shop")
    start = len(witness.restarts)
    async with it.writing("shop") as writer, fewest_ready(it, "shop") as fewest:
        await it.edit("shop", **change)
        await it.ready("shop")
        assert await writer.lost() == []
    restarts = witness.restarts[start:]
    assert sorted(it.pod for it in restarts) == ["shop-0", "shop-1", "shop-2"]
    assert restarts[-1].pod == first, "the leader is the last one"
    assert [it.healthy for it in restarts] == [3, 3, 3], "the next one only when all are well"
    assert all(it.leader not in {"", it.pod} for it in restarts), "leadership moves first"
    assert fewest == [2]
    assert writer.acknowledged > 20
    assert await member_ids(it, "shop") == before
    assert "RolloutStuck" not in await told(it, "shop"), "who only starts is given its time"


CHANGES = {
    "an option": {"options": {"max-txn-ops": "256"}},
    "an annotation and resources": {
        "podTemplate": {
            "metadata": {"annotations": {"who": "me"}},
            "spec": {"containers": [{"name": "etcd", "resources": {"requests": {"cpu": "10m"}}}]},
        }
    },
}


@pytest.mark.parametrize("change", CHANGES)
async def test_19_one_at_a_time_and_the_leader_last(plane: str, change: str) -> None:
    async with world(plane) as it:
        witness = Witness(it)
        async with it.operating(wrap=witness.between):
            await it.create("shop", replicas=3)
            await it.ready("shop")
            await rolled(it, witness, CHANGES[change])
            reasons = await told(it, "shop")
            assert {"WriteWorkload", "DeletePod", "MoveLeader"} <= set(reasons)
            assert reasons.index("MoveLeader") > reasons.index("DeletePod")


def is_stuck(cluster: EtcdCluster) -> bool:
    """One member crashes, and the conditions say so."""
    crash = any("crashes again and again" in it.message for it in cluster.status.members)
    return crash and said(cluster, "Degraded") == ("True", "MembersUnhealthy")


async def test_19_a_bad_option_stops_at_the_first_member(plane: str) -> None:
    """Of which tokens there are, only etcd knows."""
    async with world(plane) as it:
        witness = Witness(it)
        async with it.operating(wrap=witness.between):
            # So long that a test that waits for it fails: nothing here is mended by replacing.
            await it.create("shop", replicas=3, unhealthyMemberGracePeriod="10m")
            await it.ready("shop")
            ids, first = await member_ids(it, "shop"), await leader_of(it, "shop")
            async with it.writing("shop") as writer:
                await it.edit("shop", options={"auth-token": "nonsense"})
                stuck = await it.until("shop", is_stuck)
                assert said(stuck, "Ready")[0] == "False"
                assert said(stuck, "Available") == ("True", "QuorumAgrees")
                assert len(witness.restarted) == 1
                assert first not in witness.restarted
                written = writer.acknowledged
                await it.edit("shop", options=None)
                await it.ready("shop")
                assert writer.acknowledged > written > 0
                assert await writer.lost() == []
            # Only the one that crashed is started again: the others never left the old template.
            assert set(witness.restarted) == {witness.restarted[0]}
            assert await member_ids(it, "shop") == ids


async def test_19_a_lone_member_is_restarted_too(plane: str) -> None:
    """That is an outage of a moment, and was asked for."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=1)
        await it.ready("shop")
        ids = await member_ids(it, "shop")
        async with it.writing("shop") as writer:
            await it.edit("shop", options={"max-txn-ops": "256"})
            await it.ready("shop")
            assert await writer.lost() == []
        assert await member_ids(it, "shop") == ids


async def test_19_on_emptydir_each_joins_anew_and_nothing_is_lost(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3, storage={"emptyDir": {}})
        await it.ready("shop")
        ids = await member_ids(it, "shop")
        async with it.writing("shop") as writer:
            await it.edit("shop", options={"max-txn-ops": "256"})
            await it.ready("shop")
            assert await writer.lost() == []
        assert writer.acknowledged > 20
        after = await member_ids(it, "shop")
        assert after.keys() == ids.keys()
        assert not set(after.values()) & set(ids.values()), "each of them joined anew"
