"""Broken schemas in, what the API server would say out."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.crd import checks, values

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
RULE = {"rule": "self == self", "message": "must be itself"}


def said(spec: dict[str, Any]) -> list[str]:
    """All that is wrong with a kind whose spec has this schema."""
    root = {"type": "object", "properties": {"spec": spec}}
    return [str(problem) for problem in checks.problems(root)]


def ruled(schema: dict[str, Any], **rule: Any) -> dict[str, Any]:
    return schema | {"x-kubernetes-validations": [RULE | rule]}


def listed(items: dict[str, Any], *keys: str, **more: Any) -> dict[str, Any]:
    kind = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    return {"type": "array", "items": items} | (kind if keys else {}) | more


def thing(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    "spec",
    [
        TEXT,
        thing(size=NUMBER),
        {"type": "object", "additionalProperties": TEXT},
        {"x-kubernetes-preserve-unknown-fields": True},
        {"anyOf": [NUMBER, TEXT], "x-kubernetes-int-or-string": True, "pattern": "^1"},
        listed(thing(name=TEXT) | {"required": ["name"]}, "name"),
        listed(thing(name=TEXT | {"default": "a"}), "name"),
        listed(TEXT) | {"x-kubernetes-list-type": "set"},
        listed(thing(a=TEXT) | {"x-kubernetes-map-type": "atomic"}) | {"x-kubernetes-list-type": "set"},
        ruled(TEXT),
        ruled(listed(TEXT, maxItems=3)),
        listed(ruled(TEXT), maxItems=3),
        listed(
            thing(name=TEXT, size=ruled(NUMBER, rule="self == oldSelf")) | {"required": ["name"]},
            "name",
            maxItems=3,
        ),
        ruled(thing(size=NUMBER), fieldPath=".size"),
        ruled(TEXT, rule="oldSelf.orValue('') == self", optionalOldSelf=True),
    ],
)  # fmt: skip
def test_what_the_server_takes_is_taken(spec: dict[str, Any]) -> None:
    assert said(spec) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        # words
        ({"$ref": "a"} | TEXT, "spec: must not say $ref: a structural schema has no such keyword"),
        # types
        ({}, "spec: must have a type, one of array, boolean, integer, number, object, string"),
        ({"type": "text"}, "spec: must have a type, one of array, boolean, integer, number, object, string"),
        (TEXT | {"anyOf": [TEXT]}, "spec: must not offer alternatives: only an int-or-string may"),
        # parts
        ({"type": "array"}, "spec: must say what its items are"),
        (thing(a=TEXT) | {"additionalProperties": TEXT}, "spec: must have either properties or additionalProperties"),
        # embedded resources
        (listed(TEXT, properties={"a": TEXT}) | {"x-kubernetes-embedded-resource": True}, "spec: must be an object, being an embedded resource"),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            "spec: must have properties or keep unknown fields, being an embedded resource",
        ),
        # patterns
        (TEXT | {"pattern": "("}, "spec: must have a valid pattern: missing ), unterminated subpattern at position 0"),
        (TEXT | {"pattern": "^(?!kube)"}, "spec: must have a pattern without (?!, which the server does not know"),
        (TEXT | {"pattern": r"(a)\1"}, r"spec: must have a pattern without \1, which the server does not know"),
        # lists and maps
        (TEXT | {"x-kubernetes-list-type": "set"}, "spec: must be an array to have a list type"),
        (TEXT | {"x-kubernetes-map-type": "atomic"}, "spec: must be an object to have a map type"),
        (listed(TEXT) | {"x-kubernetes-list-type": "map"}, "spec: must have keys if it is a list of type map, and only then"),
        (listed(thing(a=TEXT)) | {"x-kubernetes-list-type": "set"}, "spec: must hold scalars or atomic items, being a set"),
        (
            listed(listed(TEXT) | {"x-kubernetes-list-type": "set"}) | {"x-kubernetes-list-type": "set"},
            "spec: must hold scalars or atomic items, being a set",
        ),
        (listed(thing(a=TEXT) | {"required": ["a"]}, "a", "a"), "spec: must name every key once"),
        (listed(thing(a=TEXT), "b"), "spec: must have items with the key b"),
        (listed(thing(a=thing()), "a"), "spec: must have a scalar as its key a"),
        (listed(thing(a=TEXT), "a"), "spec: must require the key a of its items, or promise a default for it"),
        # defaults
        (NUMBER | {"default": "3"}, "spec: default must be of type integer, not '3'"),
        (thing(a=NUMBER) | {"default": {"b": 1}}, "spec: default must have known fields only, and b is not one"),
        # rules
        (ruled(TEXT, rule=" "), "spec: must have a rule in every rule"),
        (
            ruled(TEXT, message="a\nb"),
            "spec: must have its message and field path on one line in the rule 'self == self'",
        ),
        (
            ruled(thing(a=TEXT), fieldPath=".b"),
            "spec: must have the field .b that the rule 'self == self' blames",
        ),
        (
            listed(thing(a=ruled(TEXT))),
            "spec[].a: must not have a rule while spec has no upper bound; give it max_items or max_properties",
        ),
        (
            {"type": "object", "additionalProperties": ruled(TEXT)},
            "spec{}: must not have a rule while spec has no upper bound; give it max_items or max_properties",
        ),
        (
            listed(ruled(TEXT, rule="self == oldSelf"), maxItems=3),
            "spec[]: must not look at oldSelf, because the items of spec have no keys",
        ),
        (
            ruled(TEXT, optionalOldSelf=True),
            "spec: must use oldSelf in a rule that has optional_old_self",
        ),
        (
            ruled(NUMBER, messageExpression="'not ' + string(self)"),
            """spec: must use '...%d'.format([...]) instead of + string(...) in "'not ' + string(self)\"""",
        ),
    ],
)  # fmt: skip
def test_what_the_server_refuses_is_found(spec: dict[str, Any], message: str) -> None:
    assert said(spec) == [message]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (TEXT | {"nullable": True}, "spec: must not say nullable: a structural schema has no such keyword"),
        ({"x-kubernetes-int-or-string": True}, "spec: must have no type but the two, being an int-or-string"),
        (thing(a=TEXT) | {"required": ["b"]}, "spec: must have the property b, which it requires"),
        (thing(a=TEXT) | {"maxItems": 3}, "spec: must not say maxItems, being of type object"),
        (listed(TEXT, maxProperties=3), "spec: must not say maxProperties, being of type array"),
        (NUMBER | {"maxLength": 3}, "spec: must not say maxLength, being of type integer"),
        (TEXT | {"minimum": 3}, "spec: must not say minimum, being of type string"),
        (NUMBER | {"pattern": "^1"}, "spec: must not say pattern, being of type integer"),
        (NUMBER | {"minimum": 3, "maximum": 2}, "spec: must have a minimum that is no larger than its maximum"),
        (ruled(TEXT, message=""), "spec: must have a message for the rule 'self == self'"),
        (
            ruled(listed(TEXT)),
            "spec: must not have a rule while spec has no upper bound; give it max_items or max_properties",
        ),
    ],
)  # fmt: skip
def test_what_the_server_takes_and_nobody_can_mean_is_found_too(
    spec: dict[str, Any], message: str
) -> None:
    assert said(spec) == [message]


