"""What the lines of many kinds have in common. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stateward.kube.codec import Json
from stateward.local.kinds import Column
from stateward.local.server.tables.ages import age

NONE = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"

_ACCESS = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}

#: The types of columns that are not text, by the mark behind their names.
_MARKED = {"*": "integer", "?": "boolean", "@": "date"}

#: An object and the time now, as the cells of its line.
Line = Callable[[Json, float], list[Any]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a kind, and how an object becomes a line."""

    columns: tuple[Column, ...]
    line: Line


def layout(line: Line, names: str, wide: str = "") -> Layout:
    """Return a layout with columns as kubectl names them; the wide ones come last."""
    shown = [_column(name, 0) for name in names.split("|")]
    more = [_column(name, 1) for name in wide.split("|") if name]
    return Layout((*shown, *more), line)


def _column(name: str, priority: int) -> Column:
    kind = _MARKED.get(name[-1], "string")
    clean = name.rstrip("".join(_MARKED))
    return Column(clean, kind, "", format="name" if clean == "Name" else "", priority=priority)


def part(document: Json, *path: str) -> Any:
    """Return what is at a path, or None when there is nothing."""
    found: Any = document
    for name in path:
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def items(document: Json, *path: str) -> list[Json]:
    """Return the objects of the list at a path."""
    found = part(document, *path)
    return [it for it in found if isinstance(it, dict)] if isinstance(found, list) else []


def name_of(document: Json) -> str:
    """Return an object's name."""
    return str(document["metadata"].get("name", ""))


def age_of(document: Json, now: float) -> str:
    """Return how old an object is."""
    return age(document["metadata"].get("creationTimestamp"), now)


def count(document: Json, *path: str, default: int = 0) -> int:
    """Return the number at a path."""
    found = part(document, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else default


def pairs(found: Any) -> str:
    """Return labels or the like as ``a=b,c=d``."""
    if not isinstance(found, dict) or not found:
        return NONE
    return ",".join(f"{name}={value}" for name, value in sorted(found.items()))


def selector(found: Any) -> str:
    """Return a label selector as people type it."""
    if not isinstance(found, dict):
        return NONE
    said = [f"{name}={value}" for name, value in sorted((found.get("matchLabels") or {}).items())]
    said += [_expression(it) for it in items(found, "matchExpressions")]
    return ",".join(said) or NONE


def _expression(it: Json) -> str:
    key, values = it.get("key", ""), ",".join(map(str, it.get("values") or ()))
    match it.get("operator"):
        case "Exists":
            return f"{key}"
        case "DoesNotExist":
            return f"!{key}"
        case operator:
            return f"{key} {str(operator).lower()} ({values})"


def containers(pod_spec: Any) -> list[str]:
    """Return the names and the images of a pod template's containers."""
    found = items(pod_spec or {}, "containers")
    names = ",".join(str(it.get("name", "")) for it in found)
    return [names, ",".join(str(it.get("image", "")) for it in found)]


def access_modes(modes: Any) -> str:
    """Return access modes in their short form."""
    return ",".join(_ACCESS.get(mode, str(mode)) for mode in modes or ())


def joined(values: Iterable[Any], limit: int = 0) -> str:
    """Return values with commas, or that there are none; of many only the first are named."""
    texts = [str(value) for value in values]
    if limit and len(texts) > limit:
        return f"{','.join(texts[:limit])} + {len(texts) - limit} more..."
    return ",".join(texts) or NONE
