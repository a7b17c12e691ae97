"""Deployments and ReplicaSets in a small cluster; what must always hold is checked at every write."""

from __future__ import annotations

import asyncio

import pytest

from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.resources import DEPLOYMENTS, PODS
from stateward.local.catalog import REPLICA_SETS
from stateward.local.store import StoreEvent
from unit.local.controllers.workloads.cluster import (
    Cluster,
    is_serving,
    key,
    template,
    until,
    workload,
)

pytestmark = pytest.mark.virtual

REVISION = "deployment.kubernetes.io/revision"


def settled(cluster: Cluster, replicas: int, image: str = "v1"):
    def holds() -> bool:
        status = cluster.status(DEPLOYMENTS, "web")
        generation = cluster.document(DEPLOYMENTS, "web")["metadata"]["generation"]
        images = {pod["spec"]["containers"][0]["image"] for pod in cluster.all(PODS)}
        return (
            status.get("observedGeneration") == generation
            and status.get("availableReplicas", 0) == status.get("updatedReplicas", 0) == replicas
            and len(cluster.serving()) == len(cluster.all(PODS)) == replicas
            and images <= {image}
            and condition(cluster, "Progressing")["reason"] == "NewReplicaSetAvailable"
        )

    return holds


def condition(cluster: Cluster, kind: str) -> Json:
    found = cluster.status(DEPLOYMENTS, "web").get("conditions") or ()
    return next((it for it in found if it["type"] == kind), {"reason": "", "status": ""})


def sizes(cluster: Cluster) -> list[int]:
    return sorted(it["spec"]["replicas"] for it in cluster.all(REPLICA_SETS))


