"""Definitions that change while their objects are there, and that go with them."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    OPEN,
    TEXT,
    defined,
    definition,
    fields,
    things,
    version,
    whole,
)
from contract.kubernetes.wire import Wire

OLD = version(whole(fields(a=TEXT, b=TEXT)))
NEW = version(whole(fields(a=TEXT)), "v2", storage=False)


async def test_a_new_field_is_taken_from_then_on(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        made = await kind.made({"a": "x", "b": "y"})
        (await kind.redefine(version(whole(fields(a=TEXT, b=TEXT))))).ok()
        await kind.takes({"b": "y"})

        changed = (await kind.change({"b": "z"})).ok()

        assert (made["spec"], changed["spec"]) == ({"a": "x"}, {"a": "x", "b": "z"})
        assert (await wire.get(kind.definition))["metadata.generation"] == 2


async def test_a_tighter_schema_leaves_what_is_there(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        await kind.made({"a": "long"})
        (await kind.redefine(version(whole(fields(a=TEXT | {"maxLength": 2}))))).ok()
        await kind.refuses({"a": "long"})

        assert (await kind.get()).ok()["spec"] == {"a": "long"}
        (await kind.post({"a": "long"}, "b")).refused(422, "Invalid", "FieldValueTooLong spec.a")


async def test_a_new_version_shows_the_same_objects(wire: Wire) -> None:
    async with defined(wire, OLD) as kind:
        made = await kind.made({"a": "x"})
        (await kind.redefine(OLD, NEW)).ok()
        await kind.served("v2")

        shown = (await kind.get(version="v2")).ok()

        assert (shown["apiVersion"], shown["spec"]) == (f"{kind.group}/v2", {"a": "x"})
        assert (shown["metadata.uid"], shown.revision) == (made["metadata.uid"], made.revision)


@pytest.mark.differs(
    "Custom objects are pruned and get their defaults when written, not when read."
)
async def test_each_version_reads_by_its_own_schema(wire: Wire) -> None:
    async with defined(wire, OLD, NEW) as kind:
        await kind.made({"a": "x", "b": "y"})

        newer = (await kind.get(version="v2")).ok()

        assert newer["spec"] == {"a": "x"}


async def test_each_version_is_written_by_its_own_schema(wire: Wire) -> None:
    async with defined(wire, OLD, NEW) as kind:
        body = kind.body(version="v2", spec={"a": "x", "b": "y"})

        made = (await wire.post(kind.at(version="v2"), body)).made()

        assert made["spec"] == {"a": "x"}
        assert made.warnings == (r"unknown field \"spec.b\"",)


async def test_a_body_must_be_of_the_version_of_its_path(wire: Wire) -> None:
    async with defined(wire, OLD, NEW) as kind:
        answer = await wire.post(kind.at(), kind.body(version="v2", spec={}))

        says = (
            f"the API version in the data ({kind.group}/v2) does not match the expected API version"
        )
        answer.refused(400, "BadRequest", says=says)


async def test_a_version_that_is_not_served_is_not_found(wire: Wire) -> None:
    async with defined(wire, OLD, NEW) as kind:
        await kind.made({"a": "x"})
        (await kind.redefine(OLD | {"served": False}, NEW)).ok()
        await wire.gone(kind.at())

        assert (await kind.get()).code == 404
        assert (await kind.get(version="v2")).ok()["spec"] == {"a": "x"}


async def test_what_was_stored_once_is_remembered(wire: Wire) -> None:
    async with defined(wire, OLD, NEW) as kind:
        later = (OLD | {"storage": False}, NEW | {"storage": True})
        (await kind.redefine(*later)).ok()

        async def are_both_stored() -> bool:
            return (await wire.get(kind.definition))["status.storedVersions"] == ["v1", "v2"]

        await wire.until(are_both_stored)
        refused = await kind.redefine(later[1])
        refused.refused(422, "Invalid", "FieldValueInvalid status.storedVersions[0]")

        status = {"status": {"storedVersions": ["v2"]}}
        (await wire.patch(f"{kind.definition}/status", status)).ok()
        (await kind.redefine(later[1])).ok()


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"scope": "Cluster"}, "spec.scope"),
        ({"group": "other.example.com"}, "spec.group"),
        ({"names": {"plural": "others"}}, "spec.names.plural"),
        ({"names": {"kind": "Other", "listKind": "OtherList"}}, "spec.names.kind"),
    ],
    ids=["scope", "group", "plural", "kind"],
)
async def test_what_a_definition_may_not_change(wire: Wire, change: Any, where: str) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        answer = await wire.patch(kind.definition, {"spec": change})

        says = f"{where}: Invalid value: "
        answer.refused(422, "Invalid", f"FieldValueInvalid {where}", says=says)


# ------------------------------------------------------------------ the end
async def test_a_definition_waits_for_its_objects(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        held = kind.body("held", metadata={"finalizers": ["example.com/hold"]})
        (await wire.post(kind.at(), held)).made()
        await kind.made({}, "free")

        left = (await wire.delete(kind.definition)).ok()

        assert left["metadata.finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert left["metadata.deletionTimestamp"]
        await wire.gone(kind.at("free"))

        async def is_leaving() -> Any:
            return await kind.condition("Terminating")

        said = await wire.until(is_leaving)
        assert (said["status"], said["reason"]) == ("True", "InstanceDeletionInProgress")
        assert (await kind.get("held")).ok()["metadata.deletionTimestamp"]

        async def is_closed() -> bool:
            answer = await kind.post({}, "new", dryRun="All")
            why = "create not allowed while custom resource definition is terminating"
            return answer.code in {403, 405} and why in answer["message"]

        await wire.until(is_closed)
        (await wire.patch(kind.at("held"), {"metadata": {"finalizers": None}})).ok()
        await wire.gone(kind.definition)
        await wire.gone(kind.at())


async def test_a_kind_that_is_made_again_is_empty(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        await kind.made({"a": "x"})
        (await wire.delete(kind.definition)).ok()
        await wire.gone(kind.definition)

        again = definition(kind.group, version(whole(fields(z=NUMBER))))
        (await wire.post("customresourcedefinitions", again)).made()
        await kind.served()
        await kind.takes({"z": 1})

        assert (await wire.get(kind.at())).ok().names == []


# ------------------------------------------------------------------ objects like any other
async def test_odd_values_come_back_as_they_went(wire: Wire) -> None:
    deep: Any = "bottom"
    for _ in range(100):
        deep = {"d": [deep]}
    spec = {
        "whole": 2**53 + 1,
        "least": -(2**63),
        "small": 1e-9,
        "half": 0.5,
        "ü": "🎉 \u2028 é",
        "": "no name",
        "a.b/c d": None,
        "$x": [],
        "deep": deep,
    }
    async with things(wire, OPEN) as kind:
        made = await kind.made(spec)

        assert made["spec"] == spec
        assert (await kind.get())["spec"] == spec


async def test_what_the_server_itself_says_cannot_be_said_for_it(wire: Wire) -> None:
    mine = {"generation": 7, "uid": "mine", "creationTimestamp": "2000-01-01T00:00:00Z"}
    async with things(wire, fields(a=TEXT)) as kind:
        made = (await wire.post(kind.at(), kind.body(metadata=mine, spec={"a": "x"}))).made()
        later = (await wire.patch(kind.at("a"), {"metadata": {"generation": 99}})).ok()

        assert (made["metadata.generation"], later["metadata.generation"]) == (1, 1)
        assert made["metadata.uid"] != "mine"
        assert made["metadata.creationTimestamp"] > "2001"


async def test_a_custom_object_is_replaced_only_with_its_revision(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        made = await kind.made({"a": "x"})
        known = {"resourceVersion": made.revision}
        body = kind.body(spec={"a": "y"})

        blind = await wire.put(kind.at("a"), body)
        first = await wire.put(kind.at("a"), kind.body(spec={"a": "y"}, metadata=known))
        stale = await wire.put(kind.at("a"), kind.body(spec={"a": "z"}, metadata=known))

        blind.refused(422, "Invalid", "FieldValueInvalid metadata.resourceVersion")
        assert first.ok()["metadata.generation"] == 2
        stale.refused(409, "Conflict", says="the object has been modified")
        (await wire.put(kind.at("b"), kind.body("b"))).refused(404, "NotFound")


async def test_a_custom_kind_takes_no_strategic_patch(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        await kind.made({"a": "x"})

        answer = await wire.patch(kind.at("a"), {"spec": {"a": "y"}}, "strategic")

        answer.refused(415, "UnsupportedMediaType", says="application/merge-patch+json")
