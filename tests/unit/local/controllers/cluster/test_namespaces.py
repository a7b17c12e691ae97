"""Namespaces are furnished and emptied, and old news goes."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bench import running, until
from stateward.core.moments import to_rfc3339
from stateward.kube.resources import CONFIG_MAPS, EVENTS, NAMESPACES, SECRETS, VOLUME_CLAIMS
from stateward.local.catalog import SERVICE_ACCOUNTS
from stateward.local.controllers.cluster.staff import Terms
from unit.local.controllers.cluster.cluster import Cluster, settled, stays

pytestmark = pytest.mark.virtual


async def world(**terms: object) -> Cluster:
    cluster = Cluster(terms=Terms(**terms))  # type: ignore[arg-type]
    await cluster.node("n1")
    await cluster.user.create(NAMESPACES, {"metadata": {"name": "other"}})
    return cluster


async def furnish(cluster: Cluster, namespace: str) -> None:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for name in "ab":
        body = {"metadata": {"namespace": namespace, "name": name}}
        await cluster.user.create(CONFIG_MAPS, body)
        await cluster.user.create(SECRETS, body)
        await cluster.user.create(VOLUME_CLAIMS, {**body, "spec": wanted})


def left_in(cluster: Cluster, namespace: str) -> int:
    return sum(1 for _, stored in cluster.api.store if stored.key.namespace == namespace)


async def test_a_new_namespace_has_an_account_and_the_certificate():
    cluster = await world(ca="-----BEGIN")
    async with cluster.works():
        await until(lambda: cluster.names(SERVICE_ACCOUNTS, "shop") == "default")
        await until(
            lambda: (
                cluster.see(CONFIG_MAPS, "kube-root-ca.crt").get("data") == {"ca.crt": "-----BEGIN"}
            )
        )
        await cluster.delete(SERVICE_ACCOUNTS, "default")
        await until(lambda: cluster.names(SERVICE_ACCOUNTS, "shop") == "default")


async def test_a_leaving_namespace_is_emptied_and_goes():
    cluster = await world()
    async with cluster.works():
        await furnish(cluster, "shop")
        await furnish(cluster, "other")
        await cluster.pod("p")
        await until(lambda: cluster.placed() == "p:n1")
        cluster.lost.add("n1")
        await cluster.delete(NAMESPACES, "shop")
        await until(lambda: cluster.names(CONFIG_MAPS, "shop") == "")
        await stays(lambda: cluster.see(NAMESPACES, "shop")["status"]["phase"] == "Terminating", 10)
        condition = cluster.condition(NAMESPACES, "shop", "NamespaceContentRemaining")
        assert (condition["status"], "pods. has 1 resource instances" in condition["message"]) == (
            "True",
            True,
        )

        cluster.lost.clear()
        await until(lambda: not cluster.see(NAMESPACES, "shop"))
        assert left_in(cluster, "shop") == 0
        assert left_in(cluster, "other") >= 7


async def test_restarted_in_the_middle_it_is_emptied_all_the_same():
    cluster = await world()
    await furnish(cluster, "shop")
    await cluster.delete(NAMESPACES, "shop")
    for _ in range(5):
        cluster.desk = cluster.new_desk()
        async with running(cluster.desk.run()):
            for _ in range(12):
                await asyncio.sleep(0)
    cluster.desk = cluster.new_desk()
    async with cluster.works():
        await until(lambda: not cluster.see(NAMESPACES, "shop"))


async def test_old_events_go():
    cluster = await world(event_ttl=600.0)
    about = {"kind": "Pod", "namespace": "shop", "name": "p"}
    for name, age in (("old", 700), ("new", 100)):
        told = to_rfc3339(cluster.clock.now() - age)
        meta = {"namespace": "shop", "name": name}
        await cluster.user.create(
            EVENTS, {"metadata": meta, "lastTimestamp": told, "involvedObject": about}
        )
    async with cluster.works():
        await settled(10)
        assert cluster.names(EVENTS, "shop") == "new"
        await settled(900)
        assert cluster.names(EVENTS, "shop") == ""


async def test_a_cluster_at_rest_writes_nothing():
    cluster = await world()
    async with running(cluster.desk.run(), cluster.collector.run(cluster.ports)):
        await settled(5)
        before = cluster.api.store.revision
        await settled(10)
        assert cluster.api.store.revision == before
