"""Recorded statuses of a real FoundationDB, and ways to break them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from msgspec import UnsetType

from stateward.core.facts import Known
from stateward.fdb.status.document import Document
from stateward.fdb.status.reading import Status, read

FOLDER = Path(__file__).parents[1] / "recordings" / "fdb" / "status"
NAMES = sorted(it.stem for it in FOLDER.glob("*.json"))


@cache
def text(name: str) -> bytes:
    """Return a recording as it was printed."""
    return (FOLDER / f"{name}.json").read_bytes()


@cache
def recorded(name: str) -> Status:
    """Return a recording, read."""
    return read(text(name), 0.0)


def document(name: str) -> dict[str, Any]:
    """Return a recording as a fresh tree that may be changed."""
    found: dict[str, Any] = json.loads(text(name))
    return found


def short(fact: Any) -> Any:
    """Return the value of a fact, or "?"."""
    return fact.value if isinstance(fact, Known) else "?"


# -------------------------------------------------------------------------- ways to break them

#: One value of every type, and odd ones; ``...`` stands for none at all.
VALUES = (..., None, "", "x", 0, 1, -1, 1.5, True, False, [], {}, [None], {"x": None})


def places(value: Any, kind: Any = Document) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a tree that we read: the object or list around it, and its key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        inside = _kind_of(kind, key)
        if inside is not None:
            yield value, key
            if isinstance(inner, dict | list) and inside is not Any:
                yield from places(inner, inside)


@cache
def _kind_of(kind: Any, key: Any) -> Any:
    """Return the type that we read at a key; None: we do not."""
    if get_origin(kind) in (list, dict):
        return get_args(kind)[-1]
    found = [it.type for it in msgspec.structs.fields(kind) if it.encode_name == key]
    return next((it for one in found for it in get_args(one) if it is not UnsetType), None)


def breaks(around: Any, key: Any) -> list[Any]:
    """Return what can be put at a place so that it is missing or of another type."""
    return [it for it in VALUES if _type(it) != _type(around[key])][isinstance(around, list) :]


def put(around: Any, key: Any, value: Any) -> None:
    """Put something at a place."""
    if value is ...:
        del around[key]
    else:
        around[key] = value


def alike(tree: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield objects of a tree with the keys that we read, one of those that have the same."""
    seen, found = set(), {}
    for around, key in places(tree):
        if isinstance(around, dict):
            found.setdefault(id(around), (around, []))[1].append(key)
    for around, keys in found.values():
        if tuple(keys) not in seen:
            seen.add(tuple(keys))
            yield around, keys


@st.composite
def mangled(draw: st.DrawFn, whole: bytes) -> bytes:
    """Return a status in which some things are missing, null or of another type.

    Often more than one of the same object: what belongs together is lost together.
    """
    tree = json.loads(whole)
    every = list(places(tree))
    for place in draw(st.sets(st.integers(0, len(every) - 1), min_size=1, max_size=2)):
        around, key = every[place]
        others = sorted(it for other, it in every if other is around and it != key)
        more = draw(st.sets(st.sampled_from(others), max_size=2)) if others else set()
        for it in (key, *sorted(more)):
            if isinstance(around, list) or it in around:
                put(around, it, draw(st.sampled_from(breaks(around, it))))
    return json.dumps(tree).encode()


def _type(value: Any) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__
