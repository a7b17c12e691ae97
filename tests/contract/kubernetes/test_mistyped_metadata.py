"""Metadata of another type than it must be: refused, in the words of whoever reads it."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import named
from contract.kubernetes.custom import OPEN, things
from contract.kubernetes.shapes import owner
from contract.kubernetes.wire import Wire

HEAD = {"apiVersion": "v1", "kind": "ConfigMap"}
MISTYPED: Any = [
    ("labels", []),
    ("labels", {"a": []}),
    ("annotations", []),
    ("annotations", "x"),
    ("ownerReferences", {}),
    ("ownerReferences", ["x"]),
    ("finalizers", {}),
    ("generateName", []),
    ("generateName", {}),
    ("deletionTimestamp", {}),
    ("deletionGracePeriodSeconds", {}),
    ("creationTimestamp", []),
    ("generation", []),
    ("selfLink", {}),
    ("managedFields", {}),
]
of_metadata = pytest.mark.parametrize(
    ("field", "value"), MISTYPED, ids=[f"{name}={it}" for name, it in MISTYPED]
)


@of_metadata
async def test_of_a_built_in_kind(wire: Wire, field: str, value: Any) -> None:
    wrong = {"metadata": {"name": "a", field: value}}
    (await wire.post("configmaps", named("b"))).made()

    (await wire.post("configmaps", wrong)).refused(400, "BadRequest")
    changed = await wire.patch("configmaps/b", {"metadata": {field: value}})
    changed.refused(422, "Invalid", "FieldValueInvalid patch")
    applied = await wire.apply("configmaps/a", HEAD | wrong)
    applied.refused(500, "", says="failed to create typed patch object")


@of_metadata
async def test_of_a_custom_kind(wire: Wire, field: str, value: Any) -> None:
    async with things(wire, OPEN) as kind:
        wrong = kind.body(metadata={field: value})
        await kind.made({}, "b")

        (await wire.post(kind.at(), wrong)).refused(400, "BadRequest")
        changed = await wire.patch(kind.at("b"), {"metadata": {field: value}})
        changed.refused(422, "Invalid", "FieldValueInvalid patch")
        applied = await wire.apply(kind.at("a"), wrong)
        applied.refused(500, "", says="failed to create typed patch object")


@pytest.mark.parametrize("name", ["controller", "blockOwnerDeletion"])
async def test_null_is_as_good_as_nothing_of_an_owner(wire: Wire, name: str) -> None:
    first = (await wire.post("configmaps", named("a"))).made()
    body = {"metadata": {"name": "b", "ownerReferences": [owner(first, **{name: None})]}}

    made = (await wire.post("configmaps", body)).made()

    assert made["metadata.ownerReferences"] == [owner(first)]


async def test_an_owner_that_is_null_is_nobody(wire: Wire) -> None:
    answer = await wire.post("configmaps", {"metadata": {"name": "b", "ownerReferences": [None]}})

    wanted = ("apiVersion", "kind", "name", "uid")
    causes = [f"FieldValueInvalid metadata.ownerReferences.{it}" for it in wanted]
    answer.refused(422, "Invalid", *causes)


@pytest.mark.parametrize("value", [[], {}, 1], ids=str)
async def test_metadata_that_nobody_knows_is_told_of(wire: Wire, value: Any) -> None:
    answer = await wire.post("configmaps", {"metadata": {"name": "a", "odd": value}})

    assert answer.made().warnings == (r"unknown field \"metadata.odd\"",)
