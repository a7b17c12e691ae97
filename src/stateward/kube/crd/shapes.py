"""Values of other types or sizes than the schema of a kind allows, in words.

A server says the same in the words of schemas. What is a typing error to a person should read like
one, and all of them should be told at once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from stateward.core.naming import OPTIONAL_NAME, dns_subdomain_problem
from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.crd.problems import Problem

_CALLED: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object with fields",
    "string": "a text",
}


def shape_problems(value: Any, schema: Json, path: str = "") -> Iterator[Problem]:
    """Yield a sentence for every value that is not what the schema wants there.

    >>> wanted = {"properties": {"size": {"type": "integer", "minimum": 0, "maximum": 9}}}
    >>> [str(it) for it in shape_problems({"size": -1}, wanted)]
    ['size: must be a whole number from 0 to 9, got -1']
    """
    if (said := value_problem(value, schema)) is not None:
        yield Problem(path, said)
    elif isinstance(value, dict):
        yield from _object_problems(value, schema, path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from shape_problems(item, schema.get("items", {}), f"{path}[{number}]")


def value_problem(value: Any, schema: Json) -> str | None:
    """Say what must be true of a value itself, whatever it holds; None: it is."""
    if schema.get("x-kubernetes-int-or-string"):
        return _either_problem(value, schema)
    return _typed_problem(value, schema)


def _object_problems(value: Json, schema: Json, path: str) -> Iterator[Problem]:
    dot = f"{path}." if path else ""
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(f"{dot}{name}", "must be given")
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, inner in value.items():
        below = known.get(name, others)
        if isinstance(below, dict):
            yield from shape_problems(inner, below, f"{dot}{name}")


def _either_problem(value: Any, schema: Json) -> str | None:
    """Numbers and texts, each within the bounds that are for it; or both are quantities."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return f"must be a number or a text, got {_shown(value)}"
    if "pattern" in schema:  # of all such types only quantities have one
        try:
            Quantity.parse(str(value))
        except ValueError as error:
            return str(error)
        return None
    type_ = "string" if isinstance(value, str) else "integer"
    return _typed_problem(value, {**schema, "type": type_})


def _typed_problem(value: Any, schema: Json) -> str | None:
    type_ = schema.get("type", "")
    if type_ in _CALLED and not _is_a(type_, value):
        said = f"must be {_CALLED[type_]}{_bounds(schema)}, got {_shown(value)}"
        plain = type_ == "string" and isinstance(value, int | float)
        return f'{said}: write it in quotes, "{_shown(value)}"' if plain else said
    if isinstance(value, int | float) and not _is_within(value, schema):
        return f"must be {_CALLED.get(type_, 'a number')}{_bounds(schema)}, got {_shown(value)}"
    if "enum" in schema and value not in schema["enum"]:
        # The empty one is what a client writes that says nothing.
        known = ", ".join(str(it) for it in schema["enum"] if it != "")
        return f"must be one of {known}, got {_shown(value)}"
    if isinstance(value, str):
        return _text_problem(value, schema)
    return _length_problem(value, schema)


def _is_a(type_: str, value: Any) -> bool:
    match type_:
        case "array":
            return isinstance(value, list)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return _is_number(value) and value == int(value)
        case "number":
            return _is_number(value)
        case "object":
            return isinstance(value, dict)
        case _:
            return isinstance(value, str)


def _is_number(value: Any) -> bool:
    finite = isinstance(value, int | float) and math.isfinite(value)
    return finite and not isinstance(value, bool)


def _is_within(value: float, schema: Json) -> bool:
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _bounds(schema: Json) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f", {least} or more"
    return f", {most} or less" if most is not None else ""


def _text_problem(value: str, schema: Json) -> str | None:
    pattern, most = schema.get("pattern"), schema.get("maxLength")
    if most is not None and len(value) > most:
        return f"must be at most {most} characters long, got {len(value)}"
    if pattern is None or re.search(pattern, value):
        return None
    named = dns_subdomain_problem(value) if pattern == OPTIONAL_NAME else None
    return named or f"must match {pattern}, got {_shown(value)}"


def _length_problem(value: Any, schema: Json) -> str | None:
    most = schema.get("maxProperties", schema.get("maxItems"))
    if most is None or not isinstance(value, dict | list) or len(value) <= most:
        return None
    return f"must have at most {most} entries, got {len(value)}"


def _shown(value: Any) -> str:
    """Write a value as manifests do, and large ones in a word."""
    match value:
        case None:
            return "nothing"
        case str():
            return repr(value)
        case dict():
            return "an object"
        case list():
            return "a list"
        case bool() | int() | float():
            return json.dumps(value)
        case _:
            return f"a {type(value).__name__}: {value}"
