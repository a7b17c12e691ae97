"""Lines of custom kinds, by the columns that they ask for. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stateward.kube.codec import Json, encode
from stateward.local.kinds import Column, Kind
from stateward.local.server.tables import cluster, jsonpaths, pods, workloads
from stateward.local.server.tables.ages import age
from stateward.local.server.tables.cells import Layout, age_of, layout, name_of

_BUILT_IN = pods.LAYOUTS | workloads.LAYOUTS | cluster.LAYOUTS
_NAME = Column("Name", "string", "", format="name")


def _plain(document: Json, now: float) -> list[Any]:
    return [name_of(document), age_of(document, now)]


_PLAIN = layout(_plain, "Name|Age")
_CUSTOM = layout(_plain, "Name|Age@")


def layout_of(kind: Kind) -> Layout:
    """Return the columns of a kind: its own, those we know, or name and age."""
    if not kind.columns:
        return _BUILT_IN.get(kind.resource.name, _PLAIN) if kind.built_in else _CUSTOM

    def line(document: Json, now: float) -> list[Any]:
        return [name_of(document), *(_cell(document, it, now) for it in kind.columns)]

    return Layout((_NAME, *(_described(it) for it in kind.columns)), line)


def _described(column: Column) -> Column:
    said = f"Custom resource definition column (in JSONPath format): {column.path}"
    return column if column.description else replace(column, description=said)


def _cell(document: Json, column: Column, now: float) -> Any:
    found = jsonpaths.values(document, column.path)
    if not found or found[0] is None:
        return None
    value = found[0]  # of several, the first
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match column.type:
        case "date":
            return age(value, now)
        case "integer":
            return int(value) if is_number else None
        case "number":
            return value if is_number else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case _:
            return value if isinstance(value, str) else encode(value).decode()
