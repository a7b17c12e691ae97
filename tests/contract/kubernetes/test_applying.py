"""Server-side apply: what makes an object, what changes it, and what cannot be applied at all."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, TEXT, fields, keyed, listed, things
from contract.kubernetes.wire import Wire


def config(name: str = "a", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_it_makes_an_object_once(wire: Wire) -> None:
    first = (await wire.apply("configmaps/a", config(x="1"))).made()

    again = (await wire.apply("configmaps/a", config(x="1"))).ok()

    assert again.revision == first.revision


async def test_yaml_is_taken(wire: Wire) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: 'yes'\n"

    made = (await wire.apply("configmaps/a", text)).made()

    assert made["data"] == {"x": "yes"}


async def test_a_rehearsal_shows_the_owner_and_keeps_nothing(wire: Wire) -> None:
    shown = (await wire.apply("configmaps/a", config(x="1"), dryRun="All")).made()

    assert shown["metadata.managedFields.0.manager"] == "me"
    (await wire.get("configmaps/a")).refused(404, "NotFound")


async def test_somebody_applies(wire: Wire) -> None:
    answer = await wire.patch("configmaps/a", config(x="1"), "apply")

    answer.refused(
        422,
        "Invalid",
        "FieldValueRequired fieldManager",
        says='PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: '
        "is required for apply patch",
    )
    assert (answer["details.group"], answer["details.kind"]) == ("meta.k8s.io", "PatchOptions")


async def test_force_is_for_those_who_apply(wire: Wire) -> None:
    (await wire.post("configmaps", config(x="1"))).made()

    answer = await wire.patch("configmaps/a", {"data": {"x": "2"}}, force="true")

    answer.refused(422, "Invalid", "FieldValueForbidden force")


@pytest.mark.parametrize(
    ("manager", "cause"),
    [("m" * 129, "FieldValueTooLong"), ("bell\x07", "FieldValueInvalid")],
    ids=["long", "unprintable"],
)
@pytest.mark.parametrize("verb", ["apply", "merge", "create"])
async def test_whose_name_is_no_name(wire: Wire, manager: str, cause: str, verb: str) -> None:
    if verb == "create":
        answer = await wire.post("configmaps", config(), fieldManager=manager)
    else:
        answer = await wire.patch("configmaps/a", config(), verb, fieldManager=manager)

    answer.refused(422, "Invalid", f"{cause} fieldManager")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"apiVersion": "v2"}, "invalid object type: /v2, Kind=ConfigMap"),
        ({"apiVersion": None}, "invalid object type: /, Kind=ConfigMap"),
        ({"kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        ({"kind": None}, "invalid object type: /v1, Kind="),
        ({"metadata": {"name": "b"}}, "the name of the object (b) does not match"),
        (
            {"metadata": {"name": "a", "namespace": "nowhere"}},
            "the namespace of the provided object",
        ),
        ({"metadata": {"name": "a", "managedFields": []}}, "metadata.managedFields must be nil"),
        ({"metadata": {"name": "a", "managedFields": [{}]}}, "metadata.managedFields must be nil"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
@pytest.mark.parametrize("exists", [False, True], ids=["new", "there"])
async def test_what_is_something_else(
    wire: Wire, change: dict[str, Any], said: str, exists: bool
) -> None:
    if exists:
        (await wire.apply("configmaps/a", config())).made()

    answer = await wire.apply("configmaps/a", config() | change)

    answer.refused(400, "BadRequest", says=said)
    assert answer["details"] is None


@pytest.mark.parametrize("text", ["[1, 2]", "{open: ["], ids=["list", "broken"])
async def test_what_is_no_object(wire: Wire, text: str) -> None:
    (await wire.apply("configmaps/a", text)).refused(400, "BadRequest")


async def test_there_is_no_apply_without_a_name_in_the_path(wire: Wire) -> None:
    (await wire.apply("configmaps", config())).refused(405, "MethodNotAllowed")


async def test_a_name_cannot_be_generated(wire: Wire) -> None:
    body = config() | {"metadata": {"generateName": "a-"}}

    (await wire.apply("configmaps/a", body)).refused(400, "BadRequest")


async def test_a_version_of_the_past_is_a_conflict(wire: Wire) -> None:
    (await wire.apply("configmaps/a", config(x="1"))).made()
    body = config(x="2")
    body["metadata"]["resourceVersion"] = "1"

    answer = await wire.apply("configmaps/a", body)

    answer.refused(409, "Conflict", says="the object has been modified")
    assert (answer["details.name"], answer["details.kind"]) == ("a", "configmaps")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"bogus": 1}, ".spec.bogus: field not declared in schema"),
        (
            {"parts": [{"name": "q"}, {"name": "q"}]},
            '.spec.parts: duplicate entries for key [name="q"]',
        ),
        ({"tags": ["q", "q"]}, '.spec.tags: duplicate entries for key [="q"]'),
    ],
    ids=["unknown field", "key twice", "member twice"],
)
async def test_what_the_schema_does_not_know_is_a_failure(
    wire: Wire, spec: dict[str, Any], said: str
) -> None:
    parts = keyed("name", name=TEXT, color=TEXT)
    tags = listed(TEXT) | {"x-kubernetes-list-type": "set"}
    async with things(wire, fields(parts=parts, tags=tags)) as kind:
        answer = await wire.apply(kind.at("a"), kind.body(spec=spec))

        assert answer.code == 500
        assert answer["message"].startswith("failed to create typed patch object")
        assert answer["message"].endswith(said)


async def test_a_built_in_kind_knows_its_fields_too(wire: Wire) -> None:
    answer = await wire.apply("configmaps/a", config() | {"bogus": 1})

    assert answer.code == 500
    assert answer["message"].endswith(".bogus: field not declared in schema")


async def test_a_name_alone_says_something_in_a_map_of_texts(wire: Wire) -> None:
    body = config() | {"data": {"x": "1", "y": None}}

    for code in (201, 200):
        answer = (await wire.apply("configmaps/a", body)).ok(code)
        assert answer["data"] == {"x": "1", "y": ""}


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"size": "x"}, ".spec.size: expected numeric (int or float), got string"),
        ({"words": "x"}, ".spec.words: expected list"),
        ("x", ".spec: expected map"),
        ({"parts": [{"value": "x"}]}, ".spec.parts: element 0: associative list with keys has"),
    ],
    ids=str,
)
async def test_types_come_before_disputes(wire: Wire, spec: Any, where: str) -> None:
    schema = fields(size=NUMBER, words=listed(TEXT), parts=keyed("name", name=TEXT, value=TEXT))
    async with things(wire, schema) as kind:
        mine = kind.body(spec={"size": 1})
        (await wire.apply(kind.at("a"), mine, "other")).made()

        answer = await wire.apply(kind.at("a"), kind.body(spec=spec))

        answer.refused(500, "", says=where)