def test_a_bound_below_does_not_excuse_one_that_is_missing_above() -> None:
    inner = listed(ruled(TEXT), maxItems=2)

    assert said(listed(inner)) == [
        "spec[][]: must not have a rule while spec has no upper bound; give it max_items or max_properties"
    ]


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (TEXT, "must be an object at the root"),
        (
            {"type": "object", "additionalProperties": TEXT},
            "must not be a free map at the root",
        ),
        (
            thing(metadata={"type": "object", "required": []}),
            "metadata: must say nothing but its type and its name",
        ),
        (thing(metadata=thing(labels=TEXT)), "metadata: must limit nothing but name and generateName"),
    ],
)  # fmt: skip
def test_the_root_has_rules_of_its_own(root: dict[str, Any], message: str) -> None:
    assert [str(problem) for problem in checks.problems(root)] == [message]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("a", TEXT | {"enum": ["a", "b"], "minLength": 1, "maxLength": 1, "pattern": "a"}),
        (3, NUMBER | {"minimum": 3, "maximum": 3, "multipleOf": 3}),
        (0.5, {"type": "number", "minimum": 0, "exclusiveMinimum": True}),
        (True, {"type": "boolean"}),
        (1, {"x-kubernetes-int-or-string": True}),
        ("10%", {"x-kubernetes-int-or-string": True}),
        ([1, 2], {"type": "array", "items": NUMBER, "maxItems": 2}),
        ({"a": 1}, thing(a=NUMBER) | {"required": ["a"]}),
        ({"a": 1}, {"type": "object", "additionalProperties": NUMBER, "maxProperties": 1}),
        ({"a": 1}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        ([{"a": [1]}], {"x-kubernetes-preserve-unknown-fields": True}),
    ],
)
def test_a_default_that_fits_is_taken(value: Any, schema: dict[str, Any]) -> None:
    assert list(values.problems_of(value, schema, "x")) == []


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        ("a", NUMBER, "x: must be of type integer, not 'a'"),
        (True, NUMBER, "x: must be of type integer, not True"),
        (1.5, {"x-kubernetes-int-or-string": True}, "x: must be of type integer or string, not 1.5"),
        ({}, {"type": "array", "items": TEXT}, "x: must be of type array, not {}"),
        (None, {"x-kubernetes-preserve-unknown-fields": True}, "x: must be of type anything, not None"),
        ("c", TEXT | {"enum": ["a", "b"]}, "x: must be one of ['a', 'b'], not 'c'"),
        ("ab", TEXT | {"maxLength": 1}, "x: must have at most 1 characters, not 2"),
        ([], {"type": "array", "items": TEXT, "minItems": 1}, "x: must have at least 1 items, not 0"),
        ("b", TEXT | {"pattern": "a"}, "x: must match a, unlike 'b'"),
        (2, NUMBER | {"minimum": 3}, "x: must be within its bounds, unlike 2"),
        (3, NUMBER | {"maximum": 3, "exclusiveMaximum": True}, "x: must be within its bounds, unlike 3"),
        (4, NUMBER | {"multipleOf": 3}, "x: must be a multiple of 3, unlike 4"),
        ([1, "b"], {"type": "array", "items": NUMBER}, "x[1]: must be of type integer, not 'b'"),
        ({"a": "b"}, thing(a=NUMBER), "x.a: must be of type integer, not 'b'"),
        ({}, thing(a=NUMBER) | {"required": ["a"]}, "x: must have a"),
        ({"a": "b"}, {"type": "object", "additionalProperties": NUMBER}, "x.a: must be of type integer, not 'b'"),
    ],
)  # fmt: skip
def test_a_default_that_does_not_fit_is_found(
    value: Any, schema: dict[str, Any], message: str
) -> None:
    assert [str(problem) for problem in values.problems_of(value, schema, "x")] == [message]