class Watchman:
    """Notes at every write how many pods serve and how many there are, those leaving aside."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.least, self.most = 10**6, 0
        cluster.api.store.listen(self._look)

    def _look(self, event: StoreEvent) -> None:
        if event.resource == PODS.name:
            pods = self._cluster.all(PODS)
            staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
            self.least = min(self.least, sum(map(is_serving, pods)))
            self.most = max(self.most, len(staying))


async def made(cluster: Cluster, **spec) -> None:
    await cluster.make(DEPLOYMENTS, "web", workload(**{"replicas": 3, **spec}))
    await until(settled(cluster, spec.get("replicas", 3)))


async def test_it_comes_up():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        [crew] = cluster.all(REPLICA_SETS)
        digest = crew["metadata"]["labels"]["pod-template-hash"]
        assert crew["metadata"]["name"] == f"web-{digest}"
        assert {pod["metadata"]["labels"]["pod-template-hash"] for pod in cluster.all(PODS)} == {
            digest
        }
        assert all(name.startswith(f"web-{digest}-") for name in cluster.names(PODS))
        assert crew["metadata"]["annotations"][REVISION] == "1"
        meta = cluster.document(DEPLOYMENTS, "web")["metadata"]
        assert (meta["annotations"][REVISION], meta["generation"]) == ("1", 1)
        assert condition(cluster, "Available")["status"] == "True"
        assert cluster.reasons("web") == ["ScalingReplicaSet"]
        status = cluster.status(REPLICA_SETS, crew["metadata"]["name"])
        names = ("replicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas")
        assert [status[name] for name in names] == [3] * 4


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "least", "most"),
    [
        (4, None, None, 3, 5),
        (4, 1, 0, 4, 5),
        (4, 0, 1, 3, 4),
        (4, "100%", "50%", 2, 8),
        (1, None, None, 1, 2),
        (10, "25%", "25%", 8, 13),
        (3, 0, 0, 2, 3),
    ],
)
async def test_a_rollout_keeps_to_its_bounds(replicas, surge, unavailable, least, most):
    cluster = Cluster()
    async with cluster.at_work():
        rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
        await made(cluster, replicas=replicas, strategy={"rollingUpdate": rolling})
        watchman = Watchman(cluster)
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("v2")})
        await until(settled(cluster, replicas, "v2"))
        assert watchman.least >= least
        assert watchman.most <= most


async def test_a_rollout_that_cannot_succeed_takes_no_more_than_allowed_and_can_be_undone():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, replicas=4, progressDeadlineSeconds=60)
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("bad")})
        await until(
            lambda: condition(cluster, "Progressing")["reason"] == "ProgressDeadlineExceeded"
        )
        assert condition(cluster, "Progressing")["status"] == "False"
        assert len(cluster.serving()) == 3
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("v1")})
        await until(settled(cluster, 4, "v1"))
        old, new = sorted(cluster.all(REPLICA_SETS), key=lambda it: it["spec"]["replicas"])
        assert old["metadata"]["annotations"][REVISION] == "2"
        assert new["metadata"]["annotations"][REVISION] == "3"
        assert new["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"


async def test_a_new_pod_must_stay_ready_for_a_while_before_an_old_one_goes():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, replicas=2, minReadySeconds=30)
        began = cluster.loop.time()
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("v2")})
        assert await until(settled(cluster, 2, "v2")) - began >= 2 * 29
        await cluster.edit(DEPLOYMENTS, "web", {"minReadySeconds": 0})
        await until(
            lambda: all(
                it["spec"].get("minReadySeconds") == 0
                for it in cluster.all(REPLICA_SETS)
                if it["spec"]["replicas"]
            )
        )


async def test_recreate_waits_until_all_old_ones_are_gone():
    cluster = Cluster(end=10)
    async with cluster.at_work():
        await made(cluster, strategy={"type": "Recreate"})
        mixed: list[set[str]] = []
        cluster.api.store.listen(
            lambda event: mixed.append(
                {p["spec"]["containers"][0]["image"] for p in cluster.all(PODS)}
            )
        )
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("v2")})
        await until(settled(cluster, 3, "v2"))
        assert {"v1", "v2"} not in mixed


async def test_a_paused_one_scales_and_does_not_roll():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await cluster.edit(
            DEPLOYMENTS, "web", {"paused": True, "template": template("v2"), "replicas": 5}
        )
        await until(lambda: len(cluster.serving()) == 5)
        await asyncio.sleep(60)
        assert sizes(cluster) == [5]
        assert condition(cluster, "Progressing")["reason"] == "DeploymentPaused"
        await cluster.edit(DEPLOYMENTS, "web", {"paused": False})
        await until(settled(cluster, 5, "v2"))


async def test_scaling_in_the_middle_of_a_rollout_is_shared():
    cluster = Cluster()
    async with cluster.at_work():
        await made(
            cluster, replicas=10, strategy={"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
        )
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("bad")})
        await asyncio.sleep(20)
        assert sizes(cluster) == [5, 8]
        await cluster.edit(DEPLOYMENTS, "web", {"replicas": 15})
        await asyncio.sleep(20)
        assert sizes(cluster) == [7, 11]
        await cluster.edit(DEPLOYMENTS, "web", {"template": template("v3")})
        await until(settled(cluster, 15, "v3"))


async def test_history_is_kept_as_long_as_asked_for():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, revisionHistoryLimit=2)
        for number in range(2, 6):
            await cluster.edit(DEPLOYMENTS, "web", {"template": template(f"v{number}")})
            await until(settled(cluster, 3, f"v{number}"))
        await asyncio.sleep(5)
        kept = [it["metadata"]["annotations"][REVISION] for it in cluster.all(REPLICA_SETS)]
        assert sorted(kept) == ["3", "4", "5"]


async def test_to_go_back_is_to_use_the_old_replica_set_again():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        for image in ("v2", "v1", "v2"):
            await cluster.edit(DEPLOYMENTS, "web", {"template": template(image)})
            await until(settled(cluster, 3, image))
        await asyncio.sleep(5)
        kept = {it["metadata"]["annotations"][REVISION] for it in cluster.all(REPLICA_SETS)}
        assert kept == {"3", "4"}


async def test_a_strategy_that_cannot_be_read_is_told():
    cluster = Cluster()
    async with cluster.at_work():
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "abc"}}
        await cluster.make(DEPLOYMENTS, "web", workload(strategy=strategy))
        await until(lambda: cluster.reasons("web") == ["SpecInvalid"])
        await cluster.edit(DEPLOYMENTS, "web", {"strategy": {"rollingUpdate": {"maxSurge": 1}}})
        await until(settled(cluster, 1))


async def test_a_pod_that_is_deleted_or_ends_is_replaced():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await cluster.remove(PODS, cluster.names(PODS)[0])
        await until(lambda: len(cluster.serving()) == 2)
        await until(settled(cluster, 3))
        lost = cluster.names(PODS)[0]
        cluster.kubelet.end(lost, "Failed")
        await until(lambda: len(cluster.serving()) == 3)
        assert cluster.exists(PODS, lost), "what ended stays to be looked at"


async def test_pods_that_are_relabelled_are_let_go_and_taken_in_again():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        name = cluster.names(PODS)[0]
        await cluster.user.patch(
            PODS, key(name), MergePatch({"metadata": {"labels": {"app": "debug"}}})
        )
        await until(lambda: len(cluster.names(PODS)) == 4)
        assert not cluster.document(PODS, name)["metadata"].get("ownerReferences")
        await until(lambda: len(cluster.serving(app="web")) == 3)
        await cluster.user.patch(
            PODS, key(name), MergePatch({"metadata": {"labels": {"app": "web"}}})
        )
        await until(settled(cluster, 3))


async def test_orphans_are_taken_in_by_a_new_one_of_the_name():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        pods = cluster.names(PODS)
        await cluster.remove(DEPLOYMENTS, "web", propagation=Propagation.ORPHAN)
        await until(lambda: not cluster.exists(DEPLOYMENTS, "web"))
        await asyncio.sleep(5)
        await made(cluster)
        assert cluster.names(PODS) == pods


async def test_a_name_that_is_taken_is_avoided():
    other, cluster = Cluster(), Cluster()
    async with other.at_work():
        await made(other)
    [crew] = other.names(REPLICA_SETS)
    strange = {
        "selector": {"matchLabels": {"app": "x"}},
        "template": template(app="x"),
        "replicas": 0,
    }
    await cluster.make(REPLICA_SETS, crew, strange)
    async with cluster.at_work():
        await made(cluster)
        assert cluster.status(DEPLOYMENTS, "web")["collisionCount"] == 1
        assert len(cluster.names(REPLICA_SETS)) == 2


async def test_deletion_takes_everything_along_and_a_settled_one_causes_no_write():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await asyncio.sleep(5)
        before = cluster.api.store.revision
        await asyncio.sleep(600)
        assert cluster.api.store.revision == before
        await cluster.remove(DEPLOYMENTS, "web", propagation=Propagation.FOREGROUND)
        await until(lambda: not cluster.exists(DEPLOYMENTS, "web"))
        assert not cluster.names(PODS)
        assert not cluster.names(REPLICA_SETS)


async def test_an_odd_neighbour_hinders_nobody():
    cluster = Cluster()
    await cluster.make(REPLICA_SETS, "odd", "no object")  # type: ignore[arg-type]
    await cluster.make(DEPLOYMENTS, "odd", {"selector": 7, "replicas": "many"})
    await cluster.make(PODS, "lonely", template()["spec"], labels={"app": "x"})
    async with cluster.at_work():
        await cluster.make(DEPLOYMENTS, "web", workload(replicas=2))
        await until(lambda: len(cluster.serving(app="web")) == 2)
