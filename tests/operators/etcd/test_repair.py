"""Members that break: what is mended by a new one, what is only waited for, and what is kept."""

from __future__ import annotations

import pytest

from operators.etcd.troubles import (
    GRACE,
    NAME,
    eventually,
    killing,
    lose_disk,
    no_room,
    nudge,
    pod,
    remove_by_hand,
    replaced,
    run_kubectl,
    standing,
    stays,
    tells,
    three,
    told,
)
from operators.etcd.worlds import World, said, world
from stateward.app.etcd.writer import Writer
from stateward.etcd.api.kind import EtcdCluster


def message(cluster: EtcdCluster, ordinal: int) -> str:
    """Return what the status says is wrong with a member."""
    return next(it.message for it in cluster.status.members if it.ordinal == ordinal)


@pytest.mark.parametrize("victim", [1, 2])
async def test_row_9_a_member_whose_disk_is_empty_is_replaced(plane: str, victim: int) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with it.writing(NAME) as writer:
            began = it.ports.clock.monotonic()
            await lose_disk(it, victim)
            await it.until(NAME, lambda now: len(now.status.last_known_members) < 3)
            # The clock of the status has whole seconds.
            assert it.ports.clock.monotonic() - began > GRACE - 1
            after = await replaced(it, before, victim)
            assert await writer.lost() == []
            assert writer.acknowledged > 50
        assert after.without(victim) == before.without(victim)
        # Its volume is taken from it at once; a learner that was faster started on it, as it may:
        # it is empty. Then it keeps its pod too.
        renewed = after.claims[victim] != before.claims[victim]
        assert (after.pods[victim] != before.pods[victim]) is renewed
        freed = ("DeleteClaim",) if renewed else ()
        await tells(it, "MembersUnhealthy", "RemoveMember", *freed, "AddLearner", "Promote")


