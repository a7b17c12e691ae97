"""StatefulSets in a small cluster: they come up, heal, roll, scale, and keep what is theirs."""

from __future__ import annotations

import asyncio

import pytest

from stateward.kube.client import Propagation
from stateward.kube.resources import PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.catalog import CONTROLLER_REVISIONS
from stateward.local.store import StoreEvent
from unit.local.controllers.workloads.cluster import Cluster, template, until, workload

pytestmark = pytest.mark.virtual

CLAIMS = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]


def settled(cluster: Cluster, replicas: int, image: str = "v1"):
    def holds() -> bool:
        status = cluster.status(STATEFUL_SETS, "web")
        pods = cluster.all(PODS)
        return (
            status.get("readyReplicas", 0) == status.get("replicas") == len(pods) == replicas
            and len(cluster.serving()) == replicas
            and status.get("observedGeneration")
            == cluster.document(STATEFUL_SETS, "web")["metadata"]["generation"]
            and status["currentRevision"] == status["updateRevision"]
            and {pod["spec"]["containers"][0]["image"] for pod in pods} <= {image}
        )

    return holds


async def made(cluster: Cluster, **spec) -> None:
    asked = workload(replicas=3, serviceName="peers", volumeClaimTemplates=CLAIMS) | spec
    await cluster.make(STATEFUL_SETS, "web", asked)


def births(cluster: Cluster) -> list[str]:
    """Write down which pods come (+) and are asked to go (-), while the list is held."""
    told: list[str] = []

    def listen(event: StoreEvent) -> None:
        if event.resource == PODS.name:
            name = event.now.key.name
            leaving = b"deletionTimestamp" in event.now.text
            if event.before is None:
                told.append(f"+{name}")
            elif leaving and b"deletionTimestamp" not in event.before.text:
                told.append(f"-{name}")

    cluster.api.store.listen(listen)
    return told


async def test_pods_come_up_one_after_the_other_with_their_claims():
    cluster = Cluster()
    told = births(cluster)
    async with cluster.at_work():
        await made(cluster)
        await until(lambda: cluster.exists(PODS, "web-0"))
        await asyncio.sleep(0.9)
        assert cluster.names(PODS) == ["web-0"], "the first is not ready yet"
        await until(settled(cluster, 3))
    assert told == ["+web-0", "+web-1", "+web-2"]
    assert cluster.names(VOLUME_CLAIMS) == ["data-web-0", "data-web-1", "data-web-2"]
    pod = cluster.document(PODS, "web-1")
    assert pod["spec"]["hostname"] == "web-1"
    assert pod["spec"]["subdomain"] == "peers"
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-1"}}
    assert pod["spec"]["volumes"] == [claim]
    assert pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "1"
    assert pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "web-1"
    status = cluster.status(STATEFUL_SETS, "web")
    assert pod["metadata"]["labels"]["controller-revision-hash"] == status["currentRevision"]
    assert (
        status["availableReplicas"] == status["updatedReplicas"] == status["currentReplicas"] == 3
    )
    assert cluster.reasons("web").count("SuccessfulCreate") == 6


async def test_in_parallel_nobody_waits():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, podManagementPolicy="Parallel", ordinals={"start": 5})
        await until(lambda: cluster.names(PODS) == ["web-5", "web-6", "web-7"], within=0.9)
        await until(settled(cluster, 3))
        await cluster.edit(STATEFUL_SETS, "web", {"replicas": 0})
        await until(lambda: not cluster.names(PODS), within=5)


async def test_a_deleted_pod_comes_back_by_its_name_with_its_claim():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await until(settled(cluster, 3))
        before = cluster.document(PODS, "web-1")["metadata"]["uid"]
        claim = cluster.document(VOLUME_CLAIMS, "data-web-1")["metadata"]["uid"]
        await cluster.remove(PODS, "web-1")
        await until(lambda: len(cluster.serving()) == 2)
        await until(settled(cluster, 3))
        assert cluster.document(PODS, "web-1")["metadata"]["uid"] != before
        assert cluster.document(VOLUME_CLAIMS, "data-web-1")["metadata"]["uid"] == claim


