"""Fields of custom objects that a schema does not name, and values that it fills in."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    OPEN,
    TEXT,
    Json,
    embedded,
    fields,
    listed,
    mapped,
    things,
    version,
    whole,
)
from contract.kubernetes.wire import Wire

HALF_OPEN = OPEN | fields(a=fields(b=TEXT))


def unknown(*paths: str) -> set[str]:
    return {rf"unknown field \"{path}\"" for path in paths}


@pytest.mark.parametrize(
    ("schema", "value", "kept", "dropped"),
    [
        (fields(a=TEXT), {"a": "x", "b": 1}, {"a": "x"}, ["spec.v.b"]),
        (listed(fields(a=TEXT)), [{"a": "x", "b": 1}], [{"a": "x"}], ["spec.v[0].b"]),
        (mapped(fields(a=TEXT)), {"k": {"b": 1}}, {"k": {}}, ["spec.v.k.b"]),
        ({"type": "object"}, {"b": 1}, {}, ["spec.v.b"]),
        (OPEN, {"x": {"y": [{"z": None}]}}, {"x": {"y": [{"z": None}]}}, []),
        (HALF_OPEN, {"z": 1, "a": {"c": 1}}, {"z": 1, "a": {}}, ["spec.v.a.c"]),
        (
            embedded(spec=fields(a=TEXT)),
            {
                "apiVersion": "v1",
                "kind": "X",
                "metadata": {"name": "n", "nope": 1},
                "spec": {"a": "x", "b": 1},
                "other": 1,
            },
            {"apiVersion": "v1", "kind": "X", "metadata": {"name": "n"}, "spec": {"a": "x"}},
            ["spec.v.metadata.nope", "spec.v.spec.b", "spec.v.other"],
        ),
    ],
    ids=["field", "item", "map", "nothing named", "open", "half open", "object within"],
)
async def test_what_is_not_named_is_dropped_and_told(
    wire: Wire, schema: Json, value: Any, kept: Any, dropped: list[str]
) -> None:
    async with things(wire, fields(v=schema)) as kind:
        made = (await kind.post({"v": value})).made()

        assert made["spec.v"] == kept
        assert set(made.warnings) == unknown(*dropped)


TWICE = '{"apiVersion":"%s/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"a":"x","a":"y"}}'


async def test_who_is_strict_gets_an_error_for_unknown_fields(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        answer = await kind.post({"b": 1}, fieldValidation="Strict")

        says = 'cannot be handled as a Thing: strict decoding error: unknown field "spec.b"'
        answer.refused(400, "BadRequest", says=says)


async def test_who_is_strict_gets_an_error_for_fields_that_are_twice(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        answer = await wire.post(kind.at(), TWICE % kind.group, fieldValidation="Strict")

        answer.refused(400, "BadRequest", says='strict decoding error: duplicate field "spec.a"')


@pytest.mark.parametrize(
    ("mode", "warnings"),
    [("Warn", (r"duplicate field \"spec.a\"",)), ("Ignore", ())],
)
async def test_of_fields_that_are_twice_the_last_counts(
    wire: Wire, mode: str, warnings: tuple[str, ...]
) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        made = (await wire.post(kind.at(), TWICE % kind.group, fieldValidation=mode)).made()

        assert (made["spec.a"], made.warnings) == ("y", warnings)


async def test_who_ignores_is_told_nothing(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        made = (await kind.post({"b": 1}, fieldValidation="Ignore")).made()

        assert (made["spec"], made.warnings) == ({}, ())


@pytest.mark.parametrize("place", ["spec", "metadata"])
async def test_a_strict_patch_brings_in_nothing_unknown(wire: Wire, place: str) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        await kind.made({"a": "x"})
        patch = {place: {"nope": 1}}

        refused = await wire.patch(kind.at("a"), patch, fieldValidation="Strict")
        warned = (await wire.patch(kind.at("a"), patch, fieldValidation="Warn")).ok()

        refused.refused(422, "Invalid", "FieldValueInvalid patch", says="strict decoding error")
        assert set(warned.warnings) == unknown(f"{place}.nope")


@pytest.mark.parametrize("mode", ["Strict", "Warn", "Ignore"])
async def test_nobody_applies_what_is_not_named(wire: Wire, mode: str) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        body = kind.body("a", spec={"b": 1})

        answer = await wire.apply(kind.at("a"), body, fieldValidation=mode)

        says = "Kind=Thing): .spec.b: field not declared in schema"
        assert (answer.code, says in answer["message"]) == (500, True)


# ------------------------------------------------------------------ defaults
ONE = fields(b=NUMBER | {"default": 1})


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        (fields(a=TEXT | {"default": "x"}), {}, {"a": "x"}),
        (fields(a=TEXT | {"default": "x"}), {"a": None}, {"a": "x"}),
        (fields(a=TEXT | {"default": "x"}), {"a": ""}, {"a": ""}),
        (fields(a=TEXT | {"default": "x", "nullable": True}), {"a": None}, {"a": None}),
        (fields(a=TEXT), {"a": None}, {}),
        (fields(a=ONE), {}, {}),
        (fields(a=ONE), {"a": {}}, {"a": {"b": 1}}),
        (fields(a=ONE), {"a": None}, {}),
        (fields(a=ONE | {"default": {}}), {}, {"a": {"b": 1}}),
        (fields(a=ONE | {"default": {"b": 2}}), {}, {"a": {"b": 2}}),
        (fields(a=listed(NUMBER) | {"default": [1, 2]}), {}, {"a": [1, 2]}),
        (fields(a=listed(NUMBER) | {"default": [1, 2]}), {"a": []}, {"a": []}),
        (listed(ONE), [{}, {"b": 2}], [{"b": 1}, {"b": 2}]),
        (mapped(ONE), {"k": {}}, {"k": {"b": 1}}),
        (mapped(TEXT), {"k": None, "l": "x"}, {"l": "x"}),
        (OPEN | ONE, {"z": None}, {"z": None, "b": 1}),
        (fields(a=NUMBER | {"default": None}), {}, {}),
    ],
    ids=str,
)
async def test_what_is_filled_in(wire: Wire, schema: Json, value: Any, filled: Any) -> None:
    async with things(wire, fields(v=schema)) as kind:
        assert (await kind.made({"v": value}))["spec.v"] == filled


async def test_a_field_that_is_taken_away_gets_its_default_again(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT | {"default": "x"})) as kind:
        await kind.made({"a": "y"})

        assert (await kind.change({"a": None}))["spec"] == {"a": "x"}


@pytest.mark.differs(
    "Custom objects are pruned and get their defaults when written, not when read."
)
async def test_a_new_default_shows_in_older_objects(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        made = await kind.made({})

        (await kind.redefine(version(whole(fields(a=TEXT | {"default": "x"}))))).ok()
        await kind.defaults("x")

        found = await kind.get()
        assert (found["spec"], found.revision) == ({"a": "x"}, made.revision)
