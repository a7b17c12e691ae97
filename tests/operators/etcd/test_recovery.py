"""A majority is lost for good. Only a person may say so; then the cluster goes on from a survivor."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from operators.etcd.troubles import (
    NAME,
    Standing,
    Writes,
    lose_disk,
    standing,
    stays,
    tells,
    three,
    told,
)
from operators.etcd.worlds import PATIENCE, World, said, world
from stateward.etcd.api.kind import EtcdCluster
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.resources import CONFIG_MAPS

R = TypeVar("R")


async def test_row_4a_an_approved_recovery_goes_on_from_the_survivor_once(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        await approve(it)
        await it.until(NAME, is_recovered)  # given in advance, so it is used up
        async with it.writing(NAME) as writer:
            await lose_quorum(it, 1, 2)
            await stays(lambda: standing(it), before, seconds=12)
            await withdraw(it)
            async with no_pod_on_an_old_volume(it, before, 1, 2):
                await approve(it)
                well = await it.until(NAME, is_recovered)
                await it.ready(NAME)
            assert await writer.lost() == []
        after = await standing(it)
        assert (after.members[0], after.claims[0]) == (before.members[0], before.claims[0])
        for ordinal in (1, 2):
            assert after.members[ordinal] != before.members[ordinal]
            assert after.claims[ordinal] != before.claims[ordinal]
        assert well.status.recovery is not None
        assert well.status.recovery.survivor == "shop-0"
        assert is_sealed(Path(well.status.recovery.snapshot))
        assert not await is_forced(it)
        await tells(it, "QuorumLost", "SaveSurvivor", "DeletePod", "AddLearner", "Promote")

        await lose_quorum(it, 1, 2)
        await stays(lambda: standing(it), after)
        assert said(await it.get(NAME), "Ready") == ("False", "QuorumLost")
        await withdraw(it)
        await approve(it)
        await it.until(NAME, is_recovered)
        await it.ready(NAME)


async def test_row_4a_a_named_survivor_must_answer_before_anything_is_done(plane: str) -> None:
    async with world(plane) as it:
        writes = Writes()
        async with it.operating(wrap=lambda to: InterceptedClient(to, writes)):
            before = await three(it, leader=2)
            async with it.writing(NAME) as writer:
                await lose_quorum(it, 0, 1)
                writes.made.clear()
                await approve(it, survivor="shop-1")
                await it.until(NAME, lambda now: said(now, "Ready")[1] == "SurvivorMissing")
                await stays(lambda: standing(it), before, seconds=4)
                assert writes.made == []
                async with no_pod_on_an_old_volume(it, before, 0, 1):
                    await approve(it, survivor="shop-2")
                    well = await it.until(NAME, is_recovered)
                    await it.ready(NAME)
                assert await writer.lost() == []
            assert well.status.recovery is not None
            assert well.status.recovery.survivor == "shop-2"
            after = await standing(it)
            assert after.members[2] == before.members[2]
            assert after.claims[2] == before.claims[2]
            assert sorted(after.members) == [0, 1, 2]
            await tells(it, "SurvivorMissing", "SaveSurvivor")


@pytest.mark.parametrize("stage", ["statefulsets", "configmaps"])
async def test_an_approval_that_is_withdrawn_before_force_leaves_all_as_it_was(
    plane: str, stage: str
) -> None:
    """The operator is held at the first write of a kind, and dies there; the approval goes."""
    async with world(plane) as it:
        before = await die_at(it, stage)
        await it.edit(NAME, quorumRecovery=None)
        async with it.operating():
            for each in await it.pods(NAME):
                it.cluster.agent.faults.resume(each.metadata.key)
            await it.ready(NAME)
            after = await standing(it)
            assert (after.members, after.claims) == (before.members, before.claims)
            assert (await it.get(NAME)).status.recovery is None
            assert not await is_forced(it)
            assert "RemoveMember" not in await told(it)


@pytest.mark.long  # one before force is there always
async def test_an_approval_that_is_withdrawn_after_force_comes_too_late(plane: str) -> None:
    """A survivor may have started alone by then: others on their old volumes would be a second cluster."""
    async with world(plane) as it:
        before = await die_at(it, "pods")
        assert await is_forced(it)
        await it.edit(NAME, quorumRecovery=None)
        async with no_pod_on_an_old_volume(it, before, 0, 1), it.operating():
            await it.ready(NAME)
            after = await standing(it)
            assert after.members[2] == before.members[2]
            assert after.claims[2] == before.claims[2]
            assert not set(after.claims.values()) & {before.claims[0], before.claims[1]}
            assert not await is_forced(it)


# -------------------------------------------------------------------------- what happens

#: A process that hangs hears no signal to end; nobody wants to wait for it.
QUICK = {"spec": {"terminationGracePeriodSeconds": 2}}


async def lose_quorum(world: World, *ordinals: int) -> None:
    """Lose the disks of a majority, and see it told."""
    await asyncio.gather(*(lose_disk(world, it) for it in ordinals))
    await world.until(NAME, lambda now: said(now, "Ready") == ("False", "QuorumLost"))


async def die_at(world: World, plural: str) -> Standing:
    """Let an operator die at its first write of a kind in a recovery; return what stood before."""
    gate = Gate(plural)
    async with world.operating(wrap=lambda to: InterceptedClient(to, gate)):
        before = await three(world, leader=2, podTemplate=QUICK)
        for name in ("shop-0", "shop-1"):
            world.cluster.agent.faults.pause(world.key(name))
        await world.until(NAME, lambda now: said(now, "Ready")[1] == "QuorumLost")
        gate.is_shut = True
        await approve(world, survivor="shop-2")
        async with asyncio.timeout(PATIENCE):
            await gate.reached.wait()
    return before


async def approve(world: World, survivor: str = "best") -> None:
    await world.edit(NAME, quorumRecovery={"acceptDataLoss": True, "survivor": survivor})


async def withdraw(world: World) -> None:
    """Take an approval back, and see it forgotten."""
    await world.edit(NAME, quorumRecovery=None)
    await world.until(NAME, lambda now: now.status.recovery is None)


def is_recovered(cluster: EtcdCluster) -> bool:
    report = cluster.status.recovery
    return report is not None and report.done


def is_sealed(snapshot: Path) -> bool:
    """Tell whether a saved snapshot ends in the hash of what is before it."""
    content = snapshot.read_bytes()
    return hashlib.sha256(content[:-32]).digest() == content[-32:]


async def is_forced(world: World) -> bool:
    found = await world.client.get(CONFIG_MAPS, world.key(f"{NAME}-cluster-state"))
    return found.data.get("ETCD_FORCE_NEW_CLUSTER") == "true"


@asynccontextmanager
async def no_pod_on_an_old_volume(
    world: World, before: Standing, *ordinals: int
) -> AsyncGenerator[None, None]:
    """See that no new pod of these ever stands on a volume of before."""
    seen: list[int] = []

    async def look() -> None:
        while True:
            pods = (await standing(world)).pods
            claims = (await standing(world)).claims  # later, so that a claim of before is too late
            for it in ordinals:
                is_new = it in pods and pods[it] != before.pods[it]
                if is_new and claims.get(it) == before.claims[it]:
                    seen.append(it)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(look())
    try:
        yield
        assert not task.done(), "nobody looked"
        assert seen == []
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@dataclass(slots=True)
class Gate(PassThrough):
    """Holds the operator for ever at a write of a kind, once it is shut."""

    plural: str
    is_shut: bool = False
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        if self.is_shut and call.writes and call.resource.plural == self.plural:
            self.reached.set()
            await asyncio.Event().wait()
        return await perform()
