"""What a schema must be like to be structural: every field known by name and type.

Only such a schema can be used to drop unknown fields and to fill in defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes, validators
from stateward.local.schema.complaints import NOWHERE, at, broken
from stateward.local.schema.custom.functions import pattern_problem
from stateward.local.schema.custom.language import RuleError
from stateward.local.schema.custom.rules import (
    RULES,
    Place,
    broken_rules,
    looking_back,
    place_of,
    rule_problems,
)
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
        RULES,
    }
)
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_LIST_TYPE: Final = "x-kubernetes-list-type"
_KEYS: Final = "x-kubernetes-list-map-keys"
_MAP_TYPE: Final = "x-kubernetes-map-type"
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
        why = (
            "must not specify anything other than name and generateName,"
            " but metadata is implicitly specified"
        )
        yield causes.forbidden(f"{path}.properties[metadata]", why)
    for name in ("apiVersion", "kind"):
        said = (schema.get("properties") or {}).get(name)
        if isinstance(said, dict) and said.get("type") != "string":
            place = f"{path}.properties[{name}].type"
            yield causes.invalid(place, said.get("type", ""), "must be string")
    if problem := validators.schema_problem(schema):
        where, why = problem
        if where[-1:] not in {("pattern",), ("type",)}:  # told below, in other words
            yield causes.invalid(f"{path}{_written(where)}", at(schema, where), why)
    yield from _node_problems(schema, path)


def _written(words: tuple[str, ...]) -> str:
    """Write a place in a schema as Kubernetes does: ``.properties[a].type``."""
    text, is_name = "", False
    for word in words:
        text += f"[{word}]" if is_name or word.isdecimal() else f".{word}"
        is_name = word == "properties" and not is_name
    return text


def _node_problems(schema: Json, path: str, atomic: str = "") -> Iterator[Cause]:
    """Yield what is wrong with a part of a schema; ``atomic`` is a list around it without keys."""
    yield from _type_problems(schema, path)
    yield from _keyword_problems(schema, path)
    yield from _embedded_problems(schema, path)
    yield from _conditions_problems(schema, path)
    yield from _list_problems(schema, path)
    yield from _keys_problems(schema, path)
    yield from _default_problems(schema, path)
    yield from rule_problems(schema, path)
    for number, rule in looking_back(schema) if atomic else ():
        why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {atomic}"
        yield causes.invalid(f"{path}.{RULES}[{number}].rule", rule, why)
    for name, inner in (schema.get("properties") or {}).items():
        yield from _child_problems(inner, f"{path}.properties[{name}]", atomic)
    if isinstance(others := schema.get("additionalProperties"), dict):
        yield from _child_problems(others, f"{path}.additionalProperties", atomic)
    if isinstance(schema.get("items"), dict | list):
        is_keyed = schema.get("x-kubernetes-list-type") == "map"
        within = atomic if is_keyed else atomic or path
        yield from _child_problems(schema["items"], f"{path}.items", within)


def _child_problems(schema: Any, path: str, atomic: str) -> Iterator[Cause]:
    if isinstance(schema, dict):
        yield from _node_problems(schema, path, atomic)
    else:
        yield causes.forbidden(path, "items must be a schema object and not an array")


def _type_problems(schema: Json, path: str) -> Iterator[Cause]:
    kind = schema.get("type")
    if not kind:
        if not schema.keys() & {"$ref", _PRESERVE, _INT_OR_STRING}:
            why = f"must not be empty for {_called(path)}"
            yield causes.required(f"{path}.type", why)
    elif kind not in _TYPES:
        yield causes.unsupported(f"{path}.type", kind, _TYPES)
    if kind == "array" and not isinstance(schema.get("items"), dict | list):
        yield causes.required(f"{path}.items", "must be specified")
    if schema.get(_PRESERVE) is False:
        yield causes.invalid(f"{path}.{_PRESERVE}", False, "must be true or undefined")  # noqa: FBT003 - the value


def _called(path: str) -> str:
    """Return what Kubernetes calls the parts of a schema that are at such a place."""
    if path.endswith(".items"):
        return "specified array items"
    if path.endswith(".additionalProperties"):
        return "specified map values"
    return "specified object fields"


def _embedded_problems(schema: Json, path: str) -> Iterator[Cause]:
    if not schema.get(_EMBEDDED):
        return
    if not schema.get("properties") and not schema.get(_PRESERVE):
        why = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
        yield causes.required(f"{path}.properties", why)
    if schema.get("type") != "object":
        why = f"must be object if {_EMBEDDED} is true"
        yield causes.invalid(f"{path}.type", schema.get("type", ""), why)


def _keyword_problems(schema: Json, path: str) -> Iterator[Cause]:
    for name in _NEVER:
        if name in schema:
            yield causes.forbidden(f"{path}.{name}", f"{name} is not supported")
    if "properties" in schema and "additionalProperties" in schema:
        why = "additionalProperties and properties are mutual exclusive"
        yield causes.forbidden(f"{path}.additionalProperties", why)
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (problem := pattern_problem(pattern)):
        why = f"must be a valid regular expression, but isn't: {problem}"
        yield causes.invalid(f"{path}.pattern", pattern, why)
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
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
            state = "undefined" if name == "default" else "empty"
            yield causes.forbidden(f"{path}.{name}", f"must be {state} to be structural")
    known = schema.get("properties") or {}
    for name, inner in (condition.get("properties") or {}).items():
        yield from _condition_problems(inner, known.get(name, {}), f"{path}.properties[{name}]")


def _list_problems(schema: Json, path: str) -> Iterator[Cause]:
    how, keys = schema.get(_LIST_TYPE), schema.get(_KEYS) or ()
    if how is not None and how not in {"atomic", "set", "map"}:
        yield causes.unsupported(f"{path}.{_LIST_TYPE}", how, ("atomic", "set", "map"))
    if how is not None and schema.get("type") != "array":
        why = f"must be array if {_LIST_TYPE} is specified"
        yield causes.invalid(f"{path}.type", schema.get("type", ""), why)
    if how == "map" and not keys:
        yield causes.required(f"{path}.{_KEYS}", f"must not be empty if {_LIST_TYPE} is map")
    if keys and how != "map":
        yield causes.required(f"{path}.{_LIST_TYPE}", f"must be map if {_KEYS} is non-empty")
    items = _items(schema)
    if how == "set" and items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        why = f"must be atomic as item of a list with {_LIST_TYPE}=set"
        yield causes.invalid(f"{path}.items.{_MAP_TYPE}", items.get(_MAP_TYPE), why)
    how = schema.get(_MAP_TYPE)
    if how is not None and how not in {"atomic", "granular"}:
        yield causes.unsupported(f"{path}.{_MAP_TYPE}", how, ("atomic", "granular"))


def _keys_problems(schema: Json, path: str) -> Iterator[Cause]:
    """Yield what is wrong with the keys by which the items of a list are known."""
    keys, items = schema.get(_KEYS) or (), _items(schema)
    if schema.get(_LIST_TYPE) != "map" or not keys:
        return
    if items.get("type") != "object":
        why = f"must be object if parent array's {_LIST_TYPE} is map"
        yield causes.invalid(f"{path}.items.type", items.get("type", ""), why)
        return
    fields = items.get("properties") or {}
    if any(key not in fields for key in keys):
        why = "entries must all be names of item properties"
        yield causes.invalid(f"{path}.{_KEYS}", list(keys), why)
    for key in (key for key in keys if key in fields):
        where, told = f"{path}.items.properties[{key}]", f"this property is in {_KEYS}, so it"
        if key not in (items.get("required") or ()) and "default" not in fields[key]:
            why = f"{told} must have a default or be a required property"
            yield causes.required(f"{where}.default", why)
        if fields[key].get("nullable"):
            yield causes.forbidden(f"{where}.nullable", f"{told} cannot be nullable")


def _items(schema: Json) -> Json:
    found = schema.get("items")
    return found if isinstance(found, dict) else {}


def _default_problems(schema: Json, path: str) -> Iterator[Cause]:
    default, where = schema.get("default"), f"{path}.default"
    if default is None or not schema.get("type") or validators.schema_problem(schema):
        return
    found = list(broken(validators.of_custom(schema), default))
    if not found and (rules := _rules(schema)) is not None:
        found = list(broken_rules(rules, default, None))
    for cause in found:
        place = f"{where}.{cause.field.removeprefix(NOWHERE)}".removesuffix(".")
        yield Cause(reason=cause.reason, message=cause.message, field=place)
    if pruned({"it": _copied(default)}, {"properties": {"it": schema}}):
        yield causes.invalid(where, default, "must not have unknown fields")


def _rules(schema: Json) -> Place | None:
    """Return the rules of a part of a schema; None where one is no rule, as is told elsewhere."""
    try:
        return place_of(schema)
    except RuleError:
        return None


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value
