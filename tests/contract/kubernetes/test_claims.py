"""Claims, volumes and classes: what nobody said, what makes no sense, and that claims only grow."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import claim, thing
from contract.kubernetes.wire import Wire

ONE: Final = {"accessModes": ["ReadWriteOnce"]}
CLAIMS: Final = "persistentvolumeclaims"


def sized(size: str) -> Any:
    return {"resources": {"requests": {"storage": size}}}


async def test_a_claim_as_it_is_stored(wire: Wire) -> None:
    made = (await wire.post(CLAIMS, claim(**sized("0.5Gi")))).made()

    assert made["spec"] == {
        **ONE,
        **sized("512Mi"),
        "storageClassName": "nobody",
        "volumeMode": "Filesystem",
    }
    assert made["status"] == {"phase": "Pending"}
    assert made["metadata.finalizers"] == ["kubernetes.io/pvc-protection"]


async def test_a_volume_as_it_is_stored(wire: Wire) -> None:
    spec = {**ONE, "capacity": {"storage": "1024Mi"}, "hostPath": {"path": "/x"}}

    made = (await wire.post("persistentvolumes", thing(wire.namespace, spec=spec))).made()

    assert made["spec"] == {
        **ONE,
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/x", "type": ""},
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    }
    assert made["metadata.finalizers"] == ["kubernetes.io/pv-protection"]
    (await wire.delete(f"persistentvolumes/{wire.namespace}")).ok()


async def test_a_class_as_it_is_stored(wire: Wire) -> None:
    made = (
        await wire.post("storageclasses", thing(wire.namespace, provisioner="example.com/x"))
    ).made()

    assert (made["reclaimPolicy"], made["volumeBindingMode"]) == ("Delete", "Immediate")
    (await wire.delete(f"storageclasses/{wire.namespace}")).ok()


WRONG: Final[list[tuple[str, str, Any, str]]] = [
    ("no modes", CLAIMS, {"spec": sized("1Gi")}, "Required spec.accessModes"),
    (
        "an odd mode",
        CLAIMS,
        {"spec": {"accessModes": ["Any"], **sized("1")}},
        "NotSupported spec.accessModes",
    ),
    ("no size", CLAIMS, {"spec": ONE}, "Required spec.resources[storage]"),
    ("nothing", CLAIMS, {"spec": {**ONE, **sized("0")}}, "Invalid spec.resources[storage]"),
    (
        "an odd volume mode",
        CLAIMS,
        {"spec": {**ONE, **sized("1"), "volumeMode": "Any"}},
        "NotSupported spec.volumeMode",
    ),
    (
        "for one pod and for one node",
        CLAIMS,
        {"spec": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"], **sized("1")}},
        "Forbidden spec.accessModes",
    ),
    (
        "of nothing",
        "persistentvolumes",
        {"spec": {**ONE, "capacity": {"storage": "1"}}},
        "Required spec",
    ),
    (
        "reclaimed somehow",
        "persistentvolumes",
        {
            "spec": {
                **ONE,
                "capacity": {"storage": "1"},
                "hostPath": {"path": "/x"},
                "persistentVolumeReclaimPolicy": "Any",
            }
        },
        "NotSupported spec.persistentVolumeReclaimPolicy",
    ),
    ("by nobody", "storageclasses", {}, "Required provisioner"),
    (
        "recycled",
        "storageclasses",
        {"provisioner": "x", "reclaimPolicy": "Recycle"},
        "NotSupported reclaimPolicy",
    ),
    (
        "bound somehow",
        "storageclasses",
        {"provisioner": "x", "volumeBindingMode": "Any"},
        "NotSupported volumeBindingMode",
    ),
]


@pytest.mark.parametrize(
    ("kind", "body", "cause"), [it[1:] for it in WRONG], ids=[f"{it[1]} {it[0]}" for it in WRONG]
)
async def test_what_makes_no_sense(wire: Wire, kind: str, body: Any, cause: str) -> None:
    answer = await wire.post(kind, thing(**body), dryRun="All")

    answer.refused(422, "Invalid", f"FieldValue{cause}")


@pytest.mark.parametrize(
    "spec",
    [{"accessModes": ["ReadWriteMany"]}, {"storageClassName": "x"}, sized("2Gi")],
    ids=["modes", "class", "size"],
)
async def test_a_claim_that_waits_stays_as_it_is(wire: Wire, spec: Any) -> None:
    (await wire.post(CLAIMS, claim())).made()

    answer = await wire.patch(f"{CLAIMS}/a", {"spec": spec})

    says = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    answer.refused(422, "Invalid", "FieldValueForbidden spec", says=says)


async def bound(wire: Wire, *, grows: bool) -> None:
    """Make a claim and the volume for it, and say that they belong together."""
    name = wire.namespace
    store = thing(name, provisioner="test.stateward.example/none", allowVolumeExpansion=grows)
    (await wire.post("storageclasses", store)).made()
    where = {
        "storageClassName": name,
        "hostPath": {"path": "/x"},
        "claimRef": {"namespace": name, "name": "a"},
    }
    volume = {**ONE, **where, "capacity": {"storage": "1Gi"}}
    (await wire.post("persistentvolumes", thing(name, spec=volume))).made()
    (await wire.post(CLAIMS, claim(storageClassName=name, volumeName=name))).made()
    status = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    (await wire.patch(f"{CLAIMS}/a/status", status)).ok()


async def test_a_bound_claim_may_grow_if_its_class_allows_it(wire: Wire) -> None:
    await bound(wire, grows=True)

    grown = (await wire.patch(f"{CLAIMS}/a", {"spec": sized("2Gi")})).ok()

    assert grown["spec.resources.requests.storage"] == "2Gi"


async def test_and_not_otherwise(wire: Wire) -> None:
    await bound(wire, grows=False)

    answer = await wire.patch(f"{CLAIMS}/a", {"spec": sized("2Gi")})

    says = (
        'persistentvolumeclaims "a" is forbidden: only dynamically provisioned pvc can be resized and'
        " the storageclass that provisions the pvc must support resize"
    )
    answer.refused(403, "Forbidden", says=says)


async def test_no_claim_shrinks(wire: Wire) -> None:
    await bound(wire, grows=True)

    answer = await wire.patch(f"{CLAIMS}/a", {"spec": sized("500Mi")})

    says = "field can not be less than status.capacity"
    answer.refused(422, "Invalid", "FieldValueForbidden spec.resources.requests.storage", says=says)


async def test_a_bound_claim_keeps_its_volume(wire: Wire) -> None:
    await bound(wire, grows=True)

    answer = await wire.patch(f"{CLAIMS}/a", {"spec": {"volumeName": "other"}})

    answer.refused(
        422, "Invalid", "FieldValueForbidden spec", says="spec is immutable after creation"
    )
