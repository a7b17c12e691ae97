"""Types of what is applied to a custom kind: a real server asks for them before anything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.local.schema.complaints import type_name

_NUMERIC: Final = "numeric (int or float)"
#: What the types of schemas are called, and what fits them.
_TYPES: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "object": ("map", (dict,)),
    "array": ("list", (list,)),
    "string": ("string", (str,)),
    "boolean": ("boolean", (bool,)),
    "integer": (_NUMERIC, (int, float)),
    "number": (_NUMERIC, (int, float)),
}


def mistyped(value: Any, schema: Json, path: str = "") -> Iterator[str]:
    """Yield where a value is not of its type, or an item does not say which one it is."""
    called, fitting = _TYPES.get(schema.get("type", ""), ("", ()))
    if value is None or not fitting:
        return
    if not isinstance(value, fitting) or (isinstance(value, bool) and called == _NUMERIC):
        yield f"{path}: expected {called}, got {type_name(value)}"
    elif isinstance(value, dict):
        yield from _mistyped_fields(value, schema, path)
    elif isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        for place, item in enumerate(value):
            yield from _keyless(item, items, schema, f"{path}: element {place}")
            yield from mistyped(item, items, f"{path}[{place}]")


def _mistyped_fields(value: Json, schema: Json, path: str) -> Iterator[str]:
    fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in value.items():
        of_field = fields.get(name, others)
        if isinstance(of_field, dict):
            yield from mistyped(inner, of_field, f"{path}.{name}")


def _keyless(item: Any, items: Json, schema: Json, where: str) -> Iterator[str]:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    filled = {name for name in keys if "default" in (items.get("properties") or {}).get(name, {})}
    if keys and isinstance(item, dict) and not filled and not item.keys() & set(keys):
        yield f"{where}: associative list with keys has an element that omits all key fields"
