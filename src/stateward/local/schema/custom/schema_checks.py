"""What a schema must be like to be structural: every field known by name and type.

Only such a schema can be used to drop unknown fields and to fill in defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes, validators
from stateward.local.schema.complaints import at
from stateward.local.schema.custom.functions import pattern_problem
from stateward.local.schema.custom.rules import rule_problems
from stateward.local.schema.pruning import pruned

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_NEVER: Final = (
    "$ref",
    "definitions",
    "dependencies",
    "patternProperties",
    "additionalItems",
    "id",
)
_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
#: What may only be said in the structure itself, not in a condition on it.
_STRUCTURE: Final = frozenset(
    {
        *("type", "default", "additionalProperties", "nullable", "title", "description"),
        *("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"),
        *("x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-map-type"),
    }
)
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_METADATA: Final = frozenset({"name", "generateName"})


def schema_problems(schema: Any, path: str) -> Iterator[Cause]:
    """Yield what is wrong with the schema of one version."""
    if not isinstance(schema, dict):
        yield causes.wrong_type(path, schema, "must be an object")
        return
    if schema.get("type") != "object":
        yield causes.invalid(f"{path}.type", schema.get("type", ""), "must be object at the root")
    metadata = (schema.get("properties") or {}).get("metadata") or {}
    if metadata.keys() - {"type", "properties", "description"} or (
        (metadata.get("properties") or {}).keys() - _METADATA
    ):
        why = "must not specify anything other than name and generateName"
        yield causes.forbidden(f"{path}.properties[metadata]", why)
    if problem := validators.schema_problem(schema):
        where, why = problem
        if where[-1:] != ("pattern",):  # told below, in other words
            yield causes.invalid(f"{path}{_written(where)}", at(schema, where), why)
    yield from _node_problems(schema, path)


def _written(words: tuple[str, ...]) -> str:
    """Write a place in a schema as Kubernetes does: ``.properties[a].type``."""
    text, is_name = "", False
    for word in words:
        text += f"[{word}]" if is_name or word.isdecimal() else f".{word}"
        is_name = word == "properties" and not is_name
    return text


def _node_problems(schema: Json, path: str) -> Iterator[Cause]:
    yield from _type_problems(schema, path)
    yield from _keyword_problems(schema, path)
    yield from _conditions_problems(schema, path)
    yield from _list_problems(schema, path)
    yield from _default_problems(schema, path)
    yield from rule_problems(schema, path)
    for name, inner in (schema.get("properties") or {}).items():
        yield from _child_problems(inner, f"{path}.properties[{name}]")
    if isinstance(others := schema.get("additionalProperties"), dict):
        yield from _child_problems(others, f"{path}.additionalProperties")
    if "items" in schema:
        yield from _child_problems(schema["items"], f"{path}.items")


def _child_problems(schema: Any, path: str) -> Iterator[Cause]:
    if isinstance(schema, dict):
        yield from _node_problems(schema, path)
    else:
        yield causes.forbidden(path, "must be a single schema to be structural")


def _type_problems(schema: Json, path: str) -> Iterator[Cause]:
    kind = schema.get("type")
    if schema.get(_INT_OR_STRING):
        if kind:
            yield causes.invalid(f"{path}.type", kind, f"must be empty if {_INT_OR_STRING} is true")
    elif not kind:
        if not schema.get(_PRESERVE):
            why = "must not be empty for specified object fields, map values and array items"
            yield causes.required(f"{path}.type", why)
    elif kind not in _TYPES:
        yield causes.unsupported(f"{path}.type", kind, _TYPES)
    if kind == "array" and "items" not in schema:
        yield causes.required(f"{path}.items", "must be specified")
    if schema.get(_PRESERVE) is False:
        yield causes.invalid(f"{path}.{_PRESERVE}", False, "must be true or undefined")  # noqa: FBT003 - the value


def _keyword_problems(schema: Json, path: str) -> Iterator[Cause]:
    for name in _NEVER:
        if name in schema:
            yield causes.forbidden(f"{path}.{name}", f"{name} is not supported")
    if "properties" in schema and "additionalProperties" in schema:
        yield causes.forbidden(
            f"{path}.additionalProperties", "and properties are mutual exclusive"
        )
    if schema.get("additionalProperties") is False:
        yield causes.forbidden(f"{path}.additionalProperties", "cannot be set to false")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (problem := pattern_problem(pattern)):
        why = f"must be a valid regular expression, but isn't: {problem}"
        yield causes.invalid(f"{path}.pattern", pattern, why)
    if schema.get("uniqueItems"):
        why = "cannot be set to true since the runtime complexity becomes quadratic"
        yield causes.forbidden(f"{path}.uniqueItems", why)


def _conditions_problems(schema: Json, path: str) -> Iterator[Cause]:
    for name in _JUNCTORS:
        for place, inner in enumerate(schema.get(name) or ()):
            yield from _condition_problems(inner, schema, f"{path}.{name}[{place}]")
    if "not" in schema:
        yield from _condition_problems(schema["not"], schema, f"{path}.not")


def _condition_problems(condition: Json, schema: Json, path: str) -> Iterator[Cause]:
    is_idiom = bool(schema.get(_INT_OR_STRING)) and condition in (
        {"type": "integer"},
        {"type": "string"},
    )
    for name in sorted(condition.keys() & _STRUCTURE):
        if not is_idiom:
            why = f"must be empty to be structural: say {name} outside of the condition"
            yield causes.forbidden(f"{path}.{name}", why)
    known = schema.get("properties") or {}
    for name, inner in (condition.get("properties") or {}).items():
        if name not in known and not schema.get(_PRESERVE):
            where = f"{path.rsplit('.', 1)[0]}.properties[{name}]"
            yield causes.required(where, f"because it is defined in {path}")
        else:
            yield from _condition_problems(inner, known.get(name, {}), f"{path}.properties[{name}]")


def _list_problems(schema: Json, path: str) -> Iterator[Cause]:
    how, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or ()
    if how is not None and how not in {"atomic", "set", "map"}:
        options = ("atomic", "map", "set")
        yield causes.unsupported(f"{path}.x-kubernetes-list-type", how, options)
    if how is not None and schema.get("type") != "array":
        why = "must be array if x-kubernetes-list-type is specified"
        yield causes.invalid(f"{path}.type", schema.get("type", ""), why)
    if how == "map" and not keys:
        why = "must not be empty if x-kubernetes-list-type is map"
        yield causes.required(f"{path}.x-kubernetes-list-map-keys", why)
    items = schema.get("items") if isinstance(schema.get("items"), dict) else {}
    fields = (items or {}).get("properties") or {}
    for place, key in enumerate(keys):
        where = f"{path}.x-kubernetes-list-map-keys[{place}]"
        if key not in fields:
            why = "entries must all be names of item properties"
            yield causes.invalid(where, key, why)
        elif key not in ((items or {}).get("required") or ()) and "default" not in fields[key]:
            why = "must have a default or be required: it is one of x-kubernetes-list-map-keys"
            yield causes.required(f"{path}.items.properties[{key}].default", why)


def _default_problems(schema: Json, path: str) -> Iterator[Cause]:
    if "default" not in schema or not schema.get("type") or validators.schema_problem(schema):
        return
    default = schema["default"]
    if default is None and not schema.get("nullable"):
        yield causes.invalid(f"{path}.default", default, "must not be null")
        return
    for error in validators.of_custom(schema).iter_errors(default):
        yield causes.invalid(f"{path}.default", default, error.message)
    copy = {"it": _copied(default)}
    for name in pruned(copy, {"properties": {"it": schema}}):
        why = f"must not have unknown fields, got {name.removeprefix('it.')}"
        yield causes.invalid(f"{path}.default", default, why)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value
