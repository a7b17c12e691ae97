"""Names that an object has twice in a JSON text: the reader keeps the last and says nothing."""

from __future__ import annotations

import json
from typing import Any


class _Pairs(list[tuple[str, Any]]):
    """An object with all its names, however often they are there."""


class _Doubled(Exception):
    """There is such a name."""


def doubles(body: bytes) -> list[str]:
    """Return the names that are there twice, with their places; the text must be JSON.

    >>> doubles(b'{"a": [{"b": 1, "b": 2}]}')
    ['a[0].b']
    """
    try:
        _checking.decode(body.decode())
    except _Doubled:
        # Rare enough to read it once more, and remember where everything was.
        return _found(json.loads(body, object_pairs_hook=_Pairs), "")
    return []


def _check(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _Doubled


_checking = json.JSONDecoder(object_pairs_hook=_check)


def _found(value: Any, path: str) -> list[str]:
    found: list[str] = []
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, inner in value:
            where = f"{path}.{name}" if path else name
            if name in seen:
                found.append(where)
            seen.add(name)
            found += _found(inner, where)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            found += _found(inner, f"{path}[{place}]")
    return found
