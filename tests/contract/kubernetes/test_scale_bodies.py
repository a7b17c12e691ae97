"""What is sent as a scale, and is none."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import deployment, named
from contract.kubernetes.custom import NUMBER, OPEN, fields, things
from contract.kubernetes.wire import Wire

PLACE = "deployments/a/scale"
PATHS = {
    "specReplicasPath": ".spec.n",
    "statusReplicasPath": ".status.n",
    "labelSelectorPath": ".status.selector",
}
BOTH = {"subresources": {"status": {}, "scale": PATHS}}
TYPE = {"apiVersion": "autoscaling/v1", "kind": "Scale"}


def scale(**parts: Any) -> Any:
    return TYPE | named("a", spec={"replicas": 1}) | parts


async def test_zero_is_not_written(wire: Wire) -> None:
    (await wire.post("deployments", deployment())).made()

    none = (await wire.get(PLACE)).ok()
    some = (await wire.put(PLACE, scale())).ok()

    assert (none["spec"], none["status"]) == ({}, {"replicas": 0, "selector": "app=a"})
    assert some["spec"] == {"replicas": 1}


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": "Odd"},
        {"apiVersion": "apps/v1", "kind": "Deployment"},
        {"spec": []},
        {"spec": {"replicas": 2**31}},
        {"spec": {"replicas": 1.5}},
        {"status": {"replicas": "x"}},
        {"metadata": {"name": "a", "labels": 3}},
    ],
    ids=str,
)
async def test_it_must_be_a_scale(wire: Wire, parts: Any) -> None:
    async with things(wire, fields(n=NUMBER), **BOTH) as kind:
        await kind.made({"n": 2})
        (await wire.post("deployments", deployment())).made()

        for place in (PLACE, f"{kind.at('a')}/scale"):
            (await wire.put(place, scale(**parts))).refused(400, "BadRequest")


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": []},
        {"spec": False},
        {"spec": {"replicas": 2**31}},
        {"metadata": {"labels": 3}},
        {"kind": "Deployment"},
    ],
    ids=str,
)
async def test_it_must_stay_a_scale(wire: Wire, patch: Any) -> None:
    async with things(wire, fields(n=NUMBER), **BOTH) as kind:
        await kind.made({"n": 2})
        (await wire.post("deployments", deployment())).made()

        for place in (PLACE, f"{kind.at('a')}/scale"):
            answer = await wire.patch(place, patch)
            answer.refused(422, "Invalid", "FieldValueInvalid patch")


@pytest.mark.parametrize(
    "parts", [{"spec": None}, {"spec": {"replicas": None}}, {"kind": ""}], ids=str
)
async def test_what_says_nothing_is_let_pass(wire: Wire, parts: Any) -> None:
    (await wire.post("deployments", deployment())).made()

    (await wire.put(PLACE, scale(**parts))).ok()


async def test_unknown_fields_are_told_of(wire: Wire) -> None:
    (await wire.post("deployments", deployment())).made()
    odd = scale(odd=1, spec={"x": 1})

    assert sorted((await wire.put(PLACE, odd)).ok().warnings) == [
        r"unknown field \"odd\"",
        r"unknown field \"spec.x\"",
    ]
    (await wire.put(PLACE, odd, fieldValidation="Strict")).refused(400, "BadRequest")
    patched = await wire.patch(PLACE, {"odd": 1}, fieldValidation="Strict")
    patched.refused(422, "Invalid", "FieldValueInvalid patch")


@pytest.mark.parametrize(
    ("kind", "code", "reason", "says"),
    [
        ({"kind": "Deployment"}, 400, "BadRequest", "invalid object type: autoscaling/v1"),
        ({"kind": ""}, 400, "BadRequest", "invalid object type: autoscaling/v1, Kind="),
        ({"apiVersion": ""}, 400, "BadRequest", "invalid object type"),
        ({"odd": 1}, 500, "", ".odd: field not declared in schema"),
        ({"spec": {"replicas": "x"}}, 500, "", ".spec.replicas: expected numeric"),
    ],
    ids=str,
)
async def test_who_applies_says_what_it_is(
    wire: Wire, kind: Any, code: int, reason: str, says: str
) -> None:
    (await wire.post("deployments", deployment())).made()

    (await wire.apply(PLACE, scale(**kind))).refused(code, reason, says=says)


@pytest.mark.differs("Whoever applies a scale writes it: nobody else's claim to it is a conflict.")
async def test_who_applies_a_scale_may_be_in_the_way_of_others(wire: Wire) -> None:
    (await wire.post("deployments", deployment())).made()

    answer = await wire.apply(PLACE, scale())

    answer.refused(409, "Conflict", "FieldManagerConflict .spec.replicas")


@pytest.mark.parametrize("verb", ["PUT", "merge"])
async def test_the_object_that_is_meant_has_this_uid(wire: Wire, verb: str) -> None:
    (await wire.post("deployments", deployment())).made()
    other = {"metadata": {"name": "a", "uid": "another"}}

    answer = await (
        wire.patch(PLACE, other) if verb == "merge" else wire.put(PLACE, scale() | other)
    )

    answer.refused(409, "Conflict")


@pytest.mark.parametrize(
    ("status", "where"),
    [
        ({"n": "x"}, ".status.n"),
        ({"n": 1.5}, ".status.n"),
        ({"n": -1}, ".status.n"),
        ({"n": 2**31}, ".status.n"),
        ({"selector": 5}, ".status.selector"),
    ],
    ids=str,
)
async def test_what_a_scale_is_made_of_must_be_such(wire: Wire, status: Any, where: str) -> None:
    async with things(wire, OPEN, **BOTH) as kind:
        await kind.made({"n": 2})

        answer = await wire.patch(f"{kind.at('a')}/status", {"status": status})

        answer.refused(422, "Invalid", f"FieldValueInvalid {where}")


async def test_replicas_have_a_limit(wire: Wire) -> None:
    async with things(wire, fields(n=NUMBER), **BOTH) as kind:
        await kind.made({"n": 2})

        (await kind.change({"n": 2**31})).refused(422, "Invalid", "FieldValueInvalid .spec.n")
