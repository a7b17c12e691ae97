"""Claims find volumes or have them made; what becomes of a volume when its claim goes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.bench import running, until
from stateward.kube.codec import Json
from stateward.kube.resources import EVENTS, PODS, VOLUME_CLAIMS
from stateward.local.catalog import STORAGE_CLASSES, VOLUMES
from stateward.local.controllers.cluster.volumes import ensure_defaults
from unit.local.controllers.cluster.cluster import Cluster, settled, stays

pytestmark = pytest.mark.virtual


def claim(name: str = "data", size: str = "1Gi", **spec: Any) -> Json:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"namespace": "shop", "name": name}, "spec": wanted | spec}


def volume(name: str, size: str, class_name: str = "shelf", **spec: Any) -> Json:
    made = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class_name,
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/shelf"},
    }
    return {"metadata": {"name": name, "labels": {"name": name}}, "spec": made | spec}


def uses(name: str) -> list[Json]:
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


async def small(**class_: Any) -> Cluster:
    cluster = Cluster()
    await cluster.node("n1")
    if class_:
        body = {"metadata": {"name": "fast"}, "provisioner": "stateward.dev/local"} | class_
        await cluster.user.create(STORAGE_CLASSES, body)
    return cluster


def phase(cluster: Cluster, name: str = "data") -> str:
    return str(cluster.see(VOLUME_CLAIMS, name).get("status", {}).get("phase", "-"))


def its_volume(cluster: Cluster, name: str = "data") -> Json:
    return cluster.see(VOLUMES, cluster.see(VOLUME_CLAIMS, name)["spec"]["volumeName"])


async def test_a_claim_without_a_class_gets_the_default_and_waits_for_its_pod():
    cluster = await small()
    await ensure_defaults(cluster.user)
    await ensure_defaults(cluster.user)
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim())
        await stays(lambda: phase(cluster) == "Pending", 3)
        assert "WaitForFirstConsumer" in [
            it.document()["reason"] for it in cluster.api.store.all(EVENTS.name)
        ]

        await cluster.pod("a", volumes=uses("data"))
        await until(lambda: cluster.placed() == "a:n1")
        assert phase(cluster) == "Bound"
        assert "FailedScheduling" not in [
            it.document()["reason"] for it in cluster.api.store.all(EVENTS.name)
        ]
        made = its_volume(cluster)
        assert (
            made["metadata"]["name"]
            == f"pvc-{cluster.see(VOLUME_CLAIMS, 'data')['metadata']['uid']}"
        )
        assert (made["spec"]["storageClassName"], made["status"]["phase"]) == ("standard", "Bound")
        assert "nodeAffinity" not in made["spec"]
        assert cluster.see(VOLUME_CLAIMS, "data")["status"]["capacity"] == {"storage": "1Gi"}


async def test_an_immediate_class_makes_it_at_once():
    cluster = await small(volumeBindingMode="Immediate")
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: phase(cluster) == "Bound")


@pytest.mark.parametrize(
    "wants",
    [
        {"dataSource": {"kind": "PersistentVolumeClaim", "name": "other"}},
        {"dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "other"}},
        {"selector": {"matchLabels": {"name": "mine"}}},
        {"volumeMode": "Block"},
    ],
    ids=lambda it: next(iter(it)),
)
async def test_a_claim_for_more_than_a_folder_waits_for_who_can_have_it(wants: Json):
    cluster = await small(volumeBindingMode="Immediate")
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast", **wants))
        await settled()
        (event,) = (it.document() for it in cluster.api.store.all(EVENTS.name))
        assert (event["type"], event["reason"]) == ("Warning", "ProvisioningFailed")
        assert next(iter(wants)) in event["message"]
        assert phase(cluster) == "Pending"

        mine = {"volumeMode": wants.get("volumeMode", "Filesystem")}
        await cluster.user.create(VOLUMES, volume("mine", "1Gi", "fast", **mine))
        await until(lambda: phase(cluster) == "Bound")
        assert its_volume(cluster)["metadata"]["name"] == "mine"


async def test_a_pod_whose_claim_is_missing_says_so_and_gets_its_place_when_it_comes():
    cluster = await small(volumeBindingMode="Immediate")
    async with cluster.works():
        await cluster.pod("a", volumes=uses("data"))
        await until(lambda: cluster.condition(PODS, "a", "PodScheduled"))
        message = cluster.condition(PODS, "a", "PodScheduled")["message"]
        assert message.startswith(
            '0/1 nodes are available: persistentvolumeclaim "data" not found.'
        )
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: cluster.placed() == "a:n1")


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (claim(size="2Gi", storageClassName="shelf"), "middle"),
        (claim(size="1Gi", storageClassName="shelf"), "small"),
        (
            claim(
                size="1Gi", storageClassName="shelf", selector={"matchLabels": {"name": "large"}}
            ),
            "large",
        ),
        (claim(size="1Gi", storageClassName="shelf", accessModes=["ReadWriteMany"]), "shared"),
        (claim(size="1Gi", storageClassName="shelf", volumeName="large"), "large"),
        (claim(size="1Gi", storageClassName=""), "plain"),
        (claim(size="9Gi", storageClassName="shelf"), "-"),
        (claim(size="1Gi", storageClassName="shelf", volumeMode="Block"), "-"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
async def test_the_smallest_volume_that_fits(wanted: Json, chosen: str):
    cluster = await small()
    for body in (
        volume("large", "4Gi"),
        volume("middle", "2Gi"),
        volume("small", "1Gi"),
        volume("shared", "3Gi", accessModes=["ReadWriteMany", "ReadWriteOnce"]),
        volume("plain", "1Gi", ""),
        volume("taken", "1Gi", claimRef={"namespace": "shop", "name": "other", "uid": ""}),
    ):
        await cluster.user.create(VOLUMES, body)
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, wanted)
        await settled()
        assert cluster.see(VOLUME_CLAIMS, "data")["spec"].get("volumeName", "-") == chosen
        assert phase(cluster) == ("Pending" if chosen == "-" else "Bound")


async def test_two_claims_never_share_a_volume():
    cluster = await small()
    await cluster.user.create(VOLUMES, volume("one", "1Gi"))
    for name in ("data", "more"):
        await cluster.user.create(VOLUME_CLAIMS, claim(name, storageClassName="shelf"))
    async with cluster.works():
        await settled(5)
        assert sorted((phase(cluster), phase(cluster, "more"))) == ["Bound", "Pending"]
        await cluster.user.create(VOLUMES, volume("two", "1Gi"))
        await until(lambda: phase(cluster) == phase(cluster, "more") == "Bound")


@pytest.mark.parametrize(("policy", "left"), [("Delete", ""), ("Retain", "Released")])
async def test_what_becomes_of_a_volume_when_its_claim_goes(policy: str, left: str):
    cluster = await small(reclaimPolicy=policy)
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: phase(cluster) == "Bound")
        name = its_volume(cluster)["metadata"]["name"]
        await cluster.delete(VOLUME_CLAIMS, "data")
        await until(lambda: not cluster.see(VOLUME_CLAIMS, "data"))
        await settled()
        assert cluster.see(VOLUMES, name).get("status", {}).get("phase", "") == left
        # a claim of the same name is another one: it gets a volume of its own
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: phase(cluster) == "Bound")
        assert its_volume(cluster)["metadata"]["name"] != name


async def test_a_claim_in_use_stays_until_the_pod_is_gone():
    cluster = await small(volumeBindingMode="WaitForFirstConsumer")
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await cluster.pod("a", volumes=uses("data"))
        await until(lambda: cluster.placed() == "a:n1")
        await cluster.delete(VOLUME_CLAIMS, "data")
        await stays(
            lambda: "deletionTimestamp" in cluster.see(VOLUME_CLAIMS, "data")["metadata"], 10
        )
        await cluster.delete(PODS, "a")
        await until(lambda: not cluster.see(VOLUME_CLAIMS, "data"))
        await until(lambda: not cluster.names(VOLUMES))


async def test_a_bound_volume_stays_until_its_claim_is_gone():
    cluster = await small(reclaimPolicy="Retain")
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: phase(cluster) == "Bound")
        await cluster.delete(VOLUMES, its_volume(cluster)["metadata"]["name"])
        await stays(lambda: bool(cluster.names(VOLUMES)), 5)
        await cluster.delete(VOLUME_CLAIMS, "data")
        await until(lambda: not cluster.names(VOLUMES))


async def test_a_claim_that_asks_for_more_gets_more():
    cluster = await small(volumeBindingMode="Immediate", allowVolumeExpansion=True)
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: phase(cluster) == "Bound")
        await cluster.patch(
            VOLUME_CLAIMS, "data", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
        )
        await until(
            lambda: cluster.see(VOLUME_CLAIMS, "data")["status"]["capacity"] == {"storage": "3Gi"}
        )
        assert its_volume(cluster)["spec"]["capacity"] == {"storage": "3Gi"}


async def test_a_claim_whose_volume_was_torn_away_is_lost():
    cluster = await small(volumeBindingMode="Immediate")
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="fast"))
        await until(lambda: phase(cluster) == "Bound")
        name = its_volume(cluster)["metadata"]["name"]
        await cluster.patch(VOLUMES, name, {"metadata": {"finalizers": None}})
        await cluster.delete(VOLUMES, name)
        await until(lambda: phase(cluster) == "Lost")


async def test_a_volume_that_is_tied_to_a_node_takes_the_pod_there():
    cluster = await small()
    await cluster.node("n2")
    tied = {
        "required": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}
                    ]
                }
            ]
        }
    }
    late = {
        "metadata": {"name": "shelf"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    await cluster.user.create(STORAGE_CLASSES, late)
    async with cluster.works():
        await cluster.user.create(VOLUME_CLAIMS, claim(storageClassName="shelf"))
        await cluster.pod("a", volumes=uses("data"))
        await until(lambda: cluster.condition(PODS, "a", "PodScheduled"))
        message = cluster.condition(PODS, "a", "PodScheduled")["message"]
        why = "2 node(s) didn't find available persistent volumes to bind. "
        assert message.startswith(f"0/2 nodes are available: {why}")
        await cluster.user.create(VOLUMES, volume("one", "1Gi", nodeAffinity=tied))
        await until(lambda: cluster.placed() == "a:n2")


async def test_a_claim_that_is_part_of_a_pod_comes_and_goes_with_it():
    cluster = await small(volumeBindingMode="WaitForFirstConsumer")
    template = {"spec": claim(storageClassName="fast")["spec"]}
    async with cluster.works():
        await cluster.pod(
            "a", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
        )
        await until(lambda: cluster.placed() == "a:n1")
        assert phase(cluster, "a-scratch") == "Bound"
        await cluster.delete(PODS, "a")
        await until(lambda: not cluster.names(VOLUME_CLAIMS))
        await until(lambda: not cluster.names(VOLUMES))


async def test_restarted_in_the_middle_each_claim_still_has_one_volume():
    cluster = await small(volumeBindingMode="Immediate")
    for number in range(10):
        await cluster.user.create(VOLUME_CLAIMS, claim(f"c{number}", storageClassName="fast"))
    for _ in range(6):
        cluster.desk = cluster.new_desk()
        async with running(cluster.desk.run()):
            for _ in range(25):
                await asyncio.sleep(0)
    cluster.desk = cluster.new_desk()
    async with cluster.works():
        await until(lambda: all(phase(cluster, f"c{number}") == "Bound" for number in range(10)))
        assert len(cluster.names(VOLUMES).split()) == 10
