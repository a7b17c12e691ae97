"""Fields that a schema does not name: they are dropped, and whoever wrote them may be told."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from stateward.kube import schemas
from stateward.kube.codec import Json
from stateward.local.schema.complaints import path_of

#: The names and numbers that lead to a place.
Way: TypeAlias = tuple[str | int, ...]

#: The definition of the metadata of every object.
META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_TEXT: Final[Json] = {"type": "string"}
#: What every object has.
OBJECT: Final[Json] = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"$ref": META}}
_EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
#: What may also be something simpler, and is this where it has fields.
_MEANT: Final = {
    f"{_EXTENSIONS}.JSONSchemaPropsOr{other}": f"{_EXTENSIONS}.JSONSchemaProps"
    for other in ("Array", "Bool", "StringArray")
}
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"


def pruned(value: Any, schema: Json) -> list[str]:
    """Drop what the schema does not name, in place; return where it was."""
    return [path_of(way) for way in pruned_ways(value, schema)]


def pruned_ways(value: Any, schema: Json) -> list[Way]:
    """Drop what the schema does not name, in place; return the ways to it."""
    found: list[Way] = []
    _prune(value, schema, (), found)
    return found


def texts_for_nulls(value: Any, schema: Json) -> None:
    """Have empty texts for nulls in maps of texts, in place: there a name alone says something."""
    schema = resolved(schema)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        for inner in value:
            texts_for_nulls(inner, items)
    elif isinstance(value, dict):
        fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, inner in value.items():
            if inner is None and name not in fields and _is_text(others):
                value[name] = ""
            elif isinstance(of_field := fields.get(name, others), dict):
                texts_for_nulls(inner, of_field)


def _is_text(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "string" and "format" not in schema


def without_nulls(value: Any) -> None:
    """Drop the members that are null, in place: to Kubernetes' own kinds, they say nothing."""
    if isinstance(value, dict):
        for name in [name for name, inner in value.items() if inner is None]:
            del value[name]
        for inner in value.values():
            without_nulls(inner)
    elif isinstance(value, list):
        for inner in value:
            without_nulls(inner)


def resolved(schema: Json) -> Json:
    """Follow a reference to one of Kubernetes' own definitions; what it leaves open stays open."""
    if "$ref" not in schema:
        return schema
    name: str = schema["$ref"]
    target = schemas.definitions()[_MEANT.get(name, name)]
    is_open = not target.keys() & {"properties", "additionalProperties", "items"}
    return target | {_PRESERVE: True} if is_open else target


def _prune(value: Any, schema: Json, way: Way, found: list[Way]) -> None:
    schema = resolved(schema)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        for place, inner in enumerate(value):
            _prune(inner, items, (*way, place), found)
    elif isinstance(value, dict):
        _prune_object(value, schema, way, found)


def _prune_object(value: Json, schema: Json, way: Way, found: list[Way]) -> None:
    fields = schema.get("properties") or {}
    if schema.get("x-kubernetes-embedded-resource"):
        fields = fields | OBJECT
    others = schema.get("additionalProperties")
    keeps_all = bool(schema.get(_PRESERVE)) or others is True
    for name in tuple(value):
        where = (*way, name)
        if name in fields:
            _prune(value[name], fields[name], where, found)
        elif isinstance(others, dict):
            _prune(value[name], others, where, found)
        elif not keeps_all:
            del value[name]
            found.append(where)