async def test_a_pod_that_failed_is_made_again():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await until(settled(cluster, 3))
        cluster.kubelet.end("web-0", "Failed")
        await until(lambda: len(cluster.serving()) == 2)
        await until(settled(cluster, 3))
        assert "RecreatingFailedPod" in cluster.reasons("web")


async def test_a_new_template_rolls_from_the_highest_and_back_again():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await until(settled(cluster, 3))
        first = cluster.status(STATEFUL_SETS, "web")["currentRevision"]
        told = births(cluster)
        await cluster.edit(STATEFUL_SETS, "web", {"template": template("v2")})
        await until(settled(cluster, 3, "v2"))
        assert told == ["-web-2", "+web-2", "-web-1", "+web-1", "-web-0", "+web-0"]
        second = cluster.status(STATEFUL_SETS, "web")["currentRevision"]
        assert second != first
        await cluster.edit(STATEFUL_SETS, "web", {"template": template("v1")})
        await until(settled(cluster, 3, "v1"))
        assert cluster.status(STATEFUL_SETS, "web")["currentRevision"] == first
        numbers = {
            it["metadata"]["name"]: it["revision"] for it in cluster.all(CONTROLLER_REVISIONS)
        }
        assert numbers == {first: 3, second: 2}


async def test_a_partition_keeps_the_lower_ones_even_when_they_are_made_again():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, updateStrategy={"rollingUpdate": {"partition": 2}})
        await until(settled(cluster, 3))
        await cluster.edit(STATEFUL_SETS, "web", {"template": template("v2")})
        await until(lambda: cluster.status(STATEFUL_SETS, "web").get("updatedReplicas") == 1)
        await until(lambda: len(cluster.serving()) == 3)
        await cluster.remove(PODS, "web-0")
        await asyncio.sleep(30)
        images = [pod["spec"]["containers"][0]["image"] for pod in cluster.all(PODS)]
        assert images == ["v1", "v1", "v2"]
        await cluster.edit(
            STATEFUL_SETS, "web", {"updateStrategy": {"rollingUpdate": {"partition": 0}}}
        )
        await until(settled(cluster, 3, "v2"))


async def test_on_delete_a_pod_is_replaced_when_somebody_deletes_it():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, updateStrategy={"type": "OnDelete"})
        await until(settled(cluster, 3))
        await cluster.edit(STATEFUL_SETS, "web", {"template": template("v2")})
        await asyncio.sleep(60)
        assert cluster.status(STATEFUL_SETS, "web").get("updatedReplicas") is None
        await cluster.remove(PODS, "web-1")
        await until(lambda: cluster.status(STATEFUL_SETS, "web").get("updatedReplicas") == 1)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize("repair", ["v1", "v3"])
async def test_a_broken_template_can_be_corrected(policy, repair):
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, podManagementPolicy=policy)
        await until(settled(cluster, 3))
        await cluster.edit(STATEFUL_SETS, "web", {"template": template("bad")})
        await asyncio.sleep(60)
        assert len(cluster.serving()) == 2, "only one is lost to the mistake"
        await cluster.edit(STATEFUL_SETS, "web", {"template": template(repair)})
        if policy == "OrderedReady":  # the broken pod is waited for until somebody removes it
            await asyncio.sleep(60)
            assert len(cluster.serving()) == 2
            await cluster.remove(PODS, "web-2")
        await until(settled(cluster, 3, repair))


async def test_a_set_that_was_broken_from_the_start_can_be_corrected():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, template=template("bad"))
        await asyncio.sleep(60)
        assert cluster.names(PODS) == ["web-0"]
        await cluster.edit(STATEFUL_SETS, "web", {"template": template("v1")})
        await cluster.remove(PODS, "web-0")
        await until(settled(cluster, 3))


