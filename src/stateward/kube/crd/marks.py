"""What marks add to a schema: descriptions, bounds, list types, rules, promised defaults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from stateward.kube.codec import Json
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.crd.problems import Problem, SchemaInvalid

_KEYWORDS: Final = {
    "format": "format",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "list_type": "x-kubernetes-list-type",
    "keys": "x-kubernetes-list-map-keys",
    "map_type": "x-kubernetes-map-type",
    "preserve_unknown": "x-kubernetes-preserve-unknown-fields",
    "embedded_resource": "x-kubernetes-embedded-resource",
}
_RULE_KEYWORDS: Final = {
    "rule": "rule",
    "message": "message",
    "message_expression": "messageExpression",
    "reason": "reason",
    "field_path": "fieldPath",
    "optional_old_self": "optionalOldSelf",
}
#: An exclusive bound is a bound and a flag beside it, as OpenAPI 3.0 spells it.
_BOUNDS: Final = {
    "ge": ("minimum", ""),
    "gt": ("minimum", "exclusiveMinimum"),
    "le": ("maximum", ""),
    "lt": ("maximum", "exclusiveMaximum"),
    "multiple_of": ("multipleOf", ""),
    "pattern": ("pattern", ""),
}
_SIZE_OF: Final = {"string": "Length", "array": "Items", "object": "Properties"}
_UNHEARD: Final = ("title", "description", "examples", "extra_json_schema", "tz")


def apply(schema: Json, marks: Iterable[Any], path: str) -> Json:
    """Return the schema with everything that the marks say, the outermost mark last."""
    for mark in marks:
        match mark:
            case Field():
                schema = _with_field(schema, mark)
            case msgspec.Meta():
                schema = schema | _bounds(schema, mark, path)
            case _:
                continue  # somebody else's mark
    return schema


def with_rules(schema: Json, rules: Iterable[Rule]) -> Json:
    """Return the schema with more rules, after those it has."""
    added = [
        {
            keyword: value
            for name, keyword in _RULE_KEYWORDS.items()
            if (value := getattr(rule, name))
        }
        for rule in rules
    ]
    if not added:
        return schema
    there = schema.get("x-kubernetes-validations", [])
    return schema | {"x-kubernetes-validations": [*there, *added]}


def as_json(value: Any) -> Any:
    """Return a Python value as the plain values that JSON has."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _with_field(schema: Json, mark: Field) -> Json:
    head: Json = {"description": mark.description} if mark.description else {}
    keywords = {
        keyword: list(value) if isinstance(value, tuple) else value
        for name, keyword in _KEYWORDS.items()
        if (value := getattr(mark, name)) is not None and value is not False
    }
    promise = {} if mark.default is msgspec.UNSET else {"default": as_json(mark.default)}
    rest = {key: value for key, value in schema.items() if key not in head}
    return with_rules(head | rest | keywords | promise, mark.rules)


def _bounds(schema: Json, mark: msgspec.Meta, path: str) -> Json:
    if unheard := [name for name in _UNHEARD if getattr(mark, name) is not None]:
        raise SchemaInvalid(
            [Problem(path, f"must not use Meta({unheard[0]}=...): it does not reach the schema")],
            hint="say it with Field, or leave it out",
        )
    found: Json = {}
    for name, (keyword, flag) in _BOUNDS.items():
        if (value := getattr(mark, name)) is not None:
            found |= {keyword: value} | ({flag: True} if flag else {})
    size = _SIZE_OF.get(schema.get("type", ""), "Length")
    for name, prefix in (("min_length", "min"), ("max_length", "max")):
        if (value := getattr(mark, name)) is not None:
            found[prefix + size] = value
    return found
