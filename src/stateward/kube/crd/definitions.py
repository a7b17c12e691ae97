"""Kubernetes' own types as structural schemas: references inlined, nothing that a CRD may not say.

The schemas that we ship describe what the API server accepts for built-in kinds. A custom resource
definition speaks a narrower language, so a few types are respelled here:

- metadata inside a template is a small explicit object. The server knows metadata only at the
  root of an object; without fields of its own, everything in a template's metadata would be
  pruned.
- quantities and int-or-string have their own keyword, and no type.
- defaults go, except on keys of a list that users may leave out (a port's ``protocol``): the
  server must know them to tell items apart. All others are applied when the pod itself is made,
  by the server that makes it; in the template they would only change what a user wrote.
"""

from __future__ import annotations

from copy import deepcopy
from difflib import get_close_matches
from typing import Final

from stateward.kube import schemas
from stateward.kube.codec import Json
from stateward.kube.crd.problems import Problem, SchemaInvalid

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_TEXTS: Final[Json] = {"type": "object", "additionalProperties": {"type": "string"}}

_INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_EITHER: Final[Json] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
_NUMBER: Final = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"

#: Types whose schema for built-in kinds is not one that a CRD may have.
_RESPELLED: Final[dict[str, Json]] = {
    f"{_META}.ObjectMeta": {
        "type": "object",
        "properties": {
            "annotations": _TEXTS,
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "labels": _TEXTS,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    },
    f"{_META}.FieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    },
    _INT_OR_STRING: _EITHER,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _EITHER
    | {"pattern": rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"},
}
#: Keywords that mean the same in both languages.
_KEPT: Final = frozenset(
    {
        "enum",
        "format",
        "pattern",
        "required",
        "type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    }
)


def inline(name: str) -> Json:
    """Return the structural schema of one of Kubernetes' own types, whole and fresh."""
    if name not in schemas.definitions():
        close = get_close_matches(name, schemas.definitions(), n=1)
        raise SchemaInvalid(
            [Problem("", f"definition {name!r} must be one that we ship")],
            hint=f"did you mean {close[0]}?"
            if close
            else "add its kind to tools/vendor_openapi.py",
        )
    return deepcopy(_definition(name, ()))


def int_or_string() -> Json:
    """Return the structural schema of what is either a number or a text."""
    return inline(_INT_OR_STRING)


def _definition(name: str, inside: tuple[str, ...]) -> Json:
    if name in _RESPELLED:
        return _RESPELLED[name]
    if name in inside:
        raise SchemaInvalid(
            [Problem("", f"definition {inside[0]!r} must be finite, but {name} contains itself")],
            hint="a CRD has no references; use Field(preserve_unknown=True) instead",
        )
    return _schema(schemas.definitions()[name], (*inside, name))


def _schema(schema: Json, inside: tuple[str, ...]) -> Json:
    target: Json = _definition(schema["$ref"], inside) if "$ref" in schema else {}
    kept = target | {key: value for key, value in schema.items() if key in _KEPT}
    if "properties" in schema:
        kept["properties"] = {
            key: _schema(part, inside) for key, part in schema["properties"].items()
        }
    if isinstance(values := schema.get("additionalProperties"), dict):
        kept["additionalProperties"] = _schema(values, inside)
    if "items" in schema:
        kept["items"] = _items(schema, inside)
    if not kept:
        kept["x-kubernetes-preserve-unknown-fields"] = True
    return kept


def _items(schema: Json, inside: tuple[str, ...]) -> Json:
    """Return the schema of items that all have the keys of the list, by default or by duty."""
    items = _schema(schema["items"], inside)
    keys = schema.get("x-kubernetes-list-map-keys", ())
    for key in (key for key in keys if key not in items.get("required", ())):
        default = _field_of(schema["items"], key).get("default")
        if default is None:
            items["required"] = [*items.get("required", ()), key]
        else:
            named = items["properties"][key] | {"default": default}
            items["properties"] = items["properties"] | {key: named}
    return items


def _field_of(schema: Json, name: str) -> Json:
    target = schemas.definitions()[schema["$ref"]] if "$ref" in schema else schema
    return dict(target["properties"][name])
