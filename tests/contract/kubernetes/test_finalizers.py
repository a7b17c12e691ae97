"""Finalizers: who holds an object, and that the last one lets it go."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import HOLD, NODE, pod, thing
from contract.kubernetes.wire import Wire

OTHER = "test.stateward.example/other"
RELEASE: Any = {"metadata": {"finalizers": None}}


async def leaving(wire: Wire, *finalizers: str) -> None:
    (await wire.post("configmaps", thing(finalizers=list(finalizers)))).made()
    (await wire.delete("configmaps/a")).ok()


async def test_none_is_added_to_what_is_going(wire: Wire) -> None:
    await leaving(wire, HOLD)

    answer = await wire.patch("configmaps/a", {"metadata": {"finalizers": [HOLD, OTHER]}})

    why = "no new finalizers can be added if the object is being deleted, found new finalizers []string{"
    answer.refused(422, "Invalid", says=why)
    assert set(answer.causes) == {"FieldValueForbidden metadata.finalizers"}
    (await wire.patch("configmaps/a", RELEASE)).ok()


async def test_what_is_going_can_be_changed(wire: Wire) -> None:
    await leaving(wire, HOLD)

    assert (await wire.patch("configmaps/a", {"data": {"x": "y"}})).ok()["data.x"] == "y"

    (await wire.patch("configmaps/a", RELEASE)).ok()


async def test_the_last_one_lets_it_go(wire: Wire) -> None:
    await leaving(wire, HOLD, OTHER)

    first = (await wire.patch("configmaps/a", {"metadata": {"finalizers": [OTHER]}})).ok()
    (await wire.get("configmaps/a")).ok()
    last = (await wire.patch("configmaps/a", RELEASE)).ok()

    assert first["metadata.finalizers"] == [OTHER]
    assert last["metadata.finalizers"] is None
    assert last["metadata.deletionTimestamp"] == first["metadata.deletionTimestamp"]
    (await wire.get("configmaps/a")).refused(404, "NotFound")


async def test_an_update_without_them_lets_it_go(wire: Wire) -> None:
    await leaving(wire, HOLD)

    (await wire.put("configmaps/a", thing())).ok()

    (await wire.get("configmaps/a")).refused(404, "NotFound")


async def test_a_name_is_free_only_when_its_holder_is_gone(wire: Wire) -> None:
    await leaving(wire, HOLD)

    taken = await wire.post("configmaps", thing())

    taken.refused(409, "AlreadyExists", says='configmaps "a" already exists')
    (await wire.patch("configmaps/a", RELEASE)).ok()
    (await wire.post("configmaps", thing())).made()


async def test_the_moment_of_the_end_is_not_written(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing())).made()

    later = {"metadata": {"deletionTimestamp": "2040-01-01T00:00:00Z"}}
    answer = await wire.patch("configmaps/a", later)

    answer.refused(422, "Invalid", says="metadata.deletionTimestamp: Invalid value: ")
    assert "FieldValueInvalid metadata.deletionTimestamp" in answer.causes
    assert (await wire.get("configmaps/a")).revision == made.revision


@pytest.mark.parametrize(
    ("finalizers", "cause"),
    [
        (["plain"], "metadata.finalizers[0]"),
        (["Bad Domain/x"], "metadata.finalizers"),
        (["foregroundDeletion", "orphan"], "metadata.finalizers"),
    ],
    ids=["no domain", "a bad domain", "both of the cluster's"],
)
async def test_not_everything_is_a_finalizer(wire: Wire, finalizers: list[str], cause: str) -> None:
    answer = await wire.post("configmaps", thing(finalizers=finalizers))

    answer.refused(422, "Invalid", f"FieldValueInvalid {cause}")


async def test_who_says_nothing_keeps_what_the_object_says(wire: Wire) -> None:
    (await wire.post("configmaps", thing(finalizers=["orphan"]))).made()

    going = (await wire.delete("configmaps/a")).ok()

    assert (going["kind"], going["metadata.finalizers"]) == ("ConfigMap", ["orphan"])
    await wire.gone("configmaps/a")


async def test_a_finalizer_outlasts_the_grace_of_a_pod(wire: Wire) -> None:
    (await wire.post("pods", pod(node=NODE, finalizers=[HOLD]))).made()

    held = (await wire.delete("pods/a", gracePeriodSeconds=0)).ok()

    assert held["metadata.deletionGracePeriodSeconds"] == 0
    (await wire.get("pods/a")).ok()
    (await wire.patch("pods/a", RELEASE)).ok()
    (await wire.get("pods/a")).refused(404, "NotFound")
