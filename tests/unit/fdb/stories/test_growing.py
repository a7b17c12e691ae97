"""Clusters are made, grow and shrink; at rest nothing is written."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fakes.fdb_stories import Story, played, single, spec
from stateward.kube.codec import Json


@pytest.mark.parametrize(
    ("body", "coordinators", "classes"),
    [
        pytest.param(single(), 1, {"storage": 1, "log": 1, "stateless": 1}, id="single"),
        pytest.param(spec(), 3, {"storage": 3, "log": 4, "stateless": 3}, id="double"),
        pytest.param(
            spec(databaseConfiguration={"redundancy_mode": "triple"}),
            5,
            {"storage": 5, "log": 5, "stateless": 3},
            id="triple",
        ),
    ],
)
@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_a_cluster_is_made(
    body: Json, coordinators: int, classes: dict[str, int], image_type: str
) -> None:
    async def story(it: Story) -> None:
        await it.create({**body, "imageType": image_type})
        found = Counter(group["spec"]["processClass"] for group in it.groups().values())
        assert found == classes
        assert len(it.coordinators()) == coordinators
        assert it.recoveries == ["the database was created"]
        assert [line.split()[0] for line in it.watcher.commands] == ["configure"]
        assert it.watcher.deleted_pods == []
        assert {group["spec"]["imageType"] for group in it.groups().values()} == {image_type}
        await it.at_rest()

    played(story)


@pytest.mark.parametrize(
    ("body", "servers"),
    [
        pytest.param(
            spec(storageServersPerPod=2, logServersPerPod=2),
            {"storage": 2, "log": 2, "stateless": 1},
            id="several servers in a pod",
        ),
        pytest.param(
            spec(faultDomain={"key": "foundationdb.org/none"}),
            {"storage": 1, "log": 1, "stateless": 1},
            id="every pod is a zone",
        ),
        pytest.param(
            spec(routing={"publicIPSource": "service", "headlessService": True}),
            {"storage": 1, "log": 1, "stateless": 1},
            id="services",
        ),
        pytest.param(
            spec(routing={"useDNSInClusterFile": True}),
            {"storage": 1, "log": 1, "stateless": 1},
            id="names",
        ),
        pytest.param(
            spec(processGroupIDPrefix="dc1"),
            {"storage": 1, "log": 1, "stateless": 1},
            id="prefix",
        ),
    ],
)
@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_a_cluster_is_made_in_other_ways(
    body: Json, servers: dict[str, int], image_type: str
) -> None:
    async def story(it: Story) -> None:
        await it.create({**body, "imageType": image_type})
        for name, group in it.groups().items():
            reports = group["status"]["processes"]
            many = servers[group["spec"]["processClass"]]
            assert len(reports) == many, name
            assert all(one["reporting"] for one in reports)
        zones = {group["status"]["faultDomain"] for group in it.groups().values()}
        per_pod = body.get("faultDomain", {}).get("key") == "foundationdb.org/none"
        assert len(zones) == (len(it.groups()) if per_pod else 6)
        await it.at_rest()

    played(story)


def counts(process_class: str, many: int) -> dict[str, Any]:
    return {"processCounts": {process_class: many}}


@pytest.mark.parametrize(
    ("process_class", "few", "many"),
    [("storage", 3, 5), ("log", 4, 6), ("stateless", 3, 5), ("commit_proxy", 1, 2)],
)
def test_a_class_grows_and_shrinks(process_class: str, few: int, many: int) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**counts(process_class, few)))
        before = it.uids()
        it.change(**counts(process_class, many))
        await it.reconciled()
        assert len(it.groups(process_class)) == many
        assert before.items() <= it.uids().items(), "those that were there stay as they are"
        assert it.watcher.deleted_pods == []
        it.change(**counts(process_class, few))
        await it.reconciled()
        await it.until("gone", lambda: len(it.groups(process_class)) == few)
        others = {name: uid for name, uid in before.items() if process_class not in name}
        assert others.items() <= it.uids().items()
        it.is_whole()
        await it.at_rest()

    played(story)


def test_a_dedicated_class_comes_and_goes() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processCounts={"cluster_controller": 1})
        await it.reconciled()
        assert len(it.groups("cluster_controller")) == 1
        it.change(processCounts={"cluster_controller": -1})
        await it.reconciled()
        await it.until("gone", lambda: not it.groups("cluster_controller"))
        await it.at_rest()

    played(story)
