"""Objects as sets of fields: the arithmetic under server-side apply.

A place in an object is a path of elements as Kubernetes writes them in managedFields: ``f:name`` for a field,
``k:{"name":"a"}`` for the item of a keyed list, ``v:"x"`` for a member of a set. How deep paths go follows the
structure of the kind: what is replaced whole is one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stateward.kube.codec import Json, decode_json, encode
from stateward.kube.structure import Shape, Structure

Path: TypeAlias = tuple[str, ...]

#: Objects merge key by key, lists are replaced whole: what holds where no schema is known.
FREE = Structure(Shape.UNKNOWN)

_ITEM = "."  # the place itself, beside the places inside it


def flat(value: Any, structure: Structure, path: Path = ()) -> dict[Path, Any]:
    """Return every place of a value and what stands there."""
    match structure.shape:
        case Shape.STRUCT | Shape.MAP | Shape.UNKNOWN if isinstance(value, dict):
            return _flat_object(value, structure, path)
        case Shape.LIST_MAP if isinstance(value, list) and all(isinstance(v, dict) for v in value):
            return _flat_keyed(value, structure, path)
        case Shape.LIST_SET if isinstance(value, list) and value:
            return {(*path, f"v:{_text(member)}"): member for member in value}
        case _:
            return {path: value}


@dataclass(slots=True)
class Differences:
    """The places that differ between two versions of a value."""

    written: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)


def differences(old: Any, new: Any, structure: Structure) -> Differences:
    """Return the places that were set anew or differently, and those that are gone."""
    found = Differences()
    _compare(old, new, structure, (), found)
    return found


def merged(live: Any, applied: Any, structure: Structure) -> Any:
    """Return the live value with the applied one laid over it."""
    match structure.shape:
        case Shape.STRUCT | Shape.MAP | Shape.UNKNOWN if _both(dict, live, applied):
            result = dict(live)
            for name, value in applied.items():
                result[name] = merged(live.get(name), value, child(structure, name))
            return result
        case Shape.LIST_MAP if _both(list, live, applied):
            return _merged_keyed(live, applied, structure)
        case Shape.LIST_SET if _both(list, live, applied):
            return [*live, *(member for member in applied if member not in live)]
        case _:
            return applied


def without(value: Any, path: Path, structure: Structure) -> Any:
    """Return the value with one place removed; containers that were there stay."""
    first, *rest = path
    if isinstance(value, dict) and first.startswith("f:"):
        name = first[2:]
        if name not in value:
            return value
        if rest:
            return {**value, name: without(value[name], tuple(rest), child(structure, name))}
        return {k: v for k, v in value.items() if k != name}
    if isinstance(value, list):
        return _list_without(value, first, tuple(rest), structure)
    return value


def child(structure: Structure, name: str) -> Structure:
    """Return how a field merges; one that no schema names merges freely."""
    return structure.child(name) or FREE


def to_fields_v1(paths: Iterable[Path]) -> Json:
    """Write a set of places as Kubernetes does in managedFields."""
    root: Json = {}
    for path in sorted(paths):
        place = root
        for element in path:
            place = place.setdefault(element, {})
        place.setdefault(_ITEM, {})
    return _without_lonely_dots(root)


def from_fields_v1(fields: Mapping[str, Any]) -> set[Path]:
    """Read a set of places back."""
    found: set[Path] = set()
    _collect(fields, (), found)
    return found


def is_within(path: Path, outer: Path) -> bool:
    """Tell whether a place is another one or lies inside it."""
    return path[: len(outer)] == outer


def item_key(item: Any, structure: Structure) -> str:
    """Return the path element of an item of a keyed list."""
    defaults = structure.key_defaults
    keys = {key: item.get(key, defaults.get(key)) for key in structure.keys}
    return f"k:{_text({k: v for k, v in sorted(keys.items()) if v is not None})}"


def _compare(old: Any, new: Any, structure: Structure, path: Path, found: Differences) -> None:
    """Walk only where the two differ: most of an object is the same from one version to the next."""
    if old == new:
        return
    granular = structure.shape in {Shape.STRUCT, Shape.MAP, Shape.UNKNOWN}
    if granular and _both(dict, old, new) and old and new:
        for name in {**old, **new}:
            where, inner = (*path, f"f:{name}"), child(structure, name)
            if name not in old:
                found.written.update(flat(new[name], inner, where))
            elif name not in new:
                found.removed.update(flat(old[name], inner, where))
            else:
                _compare(old[name], new[name], inner, where, found)
        return
    was, now = flat(old, structure, path), flat(new, structure, path)
    found.written.update(p for p in now if p not in was or was[p] != now[p])
    found.removed.update(p for p in was if p not in now)


def _flat_object(value: Json, structure: Structure, path: Path) -> dict[Path, Any]:
    if not value and path:
        return {path: value}
    places: dict[Path, Any] = {}
    for name, inner in value.items():
        places.update(flat(inner, child(structure, name), (*path, f"f:{name}")))
    return places


def _flat_keyed(value: list[Any], structure: Structure, path: Path) -> dict[Path, Any]:
    if not value:
        return {path: value}
    places: dict[Path, Any] = {}
    for item in value:
        where = (*path, item_key(item, structure))
        places[where] = True  # that the item is there at all
        places.update(_flat_object(item, structure.items or FREE, where))
    return places


def _merged_keyed(live: list[Any], applied: list[Any], structure: Structure) -> list[Any]:
    laid = {item_key(item, structure): item for item in applied}
    result = []
    for item in live:
        over = laid.pop(item_key(item, structure), None)
        result.append(item if over is None else merged(item, over, structure.items or FREE))
    return [*result, *laid.values()]


def _list_without(value: list[Any], first: str, rest: Path, structure: Structure) -> list[Any]:
    if first.startswith("v:"):
        return [member for member in value if f"v:{_text(member)}" != first]
    items = structure.items or FREE
    result = []
    for item in value:
        if item_key(item, structure) != first:
            result.append(item)
        elif rest:
            result.append(without(item, rest, items))
    return result


def _without_lonely_dots(place: Json) -> Json:
    """Leave the dot out where nothing else is said: ``{".": {}}`` is written ``{}``."""
    if list(place) == [_ITEM]:
        return {}
    return {k: v if k == _ITEM else _without_lonely_dots(v) for k, v in place.items()}


def _collect(fields: Mapping[str, Any], path: Path, found: set[Path]) -> None:
    if not fields and path:
        found.add(path)
    for element, inner in fields.items():
        if element == _ITEM:
            found.add(path)
        else:
            _collect(inner, (*path, element), found)


def _both(kind: type, *values: object) -> bool:
    return all(isinstance(value, kind) for value in values)


def _text(value: Any) -> str:
    return encode(decode_json(encode(value))).decode()
