"""Objects with our names that we did not make: of the cluster they are adopted, others never."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.outcome import Retry
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model import names
from stateward.kube.client import MergePatch
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS
from unit.fdb.groups.desks import DATA, STORAGE, Desk

BY_SERVICE = {"routing": {"publicIPSource": "service"}}
COMPATIBLE = {names.CLUSTER_LABEL: "shop", names.GROUP_ID_LABEL: "storage-1"}
POD = {"containers": [{"name": "foundationdb", "image": "a"}]}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
SERVICE = {"ports": [{"port": 4501}]}
SPECS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "pod": (PODS, STORAGE, POD),
    "claim": (VOLUME_CLAIMS, DATA, CLAIM),
    "service": (SERVICES, STORAGE, SERVICE),
}


def owned_by(kind: str, name: str, uid: str) -> list[dict[str, Any]]:
    owner = {"apiVersion": CLUSTERS.api_version, "kind": kind, "name": name, "uid": uid}
    return [{**owner, "controller": True, "blockOwnerDeletion": True}]


async def put(desk: Desk, what: str, **metadata: Any) -> str:
    resource, key, spec = SPECS[what]
    found = {"namespace": key.namespace, "name": key.name, **metadata}
    made = await desk.user.create(resource, {"metadata": found, "spec": spec})
    uid: str = made.metadata.uid
    return uid


@pytest.mark.parametrize("what", SPECS)
async def test_what_the_compatible_operator_made_is_adopted(what: str) -> None:
    desk = Desk()
    cluster = await desk.cluster(**BY_SERVICE)
    group = await desk.group()
    owners = owned_by(CLUSTERS.kind, "shop", cluster.metadata.uid)
    uid = await put(desk, what, labels=COMPATIBLE, ownerReferences=owners)
    await desk.passes()
    resource, key, _ = SPECS[what]
    metadata = (await desk.there(resource, key)).metadata
    assert metadata.uid == uid
    assert not desk.wrote("delete")
    assert names.instance_labels("shop").items() <= metadata.labels.items()
    if what == "claim":
        assert metadata.labels[names.CLUSTER_UID_LABEL] == cluster.metadata.uid
        assert metadata.owner_references == ()
    else:
        assert [it.uid for it in metadata.owner_references] == [group.metadata.uid]


async def test_what_a_group_let_go_is_adopted_by_the_next_of_its_name() -> None:
    desk = Desk()
    await desk.cluster()
    uid = await put(desk, "pod", labels=names.instance_labels("shop"))
    group = await desk.group()
    await desk.passes()
    pod = await desk.pod()
    assert pod is not None
    assert pod.metadata.uid == uid
    assert pod.metadata.controller is not None
    assert pod.metadata.controller.uid == group.metadata.uid


@pytest.mark.parametrize("what", SPECS)
async def test_strangers_are_told_of_and_left_alone(what: str) -> None:
    desk = Desk()
    await desk.cluster(**BY_SERVICE)
    await desk.group()
    uid = await put(desk, what, labels={"app": "other"})
    for _ in range(3):
        outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "NameTaken"
    resource, key, _ = SPECS[what]
    found = await desk.there(resource, key)
    assert (found.metadata.uid, found.metadata.labels) == (uid, {"app": "other"})
    group = await desk.now()
    assert SPECS[what][0].kind in group.status.doing
    assert "not of this" in group.status.doing
    if what != "pod":
        assert await desk.pod() is None


async def test_a_claim_with_the_data_of_another_cluster_is_never_used() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    ours = names.instance_labels("shop") | {names.CLUSTER_UID_LABEL: "an-earlier-one"}
    await put(desk, "claim", labels=ours)
    outcome = await desk.passes()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "ClaimTaken"
    assert await desk.pod() is None
    assert not desk.wrote("patch persistentvolumeclaims", "delete")
    assert "another cluster" in (await desk.now()).status.doing


async def test_a_claim_of_the_cluster_whose_volumes_are_taken_over_is_made_ours() -> None:
    desk = Desk()
    cluster = await desk.cluster()
    await desk.group()
    await desk.edit(adoptVolumeOf="an-earlier-one")
    ours = names.instance_labels("shop") | {names.CLUSTER_UID_LABEL: "an-earlier-one"}
    uid = await put(desk, "claim", labels=ours)
    await desk.passes()
    claim = (await desk.there(VOLUME_CLAIMS, DATA)).metadata
    assert claim.uid == uid
    assert claim.labels[names.CLUSTER_UID_LABEL] == cluster.metadata.uid
    assert await desk.pod() is not None
    writes = [it.split()[:2] for it in desk.wrote("patch persistent", "create pods")]
    assert writes == [["patch", "persistentvolumeclaims"], ["create", "pods"]]
    assert not desk.wrote("create persistentvolumeclaims", "delete")


@pytest.mark.parametrize(
    ("former", "owners"),
    [
        pytest.param("a-still-earlier-one", [], id="of another one"),
        pytest.param(
            "an-earlier-one",
            owned_by(CLUSTERS.kind, "shop", "an-earlier-one"),
            id="it goes with its owner",
        ),
    ],
)
async def test_other_claims_are_not_taken_over(former: str, owners: list[Any]) -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    await desk.edit(adoptVolumeOf="an-earlier-one")
    labels = names.instance_labels("shop") | {names.CLUSTER_UID_LABEL: former}
    await put(desk, "claim", labels=labels, ownerReferences=owners)
    outcome = await desk.passes()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "ClaimTaken"
    assert await desk.pod() is None
    assert not desk.wrote("patch persistentvolumeclaims", "delete")


async def test_no_pod_is_made_on_a_claim_that_goes() -> None:
    desk = Desk()
    await desk.settled()
    held = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}}
    await desk.user.patch(VOLUME_CLAIMS, DATA, MergePatch(held))
    await desk.delete(PODS, STORAGE)
    await desk.end(PODS, STORAGE)
    await desk.see()
    await desk.delete(VOLUME_CLAIMS, DATA)
    await desk.reconciler.reconcile(STORAGE)  # the caches do not show that it goes
    assert not desk.wrote("create")
    await desk.passes()
    assert not desk.wrote("create")
    desk.clock.advance(61)
    await desk.passes()
    (missing,) = [it for it in (await desk.now()).status.conditions if it.type == "MissingPVC"]
    assert missing.message == "its PersistentVolumeClaim is being deleted"
    await desk.end(VOLUME_CLAIMS, DATA)
    await desk.passes()
    assert [it.split()[1] for it in desk.wrote("create")] == ["persistentvolumeclaims", "pods"]


async def test_a_claim_that_goes_and_no_cache_shows_has_no_pod_either() -> None:
    desk = Desk()
    cluster = await desk.cluster()
    await desk.group()
    ours = {names.CLUSTER_UID_LABEL: cluster.metadata.uid}
    await put(desk, "claim", labels=ours, finalizers=["kubernetes.io/pvc-protection"])
    await desk.delete(VOLUME_CLAIMS, DATA)
    for _ in range(3):
        outcome = await desk.once()
        assert isinstance(outcome, Retry)
        assert outcome.reason == "ClaimTerminating"
    assert await desk.pod() is None


async def test_the_pod_of_an_earlier_group_goes_first() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    owners = owned_by(PROCESS_GROUPS.kind, STORAGE.name, "of-before")
    uid = await put(desk, "pod", labels=names.instance_labels("shop"), ownerReferences=owners)
    await desk.passes()
    assert (pod := await desk.pod()) is not None
    assert pod.metadata.uid == uid
    await desk.end(PODS, STORAGE)  # as the collector does
    await desk.passes()
    assert (pod := await desk.pod()) is not None
    assert pod.metadata.uid != uid
