"""FoundationDB clusters as people change them: processes in pods, and data that stays."""

from __future__ import annotations

import pytest

from operators.fdb.fdb_worlds import World, world

KNOB = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}


async def keep(it: World, name: str) -> None:
    """Write something that must be there at the end."""
    assert "Committed" in await it.typed(name, "writemode on; set kept here")


async def is_kept(it: World, name: str) -> bool:
    return "`kept' is `here'" in await it.typed(name, "get kept")


async def test_storage_grows_and_shrinks_and_the_data_stays(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop")
        await it.reconciled("shop")
        await keep(it, "shop")
        first = await it.ids("shop", "storage")

        await it.edit("shop", processCounts={"storage": 4})
        await it.reconciled("shop")
        assert len(await it.ids("shop", "storage")) == 4
        assert first < await it.ids("shop", "storage"), "nobody had to go for it"

        await it.edit("shop", processCounts={"storage": 3})
        await it.reconciled("shop")
        assert len(await it.ids("shop", "storage")) == 3
        assert await is_kept(it, "shop")
        assert "There are currently no servers" in await it.typed("shop", "exclude")


async def test_a_knob_is_one_bounce_and_a_listed_group_is_replaced(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop")
        await it.reconciled("shop")
        await keep(it, "shop")
        pods = {it.status.pod.uid for it in await it.groups("shop")}

        await it.edit("shop", processes=KNOB)
        await it.reconciled("shop")
        assert it.asked("kill") == 1
        assert {it.status.pod.uid for it in await it.groups("shop")} == pods

        gone = min(await it.ids("shop", "storage"))
        await it.edit("shop", processGroupsToRemove=[gone])
        await it.reconciled("shop")
        assert gone not in await it.ids("shop", "storage")
        assert len(await it.ids("shop", "storage")) == 3
        assert await is_kept(it, "shop")


async def test_split_images_have_their_files_by_the_sidecar(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", imageType="split", storageServersPerPod=2)
        await it.reconciled("shop")
        await it.edit("shop", processes=KNOB)
        await it.reconciled("shop")
        assert it.asked("kill") == 1


@pytest.mark.parametrize(("mode", "nodes"), [("single", 1), ("triple", 5)])
async def test_redundancies(plane: str, mode: str, nodes: int) -> None:
    async with world(plane, nodes=nodes) as it, it.operating():
        counts = {"single": {"stateless": 1}, "triple": {"stateless": 3, "log": 5}}[mode]
        domain = {"single": "foundationdb.org/none", "triple": "kubernetes.io/hostname"}[mode]
        await it.create(
            "shop",
            databaseConfiguration={"redundancy_mode": mode},
            faultDomain={"key": domain},
            processCounts=counts,
        )
        cluster = await it.reconciled("shop")
        assert cluster.status.health.available
        coordinators = cluster.status.connection_string.partition("@")[2].split(",")
        assert len(coordinators) == {"single": 1, "triple": 5}[mode]
