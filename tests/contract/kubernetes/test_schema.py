"""What a schema of a custom kind refuses, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    TEXT,
    Json,
    as_set,
    embedded,
    fields,
    keyed,
    listed,
    mapped,
    things,
    told,
)
from contract.kubernetes.wire import Wire

FLOAT: Json = {"type": "number"}
ONE_OF = '<nil>: Invalid value: "": "spec.v" must validate one and only one schema (oneOf).'
EITHER: Json = {"x-kubernetes-int-or-string": True}


def mistyped(wanted: str, got: str, where: str = "spec.v") -> str:
    return f'{where}: Invalid value: "{got}": {where} in body must be of type {wanted}: "{got}"'


def invalid(shown: str, why: str) -> str:
    return f"spec.v: Invalid value: {shown}: spec.v in body {why}"


REFUSED: list[tuple[str, Json, Any, list[str]]] = [
    ("text", TEXT, 1, [mistyped("string", "integer")]),
    ("text", TEXT, True, [mistyped("string", "boolean")]),
    ("text", TEXT, {}, [mistyped("string", "object")]),
    ("integer", NUMBER, "1", [mistyped("integer", "string")]),
    ("integer", NUMBER, 1.5, [mistyped("integer", "number")]),
    ("integer", NUMBER, 2**63, [mistyped("integer", "number")]),
    ("number", FLOAT, "1", [mistyped("number", "string")]),
    ("boolean", {"type": "boolean"}, 0, [mistyped("boolean", "integer")]),
    ("list", listed(TEXT), {}, [mistyped("array", "object")]),
    ("item", listed(TEXT), ["a", 1], [mistyped("string", "integer", "spec.v[1]")]),
    ("null item", listed(TEXT), ["a", None], [mistyped("string", "null", "spec.v[1]")]),
    ("object", fields(a=TEXT), [], [mistyped("object", "array")]),
    ("map", mapped(NUMBER), {"a b": "x"}, [mistyped("integer", "string", "spec.v.a b")]),
    ("either", EITHER, 1.5, [mistyped("integer,string", "number")]),
    (
        "required",
        fields(a=TEXT, b=TEXT) | {"required": ["a", "b"]},
        {"b": None},
        ["spec.v.a: Required value", "spec.v.b: Required value"],
    ),
    (
        "enum",
        TEXT | {"enum": ["a", "b"]},
        "",
        ['spec.v: Unsupported value: "": supported values: "a", "b"'],
    ),
    (
        "numbers",
        NUMBER | {"enum": [1, 2]},
        3,
        ['spec.v: Unsupported value: 3: supported values: "1", "2"'],
    ),
    ("minimum", NUMBER | {"minimum": 1}, 0, [invalid("0", "should be greater than or equal to 1")]),
    ("maximum", FLOAT | {"maximum": 1}, 1.5, [invalid("1.5", "should be less than or equal to 1")]),
    (
        "above",
        NUMBER | {"minimum": 1, "exclusiveMinimum": True},
        1,
        [invalid("1", "should be greater than 1")],
    ),
    (
        "below",
        NUMBER | {"maximum": 1, "exclusiveMaximum": True},
        1,
        [invalid("1", "should be less than 1")],
    ),
    ("multiple", NUMBER | {"multipleOf": 5}, 7, [invalid("7", "should be a multiple of 5")]),
    ("short", TEXT | {"minLength": 2}, "ü", [invalid('"ü"', "should be at least 2 chars long")]),
    ("long", TEXT | {"maxLength": 4}, "äöüßa", ["spec.v: Too long: may not be more than 4 bytes"]),
    ("pattern", TEXT | {"pattern": "^[a-z]+$"}, "A", [invalid('"A"', "should match '^[a-z]+$'")]),
    ("few", listed(TEXT, minItems=1), [], [invalid("0", "should have at least 1 items")]),
    (
        "many",
        listed(TEXT, maxItems=2),
        ["a", "b", "c"],
        ["spec.v: Too many: 3: must have at most 2 items"],
    ),
    (
        "bare",
        mapped(TEXT, minProperties=1),
        {},
        [invalid("0", "should have at least 1 properties")],
    ),
    (
        "full",
        mapped(TEXT, maxProperties=2),
        {"a": "", "b": "", "c": ""},
        ["spec.v: Too many: 3: must have at most 2 items"],
    ),
    (
        "any of",
        NUMBER | {"anyOf": [{"minimum": 5}, {"maximum": 1}]},
        3,
        [
            '<nil>: Invalid value: "": "spec.v" must validate at least one schema (anyOf)',
            invalid("3", "should be greater than or equal to 5"),
        ],
    ),
    (
        "none of one",
        fields(a=TEXT, b=TEXT) | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {},
        [f"{ONE_OF} Found none valid", "spec.v.a: Required value"],
    ),
    (
        "two of one",
        fields(a=TEXT, b=TEXT) | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"a": "", "b": ""},
        [f"{ONE_OF} Found 2 valid alternatives"],
    ),
    (
        "not",
        TEXT | {"not": {"enum": ["x"]}},
        "x",
        ['<nil>: Invalid value: "": "spec.v" must not validate the schema (not)'],
    ),
    ("set", as_set(TEXT), ["a", "b", "a", "a"], ['spec.v[2]: Duplicate value: "a"']),
]


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [row[1:] for row in REFUSED],
    ids=[f"{name} {value!s:.20}" for name, _, value, _ in REFUSED],
)
async def test_what_a_schema_refuses(wire: Wire, schema: Json, value: Any, why: list[str]) -> None:
    async with things(wire, fields(v=schema)) as kind:
        answer = await kind.post({"v": value})

        assert told(answer) == sorted(why)
        answer.refused(422, "Invalid", says=f'Thing.{kind.group} "a" is invalid: ')


KEYED = keyed("k", "n", k=TEXT, n=NUMBER, note=TEXT)


@pytest.mark.parametrize(
    ("schema", "value", "causes"),
    [
        (
            KEYED,
            [{"k": "a", "n": 1}, {"k": "a", "n": 2}, {"k": "a", "n": 1, "note": "again"}],
            ["FieldValueDuplicate spec.v[2]"],
        ),
        (KEYED, [{"k": "a"}], ["FieldValueRequired spec.v[0].n"]),
        (
            fields(a=NUMBER, b=TEXT | {"enum": ["x"]}),
            {"a": "x", "b": "y"},
            ["FieldValueTypeInvalid spec.v.a", "FieldValueNotSupported spec.v.b"],
        ),
        (
            embedded(),
            {},
            ["FieldValueRequired spec.v.apiVersion", "FieldValueRequired spec.v.kind"],
        ),
        (
            embedded(),
            {"apiVersion": "a/b/c", "kind": "Pod!"},
            ["FieldValueInvalid spec.v.apiVersion", "FieldValueInvalid spec.v.kind"],
        ),
    ],
    ids=["keys twice", "no key", "two problems", "nothing within", "nonsense within"],
)
async def test_where_a_schema_refuses(
    wire: Wire, schema: Json, value: Any, causes: list[str]
) -> None:
    async with things(wire, fields(v=schema)) as kind:
        (await kind.post({"v": value})).refused(422, "Invalid", *causes)


@pytest.mark.parametrize(
    ("schema", "value", "kept"),
    [
        (NUMBER, 1.0, 1),
        (NUMBER, 2**63 - 1, 2**63 - 1),
        (NUMBER | {"format": "int32"}, 2**31, 2**31),
        (FLOAT, 1, 1),
        (FLOAT, 1e-7, 1e-7),
        (TEXT | {"maxLength": 4}, "äöüß", "äöüß"),
        (TEXT | {"nullable": True}, None, None),
        (EITHER, "50%", "50%"),
        (EITHER, 50, 50),
        (EITHER | {"pattern": "^[0-9]+%$"}, 1, 1),
        (listed(TEXT | {"nullable": True}), [None], [None]),
        (
            NUMBER | {"allOf": [{"minimum": 5}, {"multipleOf": 2}]},
            6,
            6,
        ),
    ],
    ids=str,
)
async def test_what_a_schema_takes(wire: Wire, schema: Json, value: Any, kept: Any) -> None:
    async with things(wire, fields(v=schema)) as kind:
        made = await kind.made({"v": value})

        assert made["spec.v"] == kept
        assert type(made["spec.v"]) is type(kept)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2024-01-01T00:00:00Z", "2024-01-01"),
        ("date", "2024-01-31", "31.01.2024"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("mac", "00:11:22:33:44:55", "00:11"),
        ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7"),
        ("duration", "1h30m", "100"),
        ("duration", "2 days", ""),
        ("byte", "aGk=", "!!"),
        ("email", "a@b.example", "a"),
        ("hostname", "a.example", "-a-"),
        ("uri", "https://a.example/b", "nope"),
        ("hexcolor", "#fff", "red"),
        ("rgbcolor", "rgb(1, 2, 255)", "rgb(1, 2, 256)"),
        ("ssn", "111-11-1111", "111-11"),
        ("isbn", "978-0321751041", "978-0321751042"),
        ("isbn10", "0321751043", "0321751044"),
        ("isbn13", "978-0321751041", "0321751043"),
        ("creditcard", "4111-1111-1111-1111", "4111-1111-1111-1112"),
        ("uuid3", "a3bb189e-8bf9-3888-9912-ace4e6543002", "a3bb189e-8bf9-4888-9912-ace4e6543002"),
        ("uuid4", "a3bb189e-8bf9-4888-9912-ace4e6543002", "a3bb189e-8bf9-3888-9912-ace4e6543002"),
        ("uuid5", "a3bb189e-8bf9-5888-9912-ace4e6543002", "a3bb189e-8bf9-5888-0912-ace4e6543002"),
        pytest.param("k8s-short-name", "a-b", "a.b", marks=pytest.mark.since("1.35")),
        pytest.param("k8s-long-name", "a.b", "a_b", marks=pytest.mark.since("1.35")),
    ],
)
async def test_a_format_is_a_type(wire: Wire, form: str, good: str, bad: str) -> None:
    async with things(wire, fields(v=TEXT | {"format": form})) as kind:
        await kind.made({"v": good})

        answer = await kind.post({"v": bad}, "b")

        assert told(answer) == [mistyped(form, bad)]
        answer.refused(422, "Invalid", "FieldValueTypeInvalid spec.v")


async def test_an_unknown_format_asks_nothing(wire: Wire) -> None:
    async with things(wire, fields(v=TEXT | {"format": "star-sign"})) as kind:
        await kind.made({"v": "anything"})


@pytest.mark.parametrize(("spec", "wanted"), [("text", "string"), ([], "array")], ids=str)
async def test_a_spec_must_be_an_object(wire: Wire, spec: Any, wanted: str) -> None:
    async with things(wire, fields(v=TEXT)) as kind:
        assert told(await kind.post(spec)) == [mistyped("object", wanted, "spec")]


@pytest.mark.differs("the format hostname takes a name whose last part is one letter")
async def test_a_host_is_in_a_domain(wire: Wire) -> None:
    async with things(wire, fields(v=TEXT | {"format": "hostname"})) as kind:
        assert told(await kind.post({"v": "a.b"})) == [mistyped("hostname", "a.b")]


@pytest.mark.differs("what allOf asks for is told by its parts alone")
async def test_that_all_must_hold_is_told_too(wire: Wire) -> None:
    async with things(wire, fields(v=NUMBER | {"allOf": [{"minimum": 2}, {"maximum": 5}]})) as kind:
        answer = await kind.post({"v": 6})

        answer.refused(422, "Invalid", "FieldValueInvalid spec.v", "FieldValueInvalid <nil>")
