"""What a schema says beyond types: defaults, and lists in which nothing may be twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stateward.kube.codec import Json, encode
from stateward.kube.errors import Cause
from stateward.local.schema import causes


def fill(value: Any, schema: Json) -> None:
    """Fill in the defaults of a structural schema, in place."""
    if isinstance(value, dict):
        _fill_object(value, schema)
    elif isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        for inner in value:
            fill(inner, items)


def _fill_object(value: Json, schema: Json) -> None:
    fields = schema.get("properties") or {}
    for name, inner in fields.items():
        if "default" in inner and _is_unset(value, name, inner):
            value[name] = _copy(inner["default"])
    others = schema.get("additionalProperties")
    for name, inner_value in value.items():
        if isinstance(inner := fields.get(name, others), dict):
            fill(inner_value, inner)


def has_defaults(schema: Any) -> bool:
    """Tell whether there is a default anywhere in a schema."""
    if not isinstance(schema, dict):
        return False
    below = [*(schema.get("properties") or {}).values()]
    below += [schema.get("items"), schema.get("additionalProperties")]
    return "default" in schema or any(has_defaults(inner) for inner in below)


def doubles(value: Any, schema: Json, path: str = "") -> Iterator[Cause]:
    """Yield the items of sets and keyed lists that are there more than once."""
    if isinstance(value, dict):
        fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, inner in value.items():
            where = f"{path}.{name}" if path else name
            if isinstance(below := fields.get(name, others), dict):
                yield from doubles(inner, below, where)
    elif isinstance(value, list):
        yield from _doubled_items(value, schema, path)
        if isinstance(items := schema.get("items"), dict):
            for place, inner in enumerate(value):
                yield from doubles(inner, items, f"{path}[{place}]")


def _doubled_items(value: list[Any], schema: Json, path: str) -> Iterator[Cause]:
    how = schema.get("x-kubernetes-list-type")
    if how not in {"set", "map"}:
        return
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    seen = set()
    for place, item in enumerate(value):
        mine = {k: item.get(k) for k in keys} if how == "map" and isinstance(item, dict) else item
        text = encode([mine])
        if text in seen:
            yield causes.duplicate(f"{path}[{place}]", mine)
        seen.add(text)


def _is_unset(value: Json, name: str, schema: Json) -> bool:
    return name not in value or (value[name] is None and not schema.get("nullable"))


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(inner) for name, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
