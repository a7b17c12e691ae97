"""Row 0 and row 17a: what stands around the members, whose it is, and what is not ours."""

from __future__ import annotations

from typing import Any

import pytest

from operators.etcd.test_lifecycle import until_holds
from operators.etcd.witness import told
from operators.etcd.worlds import World, said, world
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.objects import WHOLE_BUDGETS, WHOLE_CONFIG_MAPS, WHOLE_SERVICES, WORKLOADS
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.resources import PODS, Resource

OURS = {
    "app.kubernetes.io/name": "etcd",
    "app.kubernetes.io/instance": "shop",
    "app.kubernetes.io/managed-by": "etcd-operator",
}


async def test_0_services_budget_labels_and_owners_are_as_told(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        cluster = await it.ready("shop")
        headless = await it.client.get(WHOLE_SERVICES, it.key("shop-headless"))
        assert headless.spec["clusterIP"] == "None"
        assert headless.spec["publishNotReadyAddresses"] is True
        client = await it.client.get(WHOLE_SERVICES, it.key("shop"))
        assert client.spec["clusterIP"] != "None"
        assert not client.spec.get("publishNotReadyAddresses")
        assert headless.spec["selector"] == client.spec["selector"] == OURS
        workload = await it.client.get(WORKLOADS, it.key("shop"))
        assert workload.spec["podManagementPolicy"] == "Parallel"
        assert workload.spec["updateStrategy"]["type"] == "OnDelete"
        assert workload.spec["serviceName"] == "shop-headless"
        assert workload.spec["selector"] == {"matchLabels": OURS}
        config = await it.client.get(WHOLE_CONFIG_MAPS, it.key("shop-cluster-state"))
        budget = await it.client.get(WHOLE_BUDGETS, it.key("shop"))
        for one in (headless, client, workload, config, budget):
            assert one.metadata.labels.items() >= OURS.items()
            owner = one.metadata.controller
            assert owner is not None
            assert (owner.kind, owner.uid) == ("EtcdCluster", cluster.metadata.uid)
        for claim in await it.claims("shop"):
            assert [one.uid for one in claim.metadata.owner_references] == [cluster.metadata.uid]


async def test_0_the_budget_follows_the_size(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        for size, least in ((3, 2), (5, 3)):
            await it.edit("shop", replicas=size)
            await it.ready("shop")
            await until_holds(
                it, WHOLE_BUDGETS, "shop", lambda one, n=least: one.spec["minAvailable"] == n
            )
        await it.edit("shop", replicas=1)
        await it.ready("shop")
        assert await it._of(WHOLE_BUDGETS, "shop") == []


#: What somebody else made before us, under a name that we need.
FOREIGN: dict[str, tuple[Resource[Any], str, dict[str, Any]]] = {
    "a service": (
        WHOLE_SERVICES,
        "shop",
        {"spec": {"ports": [{"port": 80}], "selector": {"app": "web"}}},
    ),
    "a config map": (WHOLE_CONFIG_MAPS, "shop-cluster-state", {"data": {"whose": "theirs"}}),
    "a budget": (
        WHOLE_BUDGETS,
        "shop",
        {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}},
    ),
    "a statefulset": (
        WORKLOADS,
        "shop",
        {
            "spec": {
                "replicas": 0,
                "serviceName": "web",
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "web", "image": "web:1"}]},
                },
            }
        },
    ),
}


async def made(it: World, resource: Resource[Any], name: str, body: dict[str, Any]) -> Any:
    metadata = {"name": name, "namespace": it.namespace}
    kind = {"apiVersion": resource.api_version, "kind": resource.kind}
    return await it.client.create(resource, kind | {"metadata": metadata} | body)


@pytest.mark.parametrize("labelled", [False, True], ids=["plain", "labelled as ours"])
async def test_17a_what_is_somebody_elses_is_never_taken_over(plane: str, labelled: bool) -> None:
    async with world(plane) as it:
        theirs = [await made(it, *one) for one in FOREIGN.values()]
        if labelled:
            patch = MergePatch({"metadata": {"labels": OURS}})
            theirs = [
                await it.client.patch(resource, it.key(name), patch)
                for resource, name, _ in FOREIGN.values()
            ]
        left = {one.metadata.uid: (*place, one) for one, place in zip(theirs, PLACES, strict=True)}
        async with it.operating():
            await it.create("shop", replicas=3)
            while left:
                resource, name, before = left.pop(await named(it, left))
                after = await it.client.get(resource, it.key(name))
                assert (after.spec, plain(after).get("data")) == (
                    before.spec,
                    plain(before).get("data"),
                )
                assert after.metadata.owner_references == ()
                await it.client.delete(resource, it.key(name), uid=before.metadata.uid)
            await it.ready("shop")
            assert "NameTaken" in await told(it, "shop")


PLACES = [(resource, name) for resource, name, _ in FOREIGN.values()]


async def named(it: World, left: dict[str, tuple[Resource[Any], str, Any]]) -> str:
    """Wait until the cluster says whose name is taken, and how to mend that; return its UID."""

    def found(cluster: EtcdCluster) -> list[str]:
        taken = [one for one in cluster.status.blockers if one.guard == "NameTaken"]
        return [
            uid
            for uid, (resource, name, _) in left.items()
            if any(f"{resource.kind} {name} " in one.message for one in taken)
        ]

    cluster = await it.until("shop", lambda its: bool(found(its)))
    assert said(cluster, "Ready") == ("False", "NameTaken")
    assert all("delete" in one.hint for one in cluster.status.blockers)
    return found(cluster)[0]


async def test_17a_pods_of_somebody_else_with_our_labels_are_left_alone(plane: str) -> None:
    """A pod that only looks like one of ours is no member, and nobody deletes it."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=1)
        await it.ready("shop")
        image = f"quay.io/coreos/etcd:v{it.version}"
        container = {"name": "etcd", "image": image, "command": ["etcd", "--help"]}
        body = {
            "metadata": {"name": "stranger", "namespace": it.namespace, "labels": OURS},
            "spec": {"containers": [container]},
        }
        made = await it.client.create(PODS, body)
        await it.edit("shop", replicas=2)
        await it.ready("shop")
        there = await it.client.get(PODS, it.key("stranger"))
        assert there.metadata.uid == made.metadata.uid
        assert not there.metadata.deleting
