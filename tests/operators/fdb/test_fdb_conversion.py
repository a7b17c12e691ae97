"""A live cluster goes from split to unified images and back; a client reads and writes throughout."""

from __future__ import annotations

import pytest

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, coordinators, uids
from operators.fdb.fdb_worlds import World, world
from stateward.fdb.api.kind import FoundationDBCluster

OPTIONS = {"waitBetweenRemovalsSeconds": 0}
COUNTS = {"storage": 3, "log": 3, "stateless": 1}


@pytest.mark.long
async def test_split_becomes_unified_and_split_again(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, imageType="split", automationOptions=OPTIONS, processCounts=COUNTS)
        await it.reconciled(CLUSTER)
        for kind in ("unified", "split"):
            await it_becomes(it, kind)


async def it_becomes(it: World, kind: str) -> None:
    before = await uids(it)
    async with shopping(it, CLUSTER):
        await it.edit(CLUSTER, imageType=kind)
        cluster = await it.until(CLUSTER, lambda now: len(now.status.image_types) == 2)
        assert set(cluster.status.image_types) == {"split", "unified"}
        await it.until(CLUSTER, lambda now: _is_all(now, kind))
        await it.reconciled(CLUSTER)
    after = await uids(it)
    assert after.keys().isdisjoint(before), "each by another"
    assert len(after) == len(before)
    assert {one.spec.image_type for one in await it.groups(CLUSTER)} == {kind}
    assert len(await coordinators(it)) == 3
    assert "There are currently no servers" in await it.typed(CLUSTER, "exclude")


def _is_all(cluster: FoundationDBCluster, kind: str) -> bool:
    return cluster.status.image_types == (kind,)
