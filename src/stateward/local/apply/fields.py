"""Objects as sets of places: the arithmetic under server-side apply.

How deep places go follows the structure of the kind: what is replaced whole is one place. The rules
are those of structured-merge-diff, the library in kube-apiserver; ``tests/contract`` holds them
against the real one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from stateward.kube.codec import Json, encode
from stateward.kube.structure import Shape, Structure
from stateward.local.apply.paths import ITEM, Path, tree

#: Objects merge key by key, lists are replaced whole: what holds where no schema is known.
FREE = Structure(Shape.UNKNOWN)

_LEAF = Structure(Shape.SCALAR)
_ABSENT = object()


@dataclass(slots=True)
class Differences:
    """The places that differ between two versions of a value."""

    written: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)


def places(value: Any, structure: Structure) -> set[Path]:
    """Return the places that somebody names who writes this value.

    What a schema names and what only holds other places is not one of them.
    """
    found: set[Path] = set()
    _gather(value, structure, (), found, holders=False)
    return found


def differences(old: Any, new: Any, structure: Structure) -> Differences:
    """Return the places that were set anew or differently, and those that are gone.

    Here what only holds other places counts, if it came or went as a whole.
    """
    found = Differences()
    _compare(old, new, structure, (), found)
    return found


def merged(live: Any, applied: Any, structure: Structure) -> Any:
    """Return the live value with the applied one laid over it."""
    if not (_has_parts(live, structure) and _has_parts(applied, structure)):
        return applied
    if not applied:
        return live or applied
    if isinstance(applied, list):
        return _merged_list(live or [], applied, structure)
    result = dict(live or {})
    for name, inner in applied.items():
        result[name] = merged(result.get(name), inner, child(structure, name))
    return result


def without(value: Any, paths: Iterable[Path], structure: Structure) -> Any:
    """Return the value with some places removed; what held them stays, unless it is one of them."""
    return _pruned(value, tree(paths), structure)


def released(value: Any, last: Set[Path], held: Set[Path], structure: Structure) -> Any:
    """Return the value without what somebody held last, as far as nobody holds it now.

    What held it goes too, if a schema names it and nothing is left in it.
    """
    if last <= held:
        return value
    everything = named(places(value, structure), structure)
    let_go = named(last, structure)
    rest = places(without(value, let_go, structure), structure)
    kept = named(rest, structure) | named(held, structure)
    left = places(without(value, everything - kept, structure), structure)
    return without(value, (everything - named(left, structure)) & let_go, structure)


def named(paths: Iterable[Path], structure: Structure) -> set[Path]:
    """Return the places and all those around them that a schema names."""
    found = set(paths)
    for path in tuple(found):
        around = structure
        for depth, element in enumerate(path, 1):
            if element.startswith("f:") and element[2:] in around.names:
                found.add(path[:depth])
            around = _inside(around, element)
    return found


def path_to(value: Any, way: Iterable[str | int], structure: Structure) -> Path:
    """Return the path to a place, where items of keyed lists go by their keys."""
    path: list[str] = []
    for step in way:
        if isinstance(step, str):
            path.append(f"f:{step}")
            value, structure = (value or {}).get(step), child(structure, step)
            continue
        keyed = bool(value) and structure.shape is Shape.LIST_MAP and _has_parts(value, structure)
        path.append(_element(value[step], structure) if keyed else f"i:{step}")
        value, structure = value[step], structure.items or FREE
    return tuple(path)


def doubled(value: Any, structure: Structure, path: Path = ()) -> Iterator[Path]:
    """Yield the items of keyed lists and sets that are there more than once."""
    if not value or not _has_parts(value, structure):
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                yield from doubled(inner, child(structure, name), (*path, f"f:{name}"))
        return
    for element, same in _groups(value, structure).items():
        if len(same) > 1:
            yield (*path, element)
        elif isinstance(same[0], dict):
            yield from doubled(same[0], structure.items or FREE, (*path, element))


def child(structure: Structure, name: str) -> Structure:
    """Return how a field merges; one that no schema names merges freely."""
    return structure.child(name) or FREE


# ------------------------------------------------------------------ values and their parts
def _has_parts(value: Any, structure: Structure) -> bool:
    """Tell whether a value is not replaced whole. Null stands for anything with nothing in it."""
    shape = structure.shape
    if shape is Shape.STRUCT or shape is Shape.MAP or shape is Shape.UNKNOWN:
        return value is None or isinstance(value, dict)
    if shape is Shape.LIST_SET:
        return value is None or isinstance(value, list)
    if shape is Shape.LIST_MAP:
        return value is None or (
            isinstance(value, list) and all(isinstance(item, dict) for item in value)
        )
    return False


def _parts(value: Any, structure: Structure) -> dict[str, tuple[Any, Structure]] | None:
    """Return what a value consists of, and how that merges; None when it is replaced whole."""
    if not _has_parts(value, structure):
        return None
    if not value:
        return {}
    if isinstance(value, dict):
        return {f"f:{name}": (inner, child(structure, name)) for name, inner in value.items()}
    items = (structure.items or FREE) if structure.shape is Shape.LIST_MAP else _LEAF
    groups = _groups(value, structure).items()
    return {it: (same[0], items) if len(same) == 1 else (same, _LEAF) for it, same in groups}


def _groups(value: list[Any], structure: Structure) -> dict[str, list[Any]]:
    """Return the items by their path element. Two of one element are nonsense, but may be there."""
    groups: dict[str, list[Any]] = {}
    for item in value:
        groups.setdefault(_element(item, structure), []).append(item)
    return groups


def _element(item: Any, structure: Structure) -> str:
    if structure.shape is Shape.LIST_SET:
        return f"v:{_text(item)}"
    defaults = structure.key_defaults
    keys = {key: item.get(key, defaults.get(key)) for key in sorted(structure.keys)}
    return f"k:{_text({k: v for k, v in keys.items() if v is not None})}"


def _inside(structure: Structure, element: str) -> Structure:
    return child(structure, element[2:]) if element.startswith("f:") else structure.items or FREE


# ------------------------------------------------------------------ gathering and comparing
def _gather(
    value: Any, structure: Structure, path: Path, found: set[Path], *, holders: bool
) -> None:
    if isinstance(value, dict) and _has_parts(value, structure):
        _gather_fields(value, structure, path, found, holders=holders)
        return
    parts = _parts(value, structure)
    if parts is None:
        found.add(path)
        return
    for element, (inner, how) in parts.items():
        where = (*path, element)
        _gather(inner, how, where, found, holders=holders)
        if holders or _is_said(element, inner, structure):
            found.add(where)


def _gather_fields(
    value: Json, structure: Structure, path: Path, found: set[Path], *, holders: bool
) -> None:
    for name, inner in value.items():
        element = f"f:{name}"
        where = (*path, element)
        if _is_plain(inner):
            found.add(where)  # most fields are, and how they merge does not matter then
            continue
        _gather(inner, child(structure, name), where, found, holders=holders)
        if holders or _is_said(element, inner, structure):
            found.add(where)


def _is_said(element: str, inner: Any, structure: Structure) -> bool:
    """Tell whether a place that holds others, or nothing, is named by who writes it."""
    if not element.startswith("f:") or element[2:] not in structure.names:
        return True  # an item, or a key of their own choice
    return inner is None or inner == {}


def _compare(old: Any, new: Any, structure: Structure, path: Path, found: Differences) -> None:
    """Walk only where the two differ: most of an object is the same as before."""
    if old == new and encode(old) == encode(new):  # to Python, true is 1
        return
    if _is_filled(old) and _is_filled(new) and _has_parts(new, structure):
        _compare_fields(old, new, structure, path, found)
        return
    was, now = _parts(old, structure), _parts(new, structure)
    if (was is None or now is None or not (was or now)) and path:
        found.written.add(path)
    was, now = was or {}, now or {}
    for element in {**was, **now}:
        where = (*path, element)
        if element not in was:
            _gather_whole(now[element], where, found.written)
        elif element not in now:
            _gather_whole(was[element], where, found.removed)
        else:
            _compare(was[element][0], now[element][0], now[element][1], where, found)


def _compare_fields(
    old: Json, new: Json, structure: Structure, path: Path, found: Differences
) -> None:
    for name in {**old, **new}:
        was, now = old.get(name, _ABSENT), new.get(name, _ABSENT)
        if was is now:
            continue
        where = (*path, f"f:{name}")
        if was is _ABSENT:
            _gather_whole((now, child(structure, name)), where, found.written)
        elif now is _ABSENT:
            _gather_whole((was, child(structure, name)), where, found.removed)
        elif not (_is_plain(was) and _is_plain(now)):
            _compare(was, now, child(structure, name), where, found)
        elif was != now or type(was) is not type(now):  # to Python, true is 1
            found.written.add(where)


def _is_filled(value: Any) -> bool:
    return bool(value) and isinstance(value, dict)


def _is_plain(value: Any) -> bool:
    """Tell whether a value has no parts, however its place merges."""
    return value is not None and not isinstance(value, dict | list)


def _gather_whole(part: tuple[Any, Structure], path: Path, found: set[Path]) -> None:
    found.add(path)
    _gather(*part, path, found, holders=True)


# ------------------------------------------------------------------ lists
def _merged_list(live: list[Any], applied: list[Any], structure: Structure) -> list[Any]:
    under, over = _groups(live, structure), _groups(applied, structure)
    items = structure.items or FREE
    result: list[Any] = []
    for element in _interleaved(under, over):
        if element not in over:
            result.extend(under[element])
        elif structure.shape is Shape.LIST_MAP and len(under.get(element, ())) == 1:
            result.append(merged(under[element][0], over[element][-1], items))
        else:
            result.append(over[element][-1])
    return result


def _interleaved(live: Mapping[str, Any], applied: Mapping[str, Any]) -> list[str]:
    """Return the elements of both lists; the applied one decides the order of those in both."""
    shared = deque(element for element in applied if element in live)
    rest = deque(applied)
    order = []
    for element in live:
        if element not in applied:
            order.append(element)
        elif shared and element == shared[0]:
            while rest[0] != element:
                order.append(rest.popleft())
            order.append(rest.popleft())
            shared.popleft()
    return [*order, *rest]


def _pruned(value: Any, gone: Json, structure: Structure) -> Any:
    if not gone or not value or not _has_parts(value, structure):
        return value
    if isinstance(value, dict):
        return {
            name: _pruned(inner, gone.get(f"f:{name}", {}), child(structure, name))
            for name, inner in value.items()
            if ITEM not in gone.get(f"f:{name}", {})
        }
    fates = [(item, gone.get(_element(item, structure), {})) for item in value]
    items = structure.items or FREE
    return [_pruned(item, fate, items) for item, fate in fates if ITEM not in fate]


def _text(value: Any) -> str:
    return encode(value).decode()
