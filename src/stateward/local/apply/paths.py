"""Places in objects, and how Kubernetes writes them.

A place is a path of elements as in managedFields: ``f:name`` for a field, ``k:{"name":"a"}`` for
the item of a keyed list, ``v:"x"`` for a member of a set, ``i:0`` for an item of any other list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from stateward.core.errors import PeerConfused
from stateward.kube.codec import Json, decode_json, encode

Path: TypeAlias = tuple[str, ...]

#: The place itself, beside the places inside it.
ITEM: Final = "."


def to_fields_v1(paths: Iterable[Path]) -> Json:
    """Write a set of places as Kubernetes does in managedFields."""
    return _without_lonely_dots(tree(sorted(paths)))


def from_fields_v1(fields: Mapping[str, Any]) -> set[Path]:
    """Read a set of places back."""
    found: set[Path] = set()
    _collect(fields, (), found)
    return found


def is_fields_v1(value: Any) -> bool:
    """Tell whether a value is a set of places as Kubernetes writes it."""
    if not isinstance(value, dict):
        return False
    return all(_is_element(it) and is_fields_v1(inner) for it, inner in value.items())


def outer_first(path: Path) -> tuple[tuple[bool, str], ...]:
    """Return a key to sort places by: what lies in a place comes after all that lies beside it."""
    last = len(path) - 1
    return tuple((place < last, element) for place, element in enumerate(path))


def dotted(path: Path) -> str:
    """Write a place for people.

    >>> dotted(("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name"))
    '.spec.ports[port=80,protocol="TCP"].name'
    """
    words = []
    for element in path:
        kind, _, text = element.partition(":")
        match kind:
            case "f":
                words.append(f".{text}")
            case "k":
                keys = decode_json(text).items()
                words.append(
                    f"[{','.join(f'{key}={encode(value).decode()}' for key, value in keys)}]"
                )
            case "i":
                words.append(f"[{text}]")
            case _:
                words.append(f"[={text}]")
    return "".join(words)


def _is_element(element: str) -> bool:
    kind, _, text = element.partition(":")
    if kind in {"v", "k"}:
        try:
            return isinstance(decode_json(text), dict) or kind == "v"
        except PeerConfused:
            return False
    return element == ITEM or kind in {"f", "i"}


def tree(paths: Iterable[Path]) -> Json:
    """Return a set of places as a tree; the dot marks those that are in the set."""
    root: Json = {}
    for path in paths:
        place = root
        for element in path:
            place = place.setdefault(element, {})
        place.setdefault(ITEM, {})
    return root


def _without_lonely_dots(place: Json) -> Json:
    """Leave the dot out where nothing else is said, in place: ``{".": {}}`` is written ``{}``."""
    for element, inner in place.items():
        if element == ITEM:
            continue
        if len(inner) == 1 and ITEM in inner:
            place[element] = {}
        else:
            _without_lonely_dots(inner)
    return {} if list(place) == [ITEM] else place


def _collect(fields: Mapping[str, Any], path: Path, found: set[Path]) -> None:
    if not fields and path:
        found.add(path)
    for element, inner in fields.items():
        if element == ITEM:
            found.add(path)
        else:
            _collect(inner, (*path, element), found)
