"""Preconditions: exactly that object, exactly that version, or nothing happens."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import TEAM, pod, thing
from contract.kubernetes.wire import Wire

BODIES: dict[str, tuple[Any, str]] = {
    "configmaps": (thing(), "ConfigMap"),
    "statefulsets": (thing(spec=TEAM), "StatefulSet.apps"),
    "pods": (pod(), "Pod"),
}


@pytest.mark.parametrize("kind", list(BODIES))
async def test_another_object_is_not_deleted(wire: Wire, kind: str) -> None:
    body, called = BODIES[kind]
    uid = (await wire.post(kind, body)).made()["metadata.uid"]

    answer = await wire.delete(f"{kind}/a", {"preconditions": {"uid": "x"}})

    says = (
        f'Operation cannot be fulfilled on {called} "a": the UID in the precondition (x) does not match'
        f" the UID in record ({uid}). The object might have been deleted and then recreated"
    )
    answer.refused(409, "Conflict", says=says)
    (await wire.get(f"{kind}/a")).ok()


@pytest.mark.parametrize("version", ["1", "x"])
async def test_another_version_is_not_deleted(wire: Wire, version: str) -> None:
    made = (await wire.post("configmaps", thing())).made()

    answer = await wire.delete("configmaps/a", {"preconditions": {"resourceVersion": version}})

    says = (
        f'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition ({version})'
        f" does not match the ResourceVersion in record ({made.revision}). The object might have been modified"
    )
    answer.refused(409, "Conflict", says=says)


async def test_both_hold(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing())).made()
    exactly = {"uid": made["metadata.uid"], "resourceVersion": made.revision}

    (await wire.delete("configmaps/a", {"preconditions": exactly})).ok()

    (await wire.get("configmaps/a")).refused(404, "NotFound")


async def test_each_of_a_collection_is_asked(wire: Wire) -> None:
    (await wire.post("leases", thing())).made()

    answer = await wire.delete("leases", {"preconditions": {"uid": "x"}})

    answer.refused(409, "Conflict", says="the UID in the precondition (x)")
    (await wire.get("leases/a")).ok()


async def test_an_update_may_name_the_object(wire: Wire) -> None:
    (await wire.post("configmaps", thing())).made()

    body = {"metadata": {"name": "a", "uid": "x"}}
    answer = await wire.put("configmaps/a", body)

    answer.refused(
        409, "Conflict", says="Precondition failed: UID in precondition: x, UID in object meta: "
    )


async def test_a_patch_may_name_the_version(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing())).made()
    first = {"metadata": {"resourceVersion": made.revision}, "data": {"x": "1"}}
    (await wire.patch("configmaps/a", first)).ok()

    again = await wire.patch("configmaps/a", first | {"data": {"x": "2"}})

    again.refused(
        409,
        "Conflict",
        says="the object has been modified; please apply your changes to the latest version",
    )
