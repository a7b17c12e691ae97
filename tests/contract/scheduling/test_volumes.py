"""Claims and volumes: who gets whom, and what becomes of either when the other one goes."""

from __future__ import annotations

from typing import Any

import pytest

from contract.scheduling.stage import Stage, node
from contract.scheduling.volumes import (
    bound,
    claim,
    claims,
    classes,
    lose,
    phase,
    storage_class,
    uses,
    volume,
    volumes,
)

pytestmark = pytest.mark.xdist_group("scheduling")

MANY = "ReadWriteMany"


# ------------------------------------------------------------------ who gets whom
@pytest.mark.parametrize(
    ("wants", "gets"),
    [
        ({"size": "1Gi"}, "small"),
        ({"size": "1500Mi"}, "middle"),
        ({"size": "3Gi"}, "large"),
        ({"accessModes": [MANY]}, "shared"),
        ({"selector": {"matchLabels": {"disk": "ssd"}}}, "large"),
        ({"volumeName": "large"}, "large"),
        ({"storageClassName": "gold"}, "gold"),
        ({"volumeMode": "Block"}, "raw"),
    ],
)
async def test_the_smallest_volume_that_fits(
    stage: Stage, wants: dict[str, Any], gets: str
) -> None:
    await classes(stage, storage_class("gold"))
    await volumes(
        stage,
        volume("large", "5Gi", labels={"disk": "ssd"}),
        volume("middle", "2Gi"),
        volume("small", "1Gi"),
        volume("shared", "2500Mi", accessModes=["ReadWriteOnce", MANY]),
        volume("gold", "1Gi", storageClassName="gold"),
        volume("raw", "1Gi", volumeMode="Block"),
    )

    await claims(stage, claim(**wants))

    assert await bound(stage) == gets


@pytest.mark.parametrize(
    "wants",
    [
        {"size": "10Gi"},
        {"accessModes": [MANY]},
        {"selector": {"matchLabels": {"disk": "ssd"}}},
        {"volumeMode": "Block"},
    ],
)
async def test_no_volume_fits(stage: Stage, wants: dict[str, Any]) -> None:
    await volumes(stage, volume("one"))

    await claims(stage, claim(**wants))

    told = await stage.events("data", "FailedBinding")
    assert told == ["no persistent volumes available for this claim and no storage class is set"]
    found = await stage.wire.get("persistentvolumeclaims/data")
    assert found["status.phase"] == "Pending"
    assert found["spec.volumeName"] is None


