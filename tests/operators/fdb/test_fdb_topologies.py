"""One database of several FoundationDBClusters, on processes, under writes that are counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_worlds import World, is_reconciled, small, world
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.names import CLASS_LABEL, CLUSTER_LABEL
from stateward.kube.codec import Json

APART: Json = {
    "faultDomain": {"key": "foundationdb.org/none"},
    "lockOptions": {"disableLocks": True},
}
FEW: Json = {"storage": 2, "log": 2, "stateless": 1}
CENTERS = ("dc1", "dc2", "dc3")
HALLS = ("az1", "az2", "az3")


def region(center: str, priority: int) -> Json:
    near = {"id": "dc3", "priority": 1, "satellite": 1}
    return {
        "datacenters": [{"id": center, "priority": priority}, near],
        "satellite_redundancy_mode": "one_satellite_double",
        "satellite_logs": 2,
    }


def regions(usable: int, *some: Json) -> Json:
    return {"redundancy_mode": "double", "usable_regions": usable, "regions": list(some)}


BOTH = regions(2, region("dc1", 1), region("dc2", 0))
SWAPPED = regions(2, region("dc1", 0), region("dc2", 1))
ALONE = regions(1, region("dc1", 1))


async def place(it: World, name: str, field: str, seed: str = "", **more: Any) -> None:
    """Ask for the cluster of a place, which joins the database of the seed."""
    mine: Json = {field: name, "processGroupIDPrefix": name, "processCounts": FEW}
    if seed:
        mine["seedConnectionString"] = seed
    await it.create(name, **{**APART, **mine, **more})


async def begun(it: World, name: str) -> str:
    found = await it.until(name, lambda one: one.status.configured)
    return found.status.connection_string


async def all_reconciled(it: World, names: tuple[str, ...]) -> FoundationDBCluster:
    found = [await it.reconciled(name) for name in names]
    while not all(map(is_reconciled, found)):
        found = [await it.reconciled(name) for name in names]
    return found[0]


def usable(cluster: FoundationDBCluster) -> tuple[int, dict[str, int]]:
    """Return how many regions have data, and who would rather write, by the operator's word."""
    told = cluster.status.database_configuration
    assert told is not None
    mains = [one for it in told.regions for one in it.datacenters if not one.satellite]
    return told.usable_regions, {one.id: one.priority for one in mains}


async def coordinators(it: World, names: tuple[str, ...]) -> list[int]:
    """Return how many coordinators each cluster has."""
    string = (await it.get(names[0])).status.connection_string
    return [
        sum(any(f"{at}:" in string for at in one.status.addresses) for one in await it.groups(name))
        for name in names
    ]


async def test_two_regions_come_change_places_and_go(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await place(it, "dc1", "dataCenter", databaseConfiguration=BOTH)
        seed = await begun(it, "dc1")
        async with shopping(it, "dc1"):
            for name in ("dc2", "dc3"):
                await place(it, name, "dataCenter", seed, databaseConfiguration=BOTH)
            found = await all_reconciled(it, CENTERS)
            assert usable(found) == (2, {"dc1": 1, "dc2": 0})
            assert await coordinators(it, CENTERS) == [3, 3, 3]
            pods = {one.metadata.uid for name in CENTERS for one in await it.groups(name)}
            for wish, after in ((SWAPPED, (2, {"dc1": 0, "dc2": 1})), (ALONE, (1, {"dc1": 1}))):
                for name in CENTERS:
                    await it.edit(name, databaseConfiguration=wish)
                found = await all_reconciled(it, CENTERS)
                assert usable(found) == after
            left = {one.metadata.uid for name in CENTERS for one in await it.groups(name)}
            assert left == pods, "nobody is replaced for that"


@pytest.mark.long
async def test_three_halls_come_one_after_another(plane: str) -> None:
    halls: Json = {"redundancy_mode": "three_data_hall"}
    async with world(plane) as it, it.operating():
        counts = {"storage": 3, "log": 4, "stateless": 1}
        await place(it, "az1", "dataHall", databaseConfiguration=halls, processCounts=counts)
        seed = await begun(it, "az1")
        async with shopping(it, "az1"):
            await place(it, "az2", "dataHall", seed, databaseConfiguration=halls)
            waits = await it.until("az1", lambda one: "in 2: az1, az2" in _blocked(one))
            told = waits.status.database_configuration
            assert told is not None
            assert told.redundancy_mode == "triple"
            await place(it, "az3", "dataHall", seed, databaseConfiguration=halls)
            found = await all_reconciled(it, HALLS)
            told = found.status.database_configuration
            assert told is not None
            assert told.redundancy_mode == "three_data_hall"
            assert await coordinators(it, HALLS) == [3, 3, 3]


def in_one_object() -> Json:
    """Return pods of each class spread over halls, which their processes learn from their nodes."""
    general: Json = small()["processes"]["general"]
    pod = general["podTemplate"]["spec"]
    [container] = pod["containers"]
    even: Json = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {CLUSTER_LABEL: "shop"}},
        "matchLabelKeys": [CLASS_LABEL],
    }
    watching = {**container, "args": ["--enable-node-watch"]}
    template = {"spec": {**pod, "topologySpreadConstraints": [even], "containers": [watching]}}
    hall = "locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE"
    return {"general": {**general, "podTemplate": template, "customParameters": [hall]}}


@pytest.mark.long  # virtual time has it always
async def test_three_halls_in_one_object_keep_as_many_each(plane: str) -> None:
    async with world(plane) as it, it.operating():
        counts = {"storage": 6, "log": 9, "stateless": 1}
        await it.create(
            "shop",
            databaseConfiguration={"redundancy_mode": "three_data_hall"},
            processCounts=counts,
            processes=in_one_object(),
            automationOptions=_QUICK,
            **APART,
        )
        await it.reconciled("shop")
        async with shopping(it, "shop"):
            assert await halls(it, "log") == [3, 3, 3]
            await it.edit("shop", processCounts={"log": 6})
            found = await it.reconciled("shop")
            told = found.status.database_configuration
            assert told is not None
            assert told.redundancy_mode == "three_data_hall"
            assert [await halls(it, kind) for kind in ("storage", "log")] == [[2, 2, 2]] * 2


async def halls(it: World, kind: str) -> list[int]:
    """Return how many processes of a class each hall has, by their own word."""
    every = json.loads(await it.typed("shop", "status json"))["cluster"]["processes"].values()
    mine = (one["locality"]["data_hall"] for one in every if one["class_type"] == kind)
    return sorted(Counter(mine).values())


@pytest.mark.long
async def test_another_prefix_is_other_groups_with_the_same_data(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", processCounts=FEW, automationOptions=_QUICK, **APART)
        await it.reconciled("shop")
        async with shopping(it, "shop"):
            await it.edit("shop", processGroupIDPrefix="b")
            await it.reconciled("shop")
            every = [one.spec.process_group_id for one in await it.groups("shop")]
            assert every
            assert all(name.startswith("b-") for name in every), every


_QUICK: Json = {"waitBetweenRemovalsSeconds": 0}


def _blocked(cluster: FoundationDBCluster) -> str:
    return "\n".join(it.message for it in cluster.status.blockers)