async def test_row_9_a_member_that_is_killed_again_and_again_is_replaced(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with it.writing(NAME) as writer:
            async with killing(it, 2):
                after = await replaced(it, before, 2)
            assert await writer.lost() == []
        assert after.without(2) == before.without(2)
        assert after.claims[2] != before.claims[2]
        await tells(it, "MembersUnhealthy", "RemoveMember", "AddLearner", "Promote")


async def test_row_9_a_member_that_hangs_is_replaced(plane: str) -> None:
    """It holds its address and its files, and says nothing."""
    async with world(plane) as it, it.operating():
        quick = {"spec": {"terminationGracePeriodSeconds": 2}}
        before = await three(it, podTemplate=quick)
        it.cluster.agent.faults.pause(it.key("shop-1"))
        await nudge(it)
        after = await replaced(it, before, 1)
        assert after.without(1) == before.without(1)
        assert after.claims[1] != before.claims[1]
        await tells(it, "MembersUnhealthy", "RemoveMember", "AddLearner", "Promote")


async def test_row_9_no_new_disk_for_a_member_that_finds_no_node(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with no_room(it):
            gone = await pod(it, 2)
            await run_kubectl(it, "delete", "pod", "shop-2", "--wait=false")
            degraded = await it.until(NAME, lambda now: "no node" in message(now, 2))
            assert said(degraded, "Available") == ("True", "QuorumAgrees")
            assert said(degraded, "Degraded") == ("True", "MembersUnhealthy")
            waiting = await standing(it)
            await stays(lambda: standing(it), waiting)
        await it.ready(NAME)
        after = await standing(it)
        assert after.members == before.members
        assert after.claims == before.claims
        assert after.pods[2] != gone.metadata.uid
        assert "RemoveMember" not in await told(it)


async def test_row_9_no_new_disk_for_a_member_whose_image_cannot_be_pulled(plane: str) -> None:
    """A bad image reaches one follower, and stops there; a good one mends it (row 9c)."""
    async with world(plane) as it, it.operating():
        before = await three(it)
        await it.edit(NAME, podTemplate=image(f"example.invalid/etcd:v{it.version}"))
        await it.until(NAME, lambda now: "image" in message(now, 2))
        waiting = await standing(it)
        assert waiting.without(2) == before.without(2)
        await stays(lambda: standing(it), waiting)
        await it.edit(NAME, podTemplate=None)
        await it.ready(NAME)
        after = await standing(it)
        assert (after.members, after.claims) == (before.members, before.claims)
        assert "RemoveMember" not in await told(it)
        await tells(it, "MembersUnhealthy", "DeletePod")


def image(name: str) -> dict[str, object]:
    return {"spec": {"containers": [{"name": "etcd", "image": name}]}}


@pytest.mark.parametrize("victim", [0, 2])
async def test_row_10_a_pod_that_is_not_listed_joins(plane: str, victim: int) -> None:
    """Somebody removed its member from etcd, by hand."""
    async with world(plane) as it, it.operating():
        before = await three(it, leader=1)
        async with it.writing(NAME) as writer:
            await remove_by_hand(it, int(before.members[victim], 16))
            await nudge(it)
            after = await replaced(it, before, victim)
            assert await writer.lost() == []
        assert after.without(victim) == before.without(victim)
        assert after.claims[victim] != before.claims[victim]
        await tells(it, "AddLearner", "Promote")


async def test_a_leader_that_is_killed_costs_no_write(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it, leader=1)
        async with it.writing(NAME) as writer:
            await eventually(lambda: reached(writer, 30))
            it.cluster.agent.faults.kill(it.key("shop-1"))
            # Whoever is elected: it may be the one that was killed, if it is quick.
            await eventually(lambda: restarted(it, 1))
            await it.ready(NAME)
            so_far = writer.acknowledged
            await eventually(lambda: reached(writer, so_far + 30))
            assert await writer.lost() == []
            assert writer.longest_gap < 30
        assert await standing(it) == before
        assert "RemoveMember" not in await told(it)


async def restarted(it: World, ordinal: int) -> bool:
    states = (await pod(it, ordinal)).status.container_statuses
    return all(one.restart_count and one.ready for one in states)


async def reached(writer: Writer, count: int) -> bool:
    return writer.acknowledged >= count


# -------------------------------------------------------------------------- people with kubectl


async def test_a_deleted_pod_comes_back_as_the_same_member(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with it.writing(NAME) as writer:
            await run_kubectl(it, "delete", "pod", "shop-0", "--wait=false")
            await eventually(lambda: is_another_pod(it, 0, before.pods[0]))
            await it.ready(NAME)
            assert await writer.lost() == []
        after = await standing(it)
        assert after.members == before.members
        assert after.claims == before.claims
        assert after.without(0) == before.without(0)
        assert "RemoveMember" not in await told(it)


async def is_another_pod(world: World, ordinal: int, uid: str) -> bool:
    return (await standing(world)).pods.get(ordinal, uid) != uid


async def test_a_deleted_claim_stays_while_its_pod_runs_and_then_the_member_is_replaced(
    plane: str,
) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with it.writing(NAME) as writer:
            await run_kubectl(it, "delete", "pvc", "data-shop-2", "--wait=false")
            await it.until(NAME, lambda now: "being deleted" in message(now, 2))
            await stays(lambda: standing(it), before)
            await run_kubectl(it, "delete", "pod", "shop-2", "--wait=false")
            after = await replaced(it, before, 2)
            assert await writer.lost() == []
        assert after.without(2) == before.without(2)
        assert after.claims[2] != before.claims[2]
        await tells(it, "RemoveMember", "AddLearner", "Promote")


async def test_13_14_nobody_goes_to_sleep_on_a_volume_that_somebody_deleted(plane: str) -> None:
    """The two good copies stay until the third one has another volume."""
    async with world(plane) as it, it.operating():
        before = await three(it)
        await it.door(await pod(it, 0)).put(b"promised", b"kept")
        await run_kubectl(it, "delete", "pvc", "data-shop-0", "--wait=false")
        await it.until(NAME, lambda now: said(now, "Ready") == ("False", "VolumeLeaving"))
        await it.edit(NAME, replicas=0)
        await it.until(NAME, lambda now: now.status.observed_generation == 2)
        await stays(lambda: standing(it), before)
        held = await it.get(NAME)
        assert said(held, "Ready") == ("False", "VolumeLeaving")
        assert said(held, "Available") == ("True", "QuorumAgrees")
        assert "kubectl delete pod shop-0" in held.status.blockers[0].hint
        await run_kubectl(it, "delete", "pod", "shop-0", "--wait=false")
        await it.until(NAME, lambda now: said(now, "Ready") == ("True", "Asleep"))
        await it.edit(NAME, replicas=1)
        await it.ready(NAME)
        assert await it.door(await pod(it, 0)).get(b"promised") == b"kept"


async def test_14_19_the_only_copy_is_not_stopped_on_a_volume_that_somebody_deleted(
    plane: str,
) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it, replicas=1)
        await run_kubectl(it, "delete", "pvc", "data-shop-0", "--wait=false")
        await it.until(NAME, lambda now: said(now, "Ready") == ("False", "VolumeLeaving"))
        for change in ({"options": {"max-txn-ops": "256"}}, {"replicas": 0}):
            await it.edit(NAME, **change)
            await nudge(it)
            await stays(lambda: standing(it), before, seconds=3)
        assert said(await it.get(NAME), "Available") == ("True", "QuorumAgrees")
        await it.edit(NAME, replicas=3)
        # The change is rolled: where the others hold the data, the first one joins anew.
        after = await replaced(it, before, 0)
        assert after.claims[0] != before.claims[0]


# -------------------------------------------------------------------------- the only copy


async def test_the_lost_disk_of_a_single_member_does_not_come_back_empty_and_ready(
    plane: str,
) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it, replicas=1)
        await lose_disk(it, 0)
        lost = await it.until(NAME, lambda now: said(now, "Ready") == ("False", "QuorumLost"))
        assert said(lost, "Available") == ("False", "QuorumLost")
        await it.until(NAME, lambda now: "crashes" in message(now, 0))
        await stays(lambda: standing(it), before)
        assert said(await it.get(NAME), "Ready") == ("False", "QuorumLost")
        await tells(it, "Unreachable")


async def test_the_deleted_claim_of_a_single_member_does_not_come_back_empty_and_ready(
    plane: str,
) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it, replicas=1)
        await run_kubectl(it, "delete", "pvc", "data-shop-0", "--wait=false")
        await run_kubectl(it, "delete", "pod", "shop-0", "--wait=false")
        await it.until(NAME, lambda now: said(now, "Ready") == ("False", "QuorumLost"))
        await it.until(NAME, lambda now: "crashes" in message(now, 0))
        after = await standing(it)
        assert after.members == before.members
        assert after.claims[0] != before.claims[0]
        await stays(lambda: standing(it), after)
