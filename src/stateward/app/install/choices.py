"""What people choose of an installation: values over the chart's own, held to its schema."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from stateward.core.errors import UsageError
from stateward.kube.codec import Json

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
}


def laid_over(usual: Json, chosen: Mapping[str, Any]) -> Json:
    """Return the usual values with others over them, as Helm lays them; null takes one away.

    >>> laid_over({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": None}})
    {'a': {'b': 3}}
    """
    result = dict(usual)
    for name, value in chosen.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(result.get(name), dict):
            result[name] = laid_over(result[name], value)
        else:
            result[name] = value
    return result


def from_word(word: str) -> Json:
    """Read ``path.to.value=VALUE``, where the value is YAML; an empty one is an empty text.

    >>> from_word("watch.namespaces=[shop, bank]")
    {'watch': {'namespaces': ['shop', 'bank']}}
    >>> from_word("image.tag="), from_word("image.tag=null")
    ({'image': {'tag': ''}}, {'image': {'tag': None}})
    """
    path, equals, text = word.partition("=")
    if not equals or not all(path.split(".")):
        raise UsageError(f"--set must be PATH=VALUE, got {word!r}", hint="as in replicas=3")
    try:
        value: Any = yaml.safe_load(text) if text.strip() else ""
    except yaml.YAMLError as error:
        raise UsageError(f"--set {path}: the value must be YAML: {_where(error)}") from None
    except RecursionError:
        raise UsageError(f"--set {path}: the value must not be nested so deeply") from None
    for name in reversed(path.split(".")):
        value = {name: value}
    chosen: Json = value
    return chosen


def from_text(source: str, text: str) -> Json:
    """Read a file of values."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{source}: must be YAML: {_where(error)}") from None
    except RecursionError:
        raise UsageError(f"{source}: must not be nested so deeply") from None
    if not isinstance(value, dict | None):
        raise UsageError(f"{source}: must have names and values, as values.yaml of the chart")
    return value or {}


def _where(error: yaml.YAMLError) -> str:
    return str(error).replace("\n", " ")


def check(values: Json, schema: Json) -> None:
    """Raise for the first value that the schema refuses: what must be true, and where."""
    for problem in problems(values, schema):
        raise UsageError(problem, hint="`stateward install --show-values` explains all values")


def problems(value: Any, schema: Json, path: str = "") -> Iterator[str]:
    """Yield what is wrong with a value, by the part of JSON Schema that ours uses."""
    wanted = schema.get("type", "object")
    if not isinstance(value, _TYPES[wanted]) or (wanted == "integer" and isinstance(value, bool)):
        quoted = f"; in quotes it is one: '{value}'" if _is_number(value, wanted) else ""
        yield f"{path or 'values'}: must be of type {wanted}, got {value!r}{quoted}"
        return
    if isinstance(value, dict):
        yield from _of_fields(value, schema, path)
    elif isinstance(value, list):
        yield from _of_many(value, schema, path)
        for place, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{path}[{place}]")
    else:
        yield from _of_plain(value, schema, path)


def _is_number(value: Any, wanted: str) -> bool:
    """Tell whether somebody wrote a text, and YAML took it for something else."""
    return wanted == "string" and isinstance(value, int | float | bool)


def _of_fields(value: Json, schema: Json, path: str) -> Iterator[str]:
    if len(value) > schema.get("maxProperties", len(value)):
        yield f"{path}: must have at most {schema['maxProperties']} field, got {', '.join(value)}"
    named, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}.{name}".lstrip(".") + ": must be there, and null takes it away"
    for name, inner in value.items():
        where = f"{path}.{name}" if path else str(name)
        if name in named:
            yield from problems(inner, named[name], where)
        elif isinstance(others, dict):
            yield from problems(inner, others, where)
        elif not others:
            close = difflib.get_close_matches(str(name), named, 1)
            meant = f"; did you mean {close[0]}?" if close else f": one of {', '.join(named)}"
            yield f"{where}: must be a value that the chart knows{meant}"


def _of_many(value: list[Any], schema: Json, path: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{path}: must have at least {schema['minItems']}"
    if twice := [it for it in value if value.count(it) > 1 and schema.get("uniqueItems")]:
        yield f"{path}: must name each once, got {twice[0]!r} twice"


def _of_plain(value: Any, schema: Json, path: str) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: must be one of {', '.join(schema['enum'])}, got {value!r}"
    if not value and schema.get("minLength"):
        yield f"{path}: must not be empty"
    elif "pattern" in schema and re.fullmatch(schema["pattern"], value) is None:
        must = schema.get("description", f"must match {schema['pattern']}")
        yield f"{path}: {must}, got {value!r}"
    length = len(value) if isinstance(value, str) else 0
    if length > schema.get("maxLength", length):
        yield f"{path}: must be at most {schema['maxLength']} characters long, got {length}"
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        yield f"{path}: must be {schema['minimum']} to {schema['maximum']}, got {value}"
