"""Volumes for the claims of a control plane that is not ours: made, grown and removed."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.bench import running, until
from stateward.kube.codec import Json
from stateward.kube.resources import EVENTS, VOLUME_CLAIMS
from stateward.local.catalog import STORAGE_CLASSES, VOLUMES
from stateward.local.controllers.desk import Desk
from stateward.local.real import provisioner
from stateward.runtime.telling.metrics import Metrics
from unit.local.controllers.cluster.cluster import Cluster, stays

pytestmark = pytest.mark.virtual

OURS = "stateward.dev/local"
ASKED = {"volume.kubernetes.io/storage-provisioner": OURS}
PLACED = {"volume.kubernetes.io/selected-node": "n1"}


class Shop(Cluster):
    """A Kubernetes with nobody but our provisioner in it: a test says what the others would."""

    def new_desk(self) -> Desk:
        desk = Desk(self.client, self.ports, Metrics(self.clock), provisioner.WATCHED)
        provisioner.employ(desk)
        return desk

    async def claim(self, more: Json | None = None, **annotations: str) -> None:
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "fast",
            **(more or {}),
        }
        metadata = {"namespace": "shop", "name": "data", "annotations": annotations}
        await self.user.create(VOLUME_CLAIMS, {"metadata": metadata, "spec": spec})

    async def fast(self, maker: str = OURS, mode: str = "Immediate") -> None:
        body = {"metadata": {"name": "fast"}, "provisioner": maker, "volumeBindingMode": mode}
        await self.user.create(STORAGE_CLASSES, body | {"allowVolumeExpansion": True})

    async def bind(self) -> str:
        """Do what the volume controller does with a volume that was made for a claim."""
        name: str = self.volumes()[0]["metadata"]["name"]
        await self.patch(VOLUME_CLAIMS, "data", {"spec": {"volumeName": name}})
        bound = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
        await self.say(VOLUME_CLAIMS, "data", bound)
        return name

    def volumes(self) -> list[Json]:
        return [it.document() for it in self.api.store.all(VOLUMES.name)]


@pytest.mark.parametrize(
    ("annotations", "maker", "mode", "is_made"),
    [
        (ASKED, OURS, "Immediate", True),
        (ASKED | PLACED, OURS, "WaitForFirstConsumer", True),
        (ASKED, OURS, "WaitForFirstConsumer", False),
        (PLACED, OURS, "Immediate", False),
        (ASKED, "somebody.else/disk", "Immediate", False),
        ({"volume.kubernetes.io/storage-provisioner": "other/disk"}, OURS, "Immediate", False),
    ],
    ids=["asked", "asked and placed", "no node yet", "not asked", "another class", "another maker"],
)
async def test_for_which_claims_a_volume_is_made(
    annotations: dict[str, str], maker: str, mode: str, *, is_made: bool
):
    shop = Shop()
    await shop.fast(maker, mode)
    await shop.claim(**annotations)
    async with running(shop.desk.run()):
        if not is_made:
            await stays(lambda: not shop.volumes(), 3)
            return
        await until(shop.volumes)

    made = shop.volumes()[0]
    claim = shop.see(VOLUME_CLAIMS, "data")
    assert made["metadata"]["name"] == f"pvc-{claim['metadata']['uid']}"
    assert made["metadata"]["annotations"] == {"pv.kubernetes.io/provisioned-by": OURS}
    assert made["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]


BEYOND_US = {
    "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"},
    "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "other"},
    "selector": {"matchLabels": {"disk": "fast"}},
    "volumeMode": "Block",
}


@pytest.mark.parametrize("field", BEYOND_US)
async def test_a_claim_for_more_than_a_folder_gets_no_volume_and_is_told_why(field: str):
    shop = Shop()
    await shop.fast()
    await shop.claim(more={field: BEYOND_US[field]}, **ASKED)
    async with running(shop.desk.run()):
        await until(lambda: shop.api.store.all(EVENTS.name))
        await stays(lambda: not shop.volumes(), 3)

    (event,) = (it.document() for it in shop.api.store.all(EVENTS.name))
    assert (event["type"], event["reason"]) == ("Warning", "ProvisioningFailed")
    assert field in event["message"]
    assert "cannot be had" in event["message"]


async def test_a_class_that_comes_late_is_not_missed():
    shop = Shop()
    await shop.claim(**ASKED)
    async with running(shop.desk.run()):
        await stays(lambda: not shop.volumes(), 3)
        await shop.fast()
        await until(shop.volumes)


async def test_a_volume_grows_with_its_claim():
    shop = Shop()
    await shop.fast()
    await shop.claim(**ASKED)

    def sizes() -> tuple[Any, Any]:
        claim, volume = shop.see(VOLUME_CLAIMS, "data"), shop.volumes()[0]
        return claim["status"]["capacity"]["storage"], volume["spec"]["capacity"]["storage"]

    async with running(shop.desk.run()):
        await until(shop.volumes)
        await shop.bind()
        await stays(lambda: sizes() == ("1Gi", "1Gi"), 3)
        grown = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
        await shop.patch(VOLUME_CLAIMS, "data", grown)
        await until(lambda: sizes() == ("2Gi", "2Gi"))


@pytest.mark.parametrize(
    ("maker", "policy", "phase", "is_removed"),
    [
        (OURS, "Delete", "Released", True),
        (OURS, "Delete", "Bound", False),
        (OURS, "Retain", "Released", False),
        ("other/disk", "Delete", "Released", False),
    ],
)
async def test_which_volumes_are_removed(maker: str, policy: str, phase: str, *, is_removed: bool):
    shop = Shop()
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": policy,
        "hostPath": {"path": "/x"},
    }
    metadata = {"name": "v", "annotations": {"pv.kubernetes.io/provisioned-by": maker}}
    await shop.user.create(VOLUMES, {"metadata": metadata, "spec": spec})
    await shop.say(VOLUMES, "v", {"status": {"phase": phase}})
    async with running(shop.desk.run()):
        if is_removed:  # as soon as whoever protects volumes lets it go
            await until(lambda: "deletionTimestamp" in shop.volumes()[0]["metadata"])
        else:
            await stays(shop.volumes, 3)