async def test_pods_stay_ready_for_a_while_before_the_next_is_touched():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, minReadySeconds=20)
        moment = await until(lambda: len(cluster.serving()) == 1)
        later = await until(lambda: len(cluster.serving()) == 2)
        assert later - moment >= 19
        await until(settled(cluster, 3))


async def test_scaling_down_takes_the_highest_one_by_one_and_keeps_claims():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await until(settled(cluster, 3))
        told = births(cluster)
        await cluster.edit(STATEFUL_SETS, "web", {"replicas": 1})
        await until(settled(cluster, 1))
        assert told == ["-web-2", "-web-1"]
        assert len(cluster.names(VOLUME_CLAIMS)) == 3
        claim = cluster.document(VOLUME_CLAIMS, "data-web-2")["metadata"]["uid"]
        await cluster.edit(STATEFUL_SETS, "web", {"replicas": 3})
        await until(settled(cluster, 3))
        assert cluster.document(VOLUME_CLAIMS, "data-web-2")["metadata"]["uid"] == claim


@pytest.mark.parametrize(
    ("policy", "after_scaling", "after_deletion"),
    [
        ({}, "012", "012"),
        ({"whenScaled": "Delete"}, "0", "0"),
        ({"whenDeleted": "Delete"}, "012", ""),
        ({"whenScaled": "Delete", "whenDeleted": "Delete"}, "0", ""),
    ],
    ids=["kept", "scaled", "deleted", "both"],
)
async def test_claims_end_with_whom_the_policy_says(policy, after_scaling, after_deletion):
    def claims() -> str:
        return "".join(name[-1] for name in cluster.names(VOLUME_CLAIMS))

    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster, persistentVolumeClaimRetentionPolicy=policy)
        await until(settled(cluster, 3))
        assert claims() == "012"
        await cluster.edit(STATEFUL_SETS, "web", {"replicas": 1})
        await until(settled(cluster, 1))
        await asyncio.sleep(10)
        assert claims() == after_scaling
        await cluster.edit(STATEFUL_SETS, "web", {"replicas": 3})
        await until(settled(cluster, 3))
        assert claims() == "012"
        await cluster.edit(STATEFUL_SETS, "web", {"replicas": 1})
        await until(settled(cluster, 1))
        await cluster.remove(STATEFUL_SETS, "web")
        await until(lambda: not cluster.names(PODS))
        await asyncio.sleep(10)
        assert claims() == after_deletion


async def test_a_pod_of_that_name_that_is_not_ours_is_waited_for():
    cluster = Cluster()
    await cluster.make(PODS, "web-0", template()["spec"])
    async with cluster.at_work():
        await made(cluster)
        await asyncio.sleep(20)
        assert cluster.names(PODS) == ["web-0"]
        assert "FailedCreate" in cluster.reasons("web")
        await cluster.remove(PODS, "web-0")
        await until(settled(cluster, 3), within=10)


async def test_orphans_are_taken_in_and_strangers_let_go():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await until(settled(cluster, 3))
        uids = [pod["metadata"]["uid"] for pod in cluster.all(PODS)]
        await cluster.remove(STATEFUL_SETS, "web", propagation=Propagation.ORPHAN)
        await until(lambda: not cluster.exists(STATEFUL_SETS, "web"))
        await asyncio.sleep(10)
        assert len(cluster.names(PODS)) == 3
        await made(cluster)
        await until(lambda: cluster.status(STATEFUL_SETS, "web").get("readyReplicas") == 3)
        await until(settled(cluster, 3))
        owner = cluster.document(STATEFUL_SETS, "web")["metadata"]["uid"]
        assert [p["metadata"]["ownerReferences"][0]["uid"] for p in cluster.all(PODS)] == [
            owner
        ] * 3
        assert [pod["metadata"]["uid"] for pod in cluster.all(PODS)] == uids


async def test_a_settled_set_causes_no_write():
    cluster = Cluster()
    async with cluster.at_work():
        await made(cluster)
        await until(settled(cluster, 3))
        await asyncio.sleep(5)
        before = cluster.api.store.revision
        await asyncio.sleep(600)
        assert cluster.api.store.revision == before
