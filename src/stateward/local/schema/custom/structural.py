"""What a schema says beyond types: defaults, lists in which nothing is twice, objects within."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from stateward.core import naming
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
        if inner.get("default") is not None and _is_unset(value, name, inner):
            value[name] = _copy(inner["default"])
    others = schema.get("additionalProperties")
    for name, inner_value in tuple(value.items()):
        if not isinstance(inner := fields.get(name, others), dict):
            continue
        if inner_value is None and not inner.get("nullable"):
            del value[name]  # a null that is no value says nothing
        else:
            fill(inner_value, inner)


def misfits(value: Any, schema: Json, path: str = "") -> Iterator[Cause]:
    """Yield items that are there more than once, and objects within that are no objects."""
    if isinstance(value, dict):
        if schema.get("x-kubernetes-embedded-resource"):
            yield from _embedded_problems(value, path)
        fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, inner in value.items():
            where = f"{path}.{name}" if path else name
            if isinstance(below := fields.get(name, others), dict):
                yield from misfits(inner, below, where)
    elif isinstance(value, list):
        yield from _doubled_items(value, schema, path)
        if isinstance(items := schema.get("items"), dict):
            for place, inner in enumerate(value):
                yield from misfits(inner, items, f"{path}[{place}]")


def _doubled_items(value: list[Any], schema: Json, path: str) -> Iterator[Cause]:
    how = schema.get("x-kubernetes-list-type")
    if how not in {"set", "map"}:
        return
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    times: Counter[bytes] = Counter()
    for place, item in enumerate(value):
        mine = {k: item.get(k) for k in keys} if how == "map" and isinstance(item, dict) else item
        text = encode([mine])
        times[text] += 1
        if times[text] == 2:  # told once, however often it is there
            yield causes.duplicate(f"{path}[{place}]", mine)


def _embedded_problems(value: Json, path: str) -> Iterator[Cause]:
    for name in ("apiVersion", "kind"):
        if not value.get(name):
            yield causes.required(f"{path}.{name}")
    if str(value.get("apiVersion", "")).count("/") > 1:
        why = f"unexpected GroupVersion string: {value['apiVersion']}"
        yield causes.invalid(f"{path}.apiVersion", value["apiVersion"], why)
    kind = value.get("kind")
    if kind and (problem := naming.dns_label_problem(str(kind).lower())):
        why = f"may have mixed case, but should otherwise match: {problem}"
        yield causes.invalid(f"{path}.kind", kind, why)


def _is_unset(value: Json, name: str, schema: Json) -> bool:
    return name not in value or (value[name] is None and not schema.get("nullable"))


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(inner) for name, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
