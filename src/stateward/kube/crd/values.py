"""Does a value fit a schema? Asked of promised defaults; the server judges what users write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.crd.problems import Problem


def problems_of(value: Any, schema: Json, path: str) -> Iterator[Problem]:
    """Yield everything about a value that its schema does not allow, unknown fields included."""
    fits = _TYPES.get(_kind_of(schema), _TYPES["anything"])
    if not fits(value):
        yield Problem(path, f"must be of type {_kind_of(schema)}, not {value!r}")
        return
    if "enum" in schema and value not in schema["enum"]:
        yield Problem(path, f"must be one of {schema['enum']}, not {value!r}")
    match value:
        case str():
            yield from _text_problems(value, schema, path)
        case bool():
            return
        case int() | float():
            yield from _number_problems(value, schema, path)
        case list():
            yield from _list_problems(value, schema, path)
        case dict():
            yield from _object_problems(value, schema, path)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "anything": lambda value: value is not None,
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _whole,
    "integer or string": lambda value: _whole(value) or isinstance(value, str),
    "number": lambda value: _whole(value) or isinstance(value, float),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


_UNITS: Final = {"Items": "items", "Length": "characters", "Properties": "entries"}


def _kind_of(schema: Json) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    return str(schema.get("type", "anything"))


def _text_problems(value: str, schema: Json, path: str) -> Iterator[Problem]:
    yield from _size_problems(len(value), schema, "Length", path)
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        yield Problem(path, f"must match {schema['pattern']}, unlike {value!r}")


def _number_problems(value: float, schema: Json, path: str) -> Iterator[Problem]:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    above = value > low if schema.get("exclusiveMinimum") else value >= low
    below = value < high if schema.get("exclusiveMaximum") else value <= high
    if not above or not below:
        yield Problem(path, f"must be within its bounds, unlike {value}")
    step = schema.get("multipleOf")
    if step and value % step:
        yield Problem(path, f"must be a multiple of {step}, unlike {value}")


def _size_problems(size: int, schema: Json, what: str, path: str) -> Iterator[Problem]:
    if size < schema.get(f"min{what}", size):
        yield Problem(path, f"must have at least {schema[f'min{what}']} {_UNITS[what]}, not {size}")
    if size > schema.get(f"max{what}", size):
        yield Problem(path, f"must have at most {schema[f'max{what}']} {_UNITS[what]}, not {size}")


def _list_problems(value: list[Any], schema: Json, path: str) -> Iterator[Problem]:
    yield from _size_problems(len(value), schema, "Items", path)
    for index, item in enumerate(value):
        yield from problems_of(item, schema.get("items", {}), f"{path}[{index}]")


def _object_problems(value: Json, schema: Json, path: str) -> Iterator[Problem]:
    yield from _size_problems(len(value), schema, "Properties", path)
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(path, f"must have {name}")
    for name, part in value.items():
        if name in properties:
            yield from problems_of(part, properties[name], f"{path}.{name}")
        elif "additionalProperties" in schema:
            yield from problems_of(part, schema["additionalProperties"], f"{path}.{name}")
        elif "type" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield Problem(path, f"must have known fields only, and {name} is not one")
