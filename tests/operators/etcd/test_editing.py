"""Minds that change in the middle: what is asked for last is what comes."""

from __future__ import annotations

import asyncio

import pytest

from operators.etcd.test_lifecycle import eventually
from operators.etcd.witness import member_ids, told, uids
from operators.etcd.worlds import PATIENCE, World, said, version_of, world
from stateward.etcd.api.kind import EtcdCluster
from stateward.kube.client import MergePatch
from stateward.kube.resources import NODES


async def cordon(it: World, *, closed: bool) -> None:
    """Let no new pod onto any node, or let them again."""
    for node in (await it.client.list(NODES)).items:
        patch = MergePatch({"spec": {"unschedulable": closed}})
        await it.client.patch(NODES, node.metadata.key, patch)


def waits_for_a_node(cluster: EtcdCluster) -> bool:
    rows = [one for one in cluster.status.members if one.name == "shop-3"]
    return any(one.learner and "finds no node" in one.message for one in rows)


async def test_6a_a_learner_that_finds_no_node_is_taken_back(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        ids, pods = await member_ids(it, "shop"), uids(await it.pods("shop"))
        await cordon(it, closed=True)
        async with it.writing("shop") as writer:
            await it.edit("shop", replicas=5)
            waiting = await it.until("shop", waits_for_a_node)
            assert said(waiting, "Ready") == ("False", "Scaling")
            assert said(waiting, "Available") == ("True", "QuorumAgrees")
            await it.edit("shop", replicas=3)
            await it.ready("shop")
            assert await writer.lost() == []
        assert await member_ids(it, "shop") == ids

        async def only_the_first_are_left() -> bool:
            return uids(await it.pods("shop")) == pods

        await eventually(only_the_first_are_left)  # who finds no node takes a moment to go
        assert {"AddLearner", "RemoveMember"} <= set(await told(it, "shop"))
        await cordon(it, closed=False)
        await it.edit("shop", replicas=4)  # and nothing of it is in the way later
        await it.ready("shop")
        assert len(await member_ids(it, "shop")) == 4


async def test_6_a_learner_that_waits_goes_on_as_soon_as_there_is_room(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        await cordon(it, closed=True)
        await it.edit("shop", replicas=4)
        await it.until("shop", waits_for_a_node)
        await cordon(it, closed=False)
        await it.ready("shop")
        assert len(await member_ids(it, "shop")) == 4


async def test_12_13_three_five_one_within_a_moment(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        async with it.writing("shop") as writer:
            await it.edit("shop", replicas=5)
            await it.until("shop", lambda its: len(its.status.members) > 3)
            await it.edit("shop", replicas=1)
            await it.ready("shop")
            assert await writer.lost() == []
        assert (await member_ids(it, "shop")).keys() == {"shop-0"}

        async def only_its_volume_is_left() -> bool:
            return [one.metadata.name for one in await it.claims("shop")] == ["data-shop-0"]

        await eventually(only_its_volume_is_left)


@pytest.mark.parametrize(("size", "after"), [(1, 0.0), (5, 0.5), (1, 1.5)])
async def test_18_another_size_while_it_begins(plane: str, size: int, after: float) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await asyncio.sleep(after)
        await it.edit("shop", replicas=size)
        await it.ready("shop")
        names = {f"shop-{n}" for n in range(size)}
        assert (await member_ids(it, "shop")).keys() == names
        async with asyncio.timeout(PATIENCE):  # who was removed may still be on its way out
            while uids(await it.pods("shop")).keys() != names:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


@pytest.mark.usefixtures("both_minors")
async def test_12_19_another_version_and_another_size_at_once(plane: str) -> None:
    async with world(plane, etcd="3.5") as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        async with it.writing("shop") as writer:
            await it.edit("shop", replicas=4, version=version_of("3.6"))
            found = await it.ready("shop")
            assert await writer.lost() == []
        assert {one.version for one in found.status.members} == {version_of("3.6")}
        assert len(found.status.members) == 4
