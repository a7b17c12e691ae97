"""A majority is away, or cannot be asked, or is not who it should be: look, tell, touch nothing."""

from __future__ import annotations

import itertools

import pytest

from fakes.etcd_views import picture
from operators.etcd.troubles import (
    GRACE,
    NAME,
    Impostor,
    Severed,
    Standing,
    Writes,
    add_by_hand,
    eventually,
    no_room,
    nudge,
    pod,
    remove_by_hand,
    run_kubectl,
    standing,
    stays,
    tells,
    three,
    told,
)
from operators.etcd.worlds import World, said, world
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.decide import chart, moves
from stateward.etcd.model.members import quorum
from stateward.kube.client import MergePatch
from stateward.kube.interception import InterceptedClient
from stateward.kube.resources import STATEFUL_SETS

#: What would take something away, or change who belongs to the cluster.
TAKING = {"RemoveMember", "AddLearner", "Promote", "DeleteClaim", "DeletePod", "MoveLeader"}


def is_lost(cluster: EtcdCluster) -> bool:
    return said(cluster, "Quorate")[1] == "QuorumLost"


@pytest.mark.long  # all three hang always
async def test_row_4_two_of_three_hang_and_come_back(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        faults = it.cluster.agent.faults
        async with it.writing(NAME) as writer:
            for name in ("shop-1", "shop-2"):
                faults.pause(it.key(name))
            await nudge(it)
            # A survivor may name the old leader for a moment longer: nothing is blocked until then.
            lost = await it.until(NAME, lambda now: is_lost(now) and bool(now.status.blockers))
            assert said(lost, "Available") == ("False", "QuorumLost")
            assert said(lost, "Ready") == ("False", "QuorumLost")
            assert [it.guard for it in lost.status.blockers] == ["QuorumLost"]
            await stays(lambda: standing(it), before)
            for name in ("shop-1", "shop-2"):
                faults.resume(it.key(name))
            await it.ready(NAME)
            assert await writer.lost() == []
        assert await standing(it) == before
        await tells(it, "QuorumLost")
        assert not TAKING & await told(it)


async def test_row_4_two_pods_that_find_no_node_come_back_when_they_do(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with no_room(it):
            await run_kubectl(it, "delete", "pod", "shop-1", "shop-2", "--wait=false")
            await it.until(NAME, lambda now: said(now, "Ready") == ("False", "QuorumLost"))
            await eventually(lambda: has_all_pods_anew(it, before))
            await stays(lambda: kept(it), (before.members, before.claims))
        await it.ready(NAME)
        after = await standing(it)
        assert (after.members, after.claims) == (before.members, before.claims)
        assert after.pods[0] == before.pods[0]
        await tells(it, "QuorumLost")
        assert not TAKING & await told(it)


async def has_all_pods_anew(world: World, before: Standing) -> bool:
    pods = (await standing(world)).pods
    return len(pods) == 3 and all(pods[it] != before.pods[it] for it in (1, 2))


async def kept(world: World) -> tuple[object, object]:
    now = await standing(world)
    return now.members, now.claims


async def test_row_17_pods_that_somebody_scaled_away_come_back(plane: str) -> None:
    """Quorum went with them, so that only the last known list tells how many there were."""
    async with world(plane) as it, it.operating():
        before = await three(it)
        patch = MergePatch({"spec": {"replicas": 0}})
        await it.client.patch(STATEFUL_SETS, it.key(NAME), patch)
        await eventually(lambda: has_other_pods(it, before))
        await it.ready(NAME)
        after = await standing(it)
        assert (after.members, after.claims) == (before.members, before.claims)
        await tells(it, "WriteWorkload")
        assert not TAKING & await told(it)


async def has_other_pods(world: World, before: Standing) -> bool:
    pods = (await standing(world)).pods
    return len(pods) == 3 and not set(pods.values()) & set(before.pods.values())


async def test_row_4_all_three_are_killed_at_once_and_come_back(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        async with it.writing(NAME) as writer:
            for ordinal in before.pods:
                it.cluster.agent.faults.kill(it.key(f"{NAME}-{ordinal}"))
            await eventually(lambda: all_started_again(it))
            await nudge(it)
            await it.ready(NAME)
            assert await writer.lost() == []
        assert await standing(it) == before
        assert not TAKING & await told(it)


async def all_started_again(world: World) -> bool:
    states = [it.status.container_statuses[0] for it in await world.pods(NAME)]
    return all(it.restart_count and it.ready for it in states)


async def test_row_4_all_three_hang_and_come_back(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        for ordinal in before.pods:
            it.cluster.agent.faults.pause(it.key(f"{NAME}-{ordinal}"))
        await nudge(it)
        lost = await it.until(NAME, lambda now: said(now, "Ready")[1] == "QuorumLost")
        assert said(lost, "Available") == ("False", "QuorumLost")
        await stays(lambda: standing(it), before)
        for ordinal in before.pods:
            it.cluster.agent.faults.resume(it.key(f"{NAME}-{ordinal}"))
        await it.ready(NAME)
        assert await standing(it) == before
        await tells(it, "Unreachable")
        assert not TAKING & await told(it)


# -------------------------------------------------------------------------- we are the blind ones


async def test_an_operator_that_reaches_nobody_does_nothing(plane: str) -> None:
    async with world(plane) as it:
        line, writes = Severed(it.dialer), Writes()
        async with it.operating(dialer=line, wrap=lambda to: InterceptedClient(to, writes)):
            before = await three(it)
            line.is_cut = True
            writes.made.clear()
            await it.edit(NAME, replicas=1)
            blind = await it.until(NAME, lambda now: said(now, "Ready")[1] == "Unreachable")
            assert said(blind, "Available") == ("Unknown", "Unreachable")
            await stays(lambda: standing(it), before)
            assert writes.made == []
            await it.edit(NAME, replicas=3)
            line.is_cut = False
            await it.ready(NAME)
            assert await standing(it) == before
            await tells(it, "Unreachable")


async def test_row_3_a_split_brain_is_only_reported(plane: str) -> None:
    """Real pods make none, so one door lies about whose member is behind it."""
    async with world(plane) as it:
        liar, writes = Impostor(it.dialer), Writes()
        async with it.operating(dialer=liar, wrap=lambda to: InterceptedClient(to, writes)):
            before = await three(it)
            writes.made.clear()
            liar.address = (await pod(it, 2)).status.pod_ip
            await it.edit(NAME, replicas=2)
            split = await it.until(NAME, lambda now: said(now, "Ready")[1] == "SplitBrain")
            assert said(split, "Degraded") == ("True", "SplitBrain")
            await stays(lambda: standing(it), before)
            assert writes.made == []
            liar.address = ""
            await it.edit(NAME, replicas=3)
            await it.ready(NAME)
            assert await standing(it) == before
            await tells(it, "SplitBrain")


async def test_row_5_a_foreign_member_stops_everything_until_it_is_gone(plane: str) -> None:
    async with world(plane) as it:
        writes = Writes()
        async with it.operating(wrap=lambda to: InterceptedClient(to, writes)):
            before = await three(it)
            stranger = await add_by_hand(it, "https://127.99.99.99:2380")
            writes.made.clear()
            await it.edit(NAME, replicas=1)
            foreign = await it.until(NAME, lambda now: said(now, "Ready")[1] == "ForeignMember")
            assert said(foreign, "Available") == ("True", "QuorumAgrees")
            await stays(lambda: standing(it), before)
            assert writes.made == []
            await remove_by_hand(it, stranger)
            await nudge(it)
            smaller = await it.ready(NAME)
            assert smaller.status.replicas == 1
            await tells(it, "ForeignMember", "RemoveMember")


# -------------------------------------------------------------------------- on the chart


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_row_9_never_takes_a_quorum_away(size: int) -> None:
    """A removal that would cost the quorum cannot be staged: those who are left always have one.

    So every picture of healthy and dead members is drawn, and all have been dead for long.
    """
    removals = 0
    for dead in itertools.product((False, True), repeat=size):
        letters = ["d!&" if it else "f" for it in dead]
        if not all(dead):
            letters[dead.index(False)] = "L" if dead.count(False) >= quorum(size) else "n"
        away = {at: GRACE * 100 for at, it in enumerate(dead) if it}
        move = chart.next_move(picture(" ".join(letters), away=away))
        if isinstance(move, moves.RemoveMember):
            removals += 1
            assert dead[int(move.member.rpartition("-")[2])]
            assert dead.count(False) >= quorum(size - 1)
            assert dead.count(False) >= quorum(size)
    assert bool(removals) == (size >= 3)
