"""Subresources of custom kinds: the scale, and the status that only its own path writes."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, TEXT, Json, Things, fields, things
from contract.kubernetes.wire import Wire

PATHS = {
    "specReplicasPath": ".spec.n",
    "statusReplicasPath": ".status.n",
    "labelSelectorPath": ".status.selector",
}
SPEC = fields(n=NUMBER | {"maximum": 50}, note=TEXT)
BOTH = {"subresources": {"status": {}, "scale": PATHS}}


def scale(kind: Things, replicas: Any = 5, **metadata: Any) -> Json:
    known = {"name": "a", "namespace": kind.wire.namespace} | metadata
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {name: it for name, it in known.items() if it},
        "spec": {"replicas": replicas},
    }


async def test_a_scale_shows_wanted_and_had(wire: Wire) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        made = await kind.made({"n": 3})
        fresh = (await wire.get(f"{kind.at('a')}/scale")).ok()
        status = {"status": {"n": 2, "selector": "a=b"}}
        (await wire.patch(f"{kind.at('a')}/status", status)).ok()

        found = (await wire.get(f"{kind.at('a')}/scale")).ok()

        assert (fresh["kind"], fresh["apiVersion"]) == ("Scale", "autoscaling/v1")
        assert (fresh["spec"], fresh["status"]) == ({"replicas": 3}, {"replicas": 0})
        assert fresh["metadata.uid"] == made["metadata.uid"]
        assert (found["spec"], found["status"]) == (
            {"replicas": 3},
            {"replicas": 2, "selector": "a=b"},
        )


async def test_who_writes_a_scale_writes_the_spec_alone(wire: Wire) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({"n": 3, "note": "stays"})

        answer = (
            await wire.put(f"{kind.at('a')}/scale", scale(kind, 5) | {"status": {"replicas": 9}})
        ).ok()

        found = await kind.get()
        assert (answer["spec.replicas"], answer["status.replicas"]) == (5, 0)
        assert (found["spec"], found["status"]) == ({"n": 5, "note": "stays"}, None)
        assert found["metadata.generation"] == 2


@pytest.mark.parametrize(
    ("patch", "how"),
    [
        ({"spec": {"replicas": 7}}, "merge"),
        ([{"op": "replace", "path": "/spec/replicas", "value": 7}], "json"),
    ],
    ids=["merge", "json"],
)
async def test_a_scale_is_patched(wire: Wire, patch: Any, how: str) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({"n": 3})

        (await wire.patch(f"{kind.at('a')}/scale", patch, how)).ok()

        assert (await kind.get())["spec.n"] == 7


async def test_what_wants_nothing_yet_has_no_scale_until_one_is_set(wire: Wire) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({})

        missing = await wire.get(f"{kind.at('a')}/scale")
        (await wire.patch(f"{kind.at('a')}/scale", {"spec": {"replicas": 2}})).ok()

        says = 'the spec replicas field ".spec.n" does not exist'
        missing.refused(500, "InternalError", says=says)
        assert (await kind.get())["spec.n"] == 2


@pytest.mark.parametrize(
    ("replicas", "cause"),
    [
        (-1, "FieldValueInvalid .spec.n"),
        (51, "FieldValueInvalid spec.n"),
        ("x", "FieldValueInvalid patch"),
    ],
    ids=str,
)
async def test_a_scale_must_fit_the_kind(wire: Wire, replicas: Any, cause: str) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({"n": 3})

        answer = await wire.patch(f"{kind.at('a')}/scale", {"spec": {"replicas": replicas}})

        answer.refused(422, "Invalid", cause)
        assert (await kind.get())["spec.n"] == 3


@pytest.mark.parametrize(
    ("metadata", "code", "says"),
    [
        ({"resourceVersion": "1"}, 409, "the object has been modified"),
        ({"name": ""}, 400, "name must be provided"),
        ({"name": "b"}, 400, "the name of the object (b) does not match the name on the URL (a)"),
        ({"namespace": "elsewhere"}, 400, "does not match the namespace sent on the request"),
    ],
    ids=str,
)
async def test_a_scale_must_be_the_one_that_is_meant(
    wire: Wire, metadata: Json, code: int, says: str
) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({"n": 3})

        answer = await wire.put(f"{kind.at('a')}/scale", scale(kind, **metadata))

        answer.refused(code, {400: "BadRequest", 409: "Conflict"}[code], says=says)


async def test_a_scale_is_neither_made_nor_deleted(wire: Wire) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({"n": 3})
        place = f"{kind.at('a')}/scale"

        (await wire.post(place, scale(kind))).refused(405, "MethodNotAllowed")
        (await wire.delete(place)).refused(405, "MethodNotAllowed")
        (await wire.get(f"{kind.at('b')}/scale")).refused(404, "NotFound")


async def test_the_spec_of_what_is_scaled_is_never_negative(wire: Wire) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        await kind.made({"n": 3})

        (await kind.change({"n": -1})).refused(422, "Invalid", "FieldValueInvalid .spec.n")


@pytest.mark.parametrize("part", ["status", "scale"])
async def test_a_kind_without_subresources(wire: Wire, part: str) -> None:
    async with things(wire, SPEC) as kind:
        made = await wire.post(kind.at(), kind.body(spec={"n": 1}, status={"x": 1}))

        assert made.made()["status"] == {"x": 1}
        (await wire.get(f"{kind.at('a')}/{part}")).refused(404, "NotFound")


async def test_without_a_status_path_the_status_counts_as_a_change(wire: Wire) -> None:
    async with things(wire, SPEC) as kind:
        await kind.made({"n": 1})

        async def generation(patch: Json) -> int:
            return int((await wire.patch(kind.at("a"), patch)).ok()["metadata.generation"])

        assert await generation({"metadata": {"labels": {"a": "b"}}}) == 1
        assert await generation({"status": {"x": 1}}) == 2
        assert await generation({"spec": {"n": 2}}) == 3


async def test_with_a_status_path_each_path_writes_its_own(wire: Wire) -> None:
    async with things(wire, SPEC, **BOTH) as kind:
        made = await wire.post(kind.at(), kind.body(spec={"n": 1}, status={"x": 1}))
        change = {"status": {"x": 2}, "spec": {"n": 9}, "metadata": {"labels": {"a": "b"}}}

        by_status = (await wire.patch(f"{kind.at('a')}/status", change)).ok()
        by_itself = (await wire.patch(kind.at("a"), change | {"status": {"x": 3}})).ok()

        assert (made["status"], made["metadata.generation"]) == (None, 1)
        assert (by_status["status"], by_status["spec"]) == ({"x": 2}, {"n": 1})
        assert (by_status["metadata.generation"], by_status["metadata.labels"]) == (1, None)
        assert (by_itself["status"], by_itself["spec"]) == ({"x": 2}, {"n": 9})
        assert (by_itself["metadata.generation"], by_itself["metadata.labels"]) == (2, {"a": "b"})
