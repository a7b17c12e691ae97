"""Who stands behind a service, and how many of a workload's pods may go."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fakes.bench import until
from stateward.kube.codec import Json
from stateward.kube.errors import EvictionRefused
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DEPLOYMENTS, DISRUPTION_BUDGETS, PODS, SERVICES, STATEFUL_SETS
from stateward.local.catalog import ENDPOINT_SLICES, REPLICA_SETS
from stateward.local.controllers.cluster.budgets import count, share
from stateward.local.documents import Document
from unit.local.controllers.cluster.cluster import Cluster, controlled, settled

pytestmark = pytest.mark.virtual
WEB = {"app": "web"}


def service(**spec: Any) -> Json:
    wanted = {"selector": WEB, "ports": [{"name": "http", "port": 80, "targetPort": "web"}]}
    return {"metadata": {"namespace": "shop", "name": "web"}, "spec": wanted | spec}


def container(port: int) -> list[Json]:
    return [{"name": "main", "image": "web", "ports": [{"name": "web", "containerPort": port}]}]


async def one_node() -> Cluster:
    cluster = Cluster()
    await cluster.node("n1", "z1")
    return cluster


def slices(cluster: Cluster) -> list[Json]:
    return [it.document() for it in cluster.api.store.all(ENDPOINT_SLICES.name)]


def behind(cluster: Cluster) -> str:
    """Show who stands behind: ``a b?`` means that a is ready and b is not; ``c-`` is leaving."""
    marks = []
    for slice_ in slices(cluster):
        for it in slice_["endpoints"]:
            how = it["conditions"]
            mark = "-" if how["terminating"] else "" if how["ready"] else "?"
            marks.append(f"{it['targetRef']['name']}{mark}")
    return " ".join(sorted(marks))


# ------------------------------------------------------------------ services
async def test_the_slices_of_a_service_follow_its_pods():
    cluster = await one_node()
    async with cluster.works():
        await cluster.user.create(SERVICES, service())
        for name in "ab":
            await cluster.pod(name, labels=WEB, containers=container(8080))
        await cluster.pod("other", labels={"app": "other"})
        await until(lambda: behind(cluster) == "a b")
        (found,) = slices(cluster)
        assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
        assert found["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
        assert (found["endpoints"][0]["nodeName"], found["endpoints"][0]["zone"]) == ("n1", "z1")

        await cluster.patch(PODS, "b", {"metadata": {"labels": {"app": "else"}}})
        await until(lambda: behind(cluster) == "a")
        cluster.lost.add("n1")
        await cluster.delete(PODS, "a")
        await until(lambda: behind(cluster) == "a-")
        cluster.lost.clear()
        await until(lambda: behind(cluster) == "")

        await cluster.delete(SERVICES, "web")
        await until(lambda: not slices(cluster))


async def test_pods_that_are_not_ready_are_shown_as_such_unless_the_service_wants_them():
    cluster = await one_node()
    cluster.lost.add("n1")
    async with cluster.works():
        await cluster.user.create(SERVICES, service(clusterIP="None"))
        await cluster.pod("a", labels=WEB)
        await cluster.say(PODS, "a", {"status": {"podIP": "127.0.0.9", "phase": "Running"}})
        await until(lambda: behind(cluster) == "a?")
        await cluster.patch(SERVICES, "web", {"spec": {"publishNotReadyAddresses": True}})
        await until(lambda: behind(cluster) == "a")


async def test_ports_of_other_numbers_and_many_pods_make_more_slices():
    cluster = await one_node()
    cluster.lost.add("n1")
    for number in range(150):
        await cluster.pod(
            f"p{number:03}", labels=WEB, containers=container(8080 if number else 9090)
        )
        await cluster.say(PODS, f"p{number:03}", {"status": {"podIP": f"127.0.1.{number}"}})
    async with cluster.works():
        await cluster.user.create(SERVICES, service())
        await until(lambda: len(slices(cluster)) == 3)
        assert sorted((it["ports"][0]["port"], len(it["endpoints"])) for it in slices(cluster)) == [
            (8080, 49),
            (8080, 100),
            (9090, 1),
        ]


async def test_a_service_at_rest_costs_nothing():
    cluster = await one_node()
    async with cluster.works():
        await cluster.user.create(SERVICES, service())
        await cluster.pod("a", labels=WEB)
        await settled(5)
        version = slices(cluster)[0]["metadata"]["resourceVersion"]
        await settled(300)
        assert slices(cluster)[0]["metadata"]["resourceVersion"] == version


# ------------------------------------------------------------------ budgets
def pods(picture: str) -> list[Document]:
    """``+`` is ready, ``.`` is not, ``-`` is leaving."""
    documents = []
    for number, mark in enumerate(picture):
        status = {"conditions": [{"type": "Ready", "status": "False" if mark == "." else "True"}]}
        metadata = {"name": f"p{number}"} | (
            {"deletionTimestamp": "2026-01-01T00:00:00Z"} if mark == "-" else {}
        )
        documents.append(
            msgspec.json.decode(
                msgspec.json.encode({"metadata": metadata, "status": status}), type=Document
            )
        )
    return documents


@pytest.mark.parametrize(
    ("spec", "picture", "expected", "numbers"),
    [
        # spec, pods, what owners want -> expected, desired, healthy, allowed
        ({"minAvailable": 2}, "+++", 3, (3, 2, 3, 1)),
        ({"minAvailable": 2}, "++.", 3, (3, 2, 2, 0)),
        ({"minAvailable": 0}, "+", 1, (1, 0, 1, 1)),
        ({"minAvailable": "50%"}, "+++", 3, (3, 2, 3, 1)),
        ({"minAvailable": "100%"}, "+++", 3, (3, 3, 3, 0)),
        ({"maxUnavailable": 1}, "+++", 3, (3, 2, 3, 1)),
        ({"maxUnavailable": 1}, "++-", 3, (3, 2, 2, 0)),
        ({"maxUnavailable": "34%"}, "+++", 3, (3, 1, 3, 2)),
        ({"maxUnavailable": 5}, "+++", 3, (3, 0, 3, 3)),
        ({"maxUnavailable": 1}, "++", 5, (5, 4, 2, 0)),
        ({"maxUnavailable": 1}, "", 0, (0, 0, 0, 0)),
    ],
)
async def test_the_numbers_of_a_budget(spec: Json, picture: str, expected: int, numbers: Any):
    counted = count(spec, {}, pods(picture), expected, 0.0)

    assert (counted.expected, counted.desired, counted.healthy, counted.allowed) == numbers


async def test_shares_are_rounded_up():
    assert [share(it, 7) for it in (0, 3, "0%", "1%", "50%", "100%")] == [0, 3, 0, 1, 4, 7]


async def workload(
    cluster: Cluster, resource: Any, name: str, replicas: int, owner: Json | None = None
) -> Json:
    meta: Json = {"namespace": "shop", "name": name}
    if owner:
        meta["ownerReferences"] = [owner | {"controller": True}]
    template = {
        "metadata": {"labels": WEB},
        "spec": {"containers": [{"name": "c", "image": "web"}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": WEB}, "template": template}
    await cluster.user.create(resource, {"metadata": meta, "spec": spec})
    return controlled(resource, cluster.see(resource, name))


def numbers(cluster: Cluster) -> str:
    status = cluster.see(DISRUPTION_BUDGETS, "web").get("status", {})
    shown = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    return " ".join(str(status.get(name)) for name in shown)


def budget(**spec: Any) -> Json:
    return {
        "metadata": {"namespace": "shop", "name": "web"},
        "spec": {"selector": {"matchLabels": WEB}} | spec,
    }


async def test_a_budget_counts_by_what_the_owners_want():
    cluster = await one_node()
    async with cluster.works():
        await cluster.user.create(DISRUPTION_BUDGETS, budget(maxUnavailable=1))
        deployment = await workload(cluster, DEPLOYMENTS, "web", 4)
        rs = await workload(cluster, REPLICA_SETS, "web-1", 2, deployment)
        sts = await workload(cluster, STATEFUL_SETS, "db", 3)
        await cluster.pod("a", labels=WEB, owner=rs)
        await cluster.pod("b", labels=WEB, owner=sts)
        await until(lambda: numbers(cluster) == "7 6 2 0")
        await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 0}})
        await cluster.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 2}})
        await until(lambda: numbers(cluster) == "2 1 2 1")
        status = cluster.see(DISRUPTION_BUDGETS, "web")["status"]
        assert status["observedGeneration"] == 1
        assert status["conditions"][0]["reason"] == "SufficientPods"


async def test_an_eviction_is_paid_for_until_the_pod_goes_or_does_not():
    cluster = await one_node()
    async with cluster.works():
        await cluster.user.create(DISRUPTION_BUDGETS, budget(minAvailable=1))
        for name in "ab":
            await cluster.pod(name, labels=WEB)
        await until(lambda: numbers(cluster) == "2 1 2 1")
        await cluster.user.evict(ObjectKey("shop", "a"), uid="")
        with pytest.raises(EvictionRefused):
            await cluster.user.evict(ObjectKey("shop", "b"), uid="")
        await until(lambda: numbers(cluster) == "1 1 1 0")

        await cluster.pod("a", labels=WEB)
        await until(lambda: numbers(cluster) == "2 1 2 1")
        stuck = {"a": "2020-01-01T00:00:00Z"}
        await cluster.say(
            DISRUPTION_BUDGETS, "web", {"status": {"disruptedPods": stuck, "disruptionsAllowed": 0}}
        )
        await until(lambda: numbers(cluster) == "2 1 2 1")
        assert not cluster.see(DISRUPTION_BUDGETS, "web")["status"].get("disruptedPods")
