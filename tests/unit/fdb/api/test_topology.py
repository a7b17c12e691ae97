"""How a database cannot lie in data centers, halls and Kubernetes clusters, and what we say."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest

from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.validation import problems
from stateward.kube.codec import Json

SEED = "shop:k3s8@10.0.0.1:4501"
DC1: Json = {"id": "dc1", "priority": 1}
DC2: Json = {"id": "dc2", "priority": 0}
NEAR: Json = {"id": "dc3", "priority": 1, "satellite": 1}
KC = "foundationdb.org/kubernetes-cluster"
CONFIGURED = "spec.databaseConfiguration"


class Bad(NamedTuple):
    """A spec, where it is wrong, and what we say of it: what must be, and what to do."""

    spec: Json
    field: str
    says: str
    hint: str = ""


def regions(*centers: list[Json], usable: int = 1, **more: Any) -> Json:
    """Return a spec with regions, in dc1."""
    found = [{"datacenters": it} for it in centers]
    database = {"usable_regions": usable, "regions": found}
    return {"dataCenter": "dc1", "databaseConfiguration": database, **more}


def satellites(mode: str, *centers: Json) -> Json:
    one = {"datacenters": list(centers), "satellite_redundancy_mode": mode}
    return {"dataCenter": "dc1", "databaseConfiguration": {"regions": [one]}}


TABLE = {
    "no writer": Bad(
        regions([DC1 | {"priority": -1}]), f"{CONFIGURED}.regions", "must have one that may write"
    ),
    "a satellite without a main": Bad(
        regions([NEAR], dataCenter="dc3"),
        f"{CONFIGURED}.regions[0].datacenters",
        "must have one data center that is no satellite, got 0",
    ),
    "two mains": Bad(
        regions([DC1, DC2]), f"{CONFIGURED}.regions[0].datacenters", "no satellite, got 2"
    ),
    "one data center in two regions": Bad(
        regions([DC1], [DC1], usable=2),
        f"{CONFIGURED}.regions[1].datacenters",
        "must be other data centers than those of the regions before, got dc1",
    ),
    "two usable regions of one": Bad(
        regions([DC1], usable=2),
        f"{CONFIGURED}.usable_regions",
        "must be at most the number of regions, 1, got 2",
    ),
    "two usable regions of none": Bad(
        {"databaseConfiguration": {"usable_regions": 2}},
        f"{CONFIGURED}.usable_regions",
        "must be 1 without regions, got 2",
        "say in regions",
    ),
    "three regions": Bad(
        regions([DC1], [DC2], [{"id": "dc4"}], usable=2),
        f"{CONFIGURED}.regions",
        "must be at most 2: FoundationDB knows no more, got 3",
        "can be a satellite",
    ),
    "three usable regions": Bad(
        regions([DC1], [DC2], usable=3),
        f"{CONFIGURED}.usable_regions",
        "must be at most the number of regions, 2, got 3",
    ),
    "a satellite that is the region itself": Bad(
        satellites("one_satellite_double", DC1, NEAR | {"id": "dc1"}),
        f"{CONFIGURED}.regions[0].datacenters",
        "must have satellites that are other data centers than its own, got dc1",
        "keeps logs where the region itself is lost",
    ),
    "a satellite twice": Bad(
        satellites("two_satellite_fast", DC1, NEAR, NEAR),
        f"{CONFIGURED}.regions[0].datacenters",
        "must name each satellite once, got dc3 2 times",
    ),
    "a mode without a satellite": Bad(
        satellites("one_satellite_double", DC1),
        f"{CONFIGURED}.regions[0].satellite_redundancy_mode",
        "must not be given without a satellite",
    ),
    "a mode of satellites that nobody knows": Bad(
        satellites("three_satellite", DC1, NEAR),
        f"{CONFIGURED}.regions[0].satellite_redundancy_mode",
        "must be one of one_satellite_single",
    ),
    "satellites, and no word of copies there": Bad(
        regions([DC1, NEAR]),
        f"{CONFIGURED}.regions[0].satellite_redundancy_mode",
        "must be given with the satellites dc3",
        "one_satellite_double",
    ),
    "two satellites of one": Bad(
        satellites("two_satellite_safe", DC1, NEAR),
        f"{CONFIGURED}.regions[0].datacenters",
        "must have two satellites with two_satellite_safe, got dc3",
        "name another satellite",
    ),
    "a wiggle at double speed": Bad(
        {"databaseConfiguration": {"perpetual_storage_wiggle": 2}},
        f"{CONFIGURED}.perpetual_storage_wiggle",
        "must be 0 or 1",
    ),
    "a data center that is none of the regions": Bad(
        regions([DC1], [DC2], dataCenter="dc9"),
        "spec.dataCenter",
        "must be one of the data centers of the regions, dc1, dc2, got dc9",
        "name it in databaseConfiguration.regions of all clusters",
    ),
    "regions, and no data center": Bad(
        regions([DC1], [DC2], dataCenter=""),
        "spec.dataCenter",
        "must be given with regions, one of dc1, dc2",
        "a FoundationDBCluster for each data center",
    ),
    "three data halls without a hall": Bad(
        {"databaseConfiguration": {"redundancy_mode": "three_data_hall"}},
        "spec.dataHall",
        "must be given with three_data_hall",
    ),
    "data halls and regions": Bad(
        {
            "dataCenter": "dc1",
            "dataHall": "az1",
            "databaseConfiguration": {
                "redundancy_mode": "three_data_hall",
                "regions": [{"datacenters": [DC1]}],
            },
        },
        f"{CONFIGURED}.redundancy_mode",
        "must be single, double or triple with regions",
    ),
    "a zone beyond the last": Bad(
        {"faultDomain": {"key": KC, "value": "a", "zoneCount": 3, "zoneIndex": 3}},
        "spec.faultDomain.zoneIndex",
        "must be below zoneCount, 3, got 3",
        "the first zone is 0",
    ),
    "a Kubernetes cluster without a name": Bad(
        {"faultDomain": {"key": KC, "zoneCount": 3}}, "spec.faultDomain.value", "must be given"
    ),
    "a seed, and coordinators": Bad(
        {
            "seedConnectionString": SEED,
            "partialConnectionString": {"coordinators": ["10.0.0.1:4501"]},
        },
        "spec.seedConnectionString",
        "must not be given beside coordinators",
    ),
    "a data center that joins without a prefix": Bad(
        regions([DC1], [DC2], seedConnectionString=SEED),
        "spec.processGroupIDPrefix",
        "must be given where a cluster joins the database of another",
        "must differ in all of them",
    ),
    "a zone that joins without a prefix": Bad(
        {"faultDomain": {"key": KC, "value": "b"}, "seedConnectionString": SEED},
        "spec.processGroupIDPrefix",
        "process groups are told apart by it",
    ),
}


def cluster(spec: Json, **status: Any) -> FoundationDBCluster:
    return msgspec.convert(
        {"metadata": {"name": "shop"}, "spec": {"version": "7.3.79", **spec}, "status": status},
        FoundationDBCluster,
    )


@pytest.mark.parametrize("name", TABLE)
def test_what_cannot_be_is_said_with_where_and_what_to_do(name: str) -> None:
    bad = TABLE[name]
    found = [it for it in problems(cluster(bad.spec)) if it.field == bad.field]
    assert [it for it in found if bad.says in it.message], found
    assert any("must" in it.message and bad.hint in it.hint for it in found), found


def test_a_region_that_goes_may_still_have_its_cluster() -> None:
    body = regions([DC1], dataCenter="dc2", processGroupIDPrefix="dc2")
    assert problems(cluster(body)), "a new one would be in no region"
    assert problems(cluster(body, connectionString=SEED)) == ()


def test_a_cluster_that_joined_long_ago_goes_on() -> None:
    body = regions([DC1], [DC2], seedConnectionString=SEED)
    assert problems(cluster(body))
    assert problems(cluster(body, connectionString=SEED)) == ()


def test_a_hall_may_come_from_the_node() -> None:
    named = {"general": {"customParameters": ["locality_data_hall=$NODE_LABEL_ROOM"]}}
    body = {"databaseConfiguration": {"redundancy_mode": "three_data_hall"}, "processes": named}
    assert problems(cluster(body)) == ()
