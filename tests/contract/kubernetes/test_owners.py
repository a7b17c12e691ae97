"""Owners: what is owned goes when its last owner is gone, wherever that one was."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import HOLD, TEAM, owner, thing
from contract.kubernetes.wire import Wire

NOBODY = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "name": "nobody",
    "uid": "00000000-0000-0000-0000-000000000000",
}
GOOD = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "u"}


async def test_an_owner_that_never_was_is_gone(wire: Wire) -> None:
    (await wire.post("configmaps", thing(ownerReferences=[NOBODY]))).made()

    await wire.gone("configmaps/a")


async def test_an_owner_is_the_one_with_its_uid(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing("owner"))).made()

    (await wire.post("configmaps", thing(ownerReferences=[owner(made, uid=NOBODY["uid"])]))).made()

    await wire.gone("configmaps/a")
    (await wire.get("configmaps/owner")).ok()


async def test_nobody_owns_across_namespaces(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing("owner"))).made()

    (await wire.post("elsewhere:configmaps", thing(ownerReferences=[owner(made)]))).made()

    await wire.gone("elsewhere:configmaps/a")
    (await wire.get("configmaps/owner")).ok()


async def test_one_owner_is_enough_and_the_other_is_forgotten(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing("owner"))).made()

    (await wire.post("configmaps", thing(ownerReferences=[owner(made), NOBODY]))).made()

    async def left() -> Any:
        found = (await wire.get("configmaps/a")).ok()["metadata.ownerReferences"]
        return [it["name"] for it in found] == ["owner"]

    await wire.until(left)
    (await wire.delete("configmaps/owner")).ok()
    await wire.gone("configmaps/a")


async def test_what_is_in_no_namespace_can_own_what_is_in_one(wire: Wire) -> None:
    body = thing(wire.namespace, provisioner="test.stateward.example/none")
    made = (await wire.post("storageclasses", body)).made()
    (await wire.post("configmaps", thing(ownerReferences=[owner(made)]))).made()

    (await wire.delete(f"storageclasses/{wire.namespace}")).ok()

    await wire.gone("configmaps/a")


async def test_owners_of_other_kinds(wire: Wire) -> None:
    made = (await wire.post("statefulsets", thing("owner", spec=TEAM))).made()
    (await wire.post("secrets", thing(ownerReferences=[owner(made, controller=True)]))).made()

    (await wire.delete("statefulsets/owner")).ok()

    await wire.gone("secrets/a")


async def test_generations_go_together(wire: Wire) -> None:
    first = (await wire.post("configmaps", thing("first"))).made()
    second = (await wire.post("configmaps", thing("second", ownerReferences=[owner(first)]))).made()
    (await wire.post("configmaps", thing("third", ownerReferences=[owner(second)]))).made()

    (await wire.delete("configmaps/first")).ok()

    for name in ("second", "third"):
        await wire.gone(f"configmaps/{name}")


async def test_the_owned_may_be_held(wire: Wire) -> None:
    (await wire.post("configmaps", thing(ownerReferences=[NOBODY], finalizers=[HOLD]))).made()

    async def is_going() -> Any:
        return (await wire.get("configmaps/a")).ok()["metadata.deletionTimestamp"]

    await wire.until(is_going)
    (await wire.patch("configmaps/a", {"metadata": {"finalizers": None}})).ok()
    await wire.gone("configmaps/a")


@pytest.mark.parametrize("field", list(GOOD))
async def test_an_owner_is_named_in_full(wire: Wire, field: str) -> None:
    answer = await wire.post("configmaps", thing(ownerReferences=[GOOD | {field: ""}]))

    answer.refused(
        422,
        "Invalid",
        f"FieldValueInvalid metadata.ownerReferences.{field}",
        says="must not be empty",
    )


@pytest.mark.parametrize(
    ("owners", "says"),
    [
        (
            [GOOD | {"controller": True}, GOOD | {"uid": "v", "controller": True}],
            "Only one reference can have Controller",
        ),
        ([GOOD | {"kind": "Event"}], "/v1, Kind=Event is disallowed from being an owner"),
    ],
    ids=["two controllers", "an event"],
)
async def test_owners_must_make_sense(wire: Wire, owners: Any, says: str) -> None:
    answer = await wire.post("configmaps", thing(ownerReferences=owners))

    answer.refused(422, "Invalid", "FieldValueInvalid metadata.ownerReferences", says=says)