async def test_a_binding_is_said_on_both_sides(stage: Stage) -> None:
    await volumes(stage, volume("one", "2Gi"))

    await claims(stage, claim())

    await bound(stage)
    await phase(stage, "persistentvolumes/one", "Bound")
    mine = await stage.wire.get("persistentvolumeclaims/data")
    assert mine["status.capacity"] == {"storage": "2Gi"}
    assert mine["status.accessModes"] == ["ReadWriteOnce"]
    assert mine["metadata.finalizers"] == ["kubernetes.io/pvc-protection"]
    assert mine.body["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }
    one = await stage.wire.get("persistentvolumes/one")
    assert one["metadata.finalizers"] == ["kubernetes.io/pv-protection"]
    assert one.body["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    to = {key: one.body["spec"]["claimRef"][key] for key in ("kind", "namespace", "name", "uid")}
    assert to == {
        "kind": "PersistentVolumeClaim",
        "namespace": stage.wire.namespace,
        "name": "data",
        "uid": mine["metadata.uid"],
    }


async def test_a_volume_that_comes_later(stage: Stage) -> None:
    await claims(stage, claim())
    await stage.events("data", "FailedBinding")

    (await stage.wire.post("persistentvolumes", volume("one"))).made()

    assert await bound(stage) == "one"


async def test_a_volume_that_is_kept_for_another_claim(stage: Stage) -> None:
    kept = {"namespace": stage.wire.namespace, "name": "other"}
    await volumes(stage, volume("one", claimRef=kept))
    await claims(stage, claim())
    await stage.events("data", "FailedBinding")

    await claims(stage, claim("other"))

    assert await bound(stage, "other") == "one"
    assert (await stage.wire.get("persistentvolumeclaims/data"))["status.phase"] == "Pending"


async def test_a_volume_that_is_kept_is_taken_before_a_smaller_one(stage: Stage) -> None:
    kept = {"namespace": stage.wire.namespace, "name": "data"}
    await volumes(stage, volume("small"), volume("large", "5Gi", claimRef=kept))

    await claims(stage, claim())

    assert await bound(stage) == "large"


async def test_a_named_volume_that_is_taken(stage: Stage) -> None:
    await volumes(stage, volume("one"), volume("two"))
    await claims(stage, claim(volumeName="one"))
    await bound(stage)

    await claims(stage, claim("second", volumeName="one"))

    told = await stage.events("second", "FailedBinding")
    assert told == ['volume "one" already bound to a different claim.']
    assert (await stage.wire.get("persistentvolumeclaims/second"))["status.phase"] == "Pending"


async def test_a_named_volume_that_is_too_small(stage: Stage) -> None:
    await volumes(stage, volume("one"))

    await claims(stage, claim(size="2Gi", volumeName="one"))

    told = await stage.events("data", "VolumeMismatch")
    assert told == ['Cannot bind to requested volume "one": requested PV is too small']
    assert (await stage.wire.get("persistentvolumeclaims/data"))["status.phase"] == "Pending"


async def test_a_named_volume_of_another_class(stage: Stage) -> None:
    await volumes(stage, volume("one", storageClassName="gold"))

    await claims(stage, claim(volumeName="one"))

    told = await stage.events("data", "VolumeMismatch")
    assert told == ['Cannot bind to requested volume "one": storageClassName does not match']


async def test_a_named_volume_that_is_not_there(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim(volumeName="two"), claim("next"))

    assert await bound(stage, "next") == "one"

    await phase(stage, "persistentvolumeclaims/data", "Pending")
    (await stage.wire.post("persistentvolumes", volume("two"))).made()
    assert await bound(stage) == "two"


async def test_two_claims_and_one_volume(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim("first"))
    await bound(stage, "first")

    await claims(stage, claim("second"))

    await stage.events("second", "FailedBinding")
    assert (await stage.wire.get("persistentvolumeclaims/second"))["status.phase"] == "Pending"


# ------------------------------------------------------------------ classes
async def test_a_claim_without_a_class_gets_the_default_one(stage: Stage) -> None:
    await classes(stage, storage_class("usual", default=True), storage_class("other"))
    await volumes(stage, volume("one", storageClassName="usual"), volume("none", "1Mi"))

    await claims(stage, claim(storageClassName=None))

    assert await bound(stage) == "one"
    found = await stage.wire.get("persistentvolumeclaims/data")
    assert found["spec.storageClassName"] == "usual"


async def test_a_default_class_that_comes_later(stage: Stage) -> None:
    await claims(stage, claim(storageClassName=None))
    await stage.events("data", "FailedBinding")

    await classes(stage, storage_class("usual", default=True))

    async def its_class() -> Any:
        found = await stage.wire.get("persistentvolumeclaims/data")
        return found["spec.storageClassName"]

    assert await stage.wire.until(its_class) == "usual"


async def test_a_class_that_is_not_there_binds_all_the_same(stage: Stage) -> None:
    await volumes(stage, volume("one", storageClassName="unknown"))

    await claims(stage, claim(storageClassName="unknown"))

    assert await bound(stage) == "one"


async def test_a_class_that_is_not_there(stage: Stage) -> None:
    await claims(stage, claim(storageClassName="unknown"))

    told = await stage.events("data", "ProvisioningFailed")
    assert told == ['storageclass.storage.k8s.io "unknown" not found']


async def test_a_class_that_makes_no_volumes(stage: Stage) -> None:
    await classes(stage, storage_class("gold"))

    await claims(stage, claim(storageClassName="gold"))

    told = await stage.events("data", "ProvisioningFailed")
    assert told == ["no volume plugin matched name: kubernetes.io/no-provisioner"]


async def test_a_class_whose_volumes_wait_for_a_pod(stage: Stage) -> None:
    await classes(stage, storage_class("local", late=True))
    await volumes(stage, volume("one", storageClassName="local"))

    await claims(stage, claim(storageClassName="local"))

    told = await stage.events("data", "WaitForFirstConsumer")
    assert told == ["waiting for first consumer to be created before binding"]
    found = await stage.wire.get("persistentvolumeclaims/data")
    assert (found["status.phase"], found["spec.volumeName"]) == ("Pending", None)


# ------------------------------------------------------------------ ends
async def test_a_volume_that_is_kept_after_its_claim(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)

    await stage.wire.delete("persistentvolumeclaims/data")

    await phase(stage, "persistentvolumes/one", "Released")
    await claims(stage, claim("next"))
    await stage.events("next", "FailedBinding")
    (await stage.wire.patch("persistentvolumes/one", {"spec": {"claimRef": None}})).ok()
    assert await bound(stage, "next") == "one"


async def test_a_claim_of_the_same_name_is_another_one(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)
    await stage.wire.delete("persistentvolumeclaims/data")
    await stage.wire.gone("persistentvolumeclaims/data")
    await phase(stage, "persistentvolumes/one", "Released")

    await claims(stage, claim())

    await stage.events("data", "FailedBinding")
    await phase(stage, "persistentvolumes/one", "Released")


async def test_a_claim_whose_volume_is_gone_is_lost(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)

    await lose(stage, "one")

    await phase(stage, "persistentvolumeclaims/data", "Lost")
    told = await stage.events("data", "ClaimLost")
    assert told == ["Bound claim has lost its PersistentVolume. Data on the volume is lost!"]


async def test_a_bound_volume_stays_until_its_claim_goes(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)
    await phase(stage, "persistentvolumes/one", "Bound")

    (await stage.wire.delete("persistentvolumes/one")).ok()

    found = (await stage.wire.get("persistentvolumes/one")).ok()
    assert found["metadata.deletionTimestamp"]
    await stage.wire.delete("persistentvolumeclaims/data")
    await stage.wire.gone("persistentvolumes/one")


async def test_a_claim_in_use_stays_until_its_pod_goes(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)
    await stage.pod(**uses("data"))
    await stage.placed()

    (await stage.wire.delete("persistentvolumeclaims/data")).ok()

    found = (await stage.wire.get("persistentvolumeclaims/data")).ok()
    assert found["metadata.deletionTimestamp"]
    await stage.wire.delete("pods/it", gracePeriodSeconds=0)
    await stage.wire.gone("persistentvolumeclaims/data")


async def test_a_finished_pod_still_uses_its_claim(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await volumes(stage, volume("one"))
    await claims(stage, claim(), claim("free"))
    await bound(stage)
    await stage.pod(**uses("data"))
    await stage.placed()
    (await stage.wire.patch("pods/it/status", {"status": {"phase": "Succeeded"}})).ok()

    (await stage.wire.delete("persistentvolumeclaims/data")).ok()

    await stage.wire.delete("persistentvolumeclaims/free")
    await stage.wire.gone("persistentvolumeclaims/free")
    (await stage.wire.get("persistentvolumeclaims/data")).ok()
    await stage.wire.delete("pods/it", gracePeriodSeconds=0)
    await stage.wire.gone("persistentvolumeclaims/data")


async def test_a_claim_is_not_in_use_by_a_pod_without_a_node(stage: Stage) -> None:
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)
    await stage.pod(**uses("data"))

    (await stage.wire.delete("persistentvolumeclaims/data")).ok()

    await stage.wire.gone("persistentvolumeclaims/data")


async def test_a_claim_that_is_part_of_a_pod(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await volumes(stage, volume("one"))
    template = {"spec": claim()["spec"]}

    await stage.pod(volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": template}}])

    assert await stage.placed() == "a"
    found = await stage.wire.get("persistentvolumeclaims/it-tmp")
    owner = found["metadata.ownerReferences.0"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Pod", "it", True)
    await stage.wire.delete("pods/it", gracePeriodSeconds=0)
    await stage.wire.gone("persistentvolumeclaims/it-tmp")
