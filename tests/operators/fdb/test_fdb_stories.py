"""FoundationDB clusters as people change them: processes in pods, and data that stays."""

from __future__ import annotations

import pytest

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import (
    CLUSTER,
    NAMESPACE,
    coordinators,
    is_kept,
    keep,
    pods,
    uids,
)
from operators.fdb.fdb_worlds import world
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.names import SIDECAR_CONTAINER
from stateward.kube.meta import ObjectKey

KNOB = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}


async def test_storage_grows_and_shrinks_and_the_data_stays(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop")
        await it.reconciled("shop")
        await keep(it)
        first = await it.ids("shop", "storage")

        await it.edit("shop", processCounts={"storage": 4})
        await it.reconciled("shop")
        assert len(await it.ids("shop", "storage")) == 4
        assert first < await it.ids("shop", "storage"), "nobody had to go for it"

        await it.edit("shop", processCounts={"storage": 3})
        await it.reconciled("shop")
        assert len(await it.ids("shop", "storage")) == 3
        assert await is_kept(it)
        assert "There are currently no servers" in await it.typed("shop", "exclude")


async def test_a_knob_is_one_bounce_and_a_listed_group_is_replaced(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop")
        await it.reconciled("shop")
        await keep(it)
        pods = {it.status.pod.uid for it in await it.groups("shop")}

        async with shopping(it, "shop") as client:
            await it.edit("shop", processes=KNOB)
            await it.reconciled("shop")
            assert await client.recoveries() >= 1
        assert it.asked("kill") == 1
        assert {it.status.pod.uid for it in await it.groups("shop")} == pods

        gone = min(await it.ids("shop", "storage"))
        await it.edit("shop", processGroupsToRemove=[gone])
        await it.reconciled("shop")
        assert gone not in await it.ids("shop", "storage")
        assert len(await it.ids("shop", "storage")) == 3
        assert await is_kept(it)


async def test_split_images_have_their_files_by_the_sidecar_even_if_it_is_silent_for_a_while(
    plane: str,
) -> None:
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, imageType="split", storageServersPerPod=2)
        await it.reconciled(CLUSTER)
        free = (await pods(it, "log")).keys() - await coordinators(it)
        silent = ObjectKey(NAMESPACE, min(free))
        before = await uids(it)
        it.cluster.agent.faults.pause(silent, SIDECAR_CONTAINER)
        await it.edit(CLUSTER, processes=KNOB)

        def is_told(cluster: FoundationDBCluster) -> bool:
            return silent.name.removeprefix(f"{CLUSTER}-") in _unreachable(cluster)

        cluster = await it.until(CLUSTER, is_told)
        assert cluster.status.generations.reconciled != cluster.metadata.generation
        await it.until(CLUSTER, lambda now: "sidecar" in now.status.doing)
        assert it.asked("kill") == 0, "nobody is started anew until all can be"
        it.cluster.agent.faults.resume(silent, SIDECAR_CONTAINER)
        cluster = await it.reconciled(CLUSTER)
        assert it.asked("kill") == 1
        assert _unreachable(cluster) == set()
        assert await uids(it) == before


def _unreachable(cluster: FoundationDBCluster) -> set[str]:
    """Return the groups whose sidecars do not answer, as the status of the cluster has it."""
    return {
        one.process_group_id
        for one in cluster.status.process_groups
        for said in one.process_group_conditions
        if said.type == GroupConditionType.SIDECAR_UNREACHABLE.value
    }


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
