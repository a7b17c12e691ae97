"""Merge patches (RFC 7386) and JSON patches (RFC 6902) as functions on plain JSON values.

The embedded API server applies what clients send; controllers compute the smallest patch that says
what they mean. Nothing here changes its arguments, and what is returned shares no part with them,
unless it says so: the caller may keep one and change the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from stateward.kube.codec import Json, encode

#: Bytes that all ``copy`` of a patch may add together: a few of them can double a document until no
#: machine has room for it.
COPIES_LIMIT = 3 * 1024 * 1024

_BROKEN_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"[-+]?[0-9]{1,9}")


class PatchError(ValueError):
    """A patch that cannot be applied or written: where, and what must be true there."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"at {path!r}: {problem}")
        self.path = path
        self.problem = problem


def merge_patch(target: Any, patch: Any) -> Any:
    """Return the target with what the patch names set, and what it names as null removed.

    >>> merge_patch({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": 4}})
    {'b': {'c': 4, 'd': 3}}
    """
    return _fresh(overlaid(target, patch))


def overlaid(target: Any, patch: Any) -> Any:
    """Return the same as :func:`merge_patch`, sharing parts with both: for who copies it anyway."""
    if not isinstance(patch, dict):
        return patch
    base = target if isinstance(target, dict) else {}
    return {
        name: overlaid(base.get(name), value) if name in patch else value
        for name, value in (base | patch).items()
        if value is not None or name not in patch
    }


def merge_diff(old: Any, new: Any) -> Any:
    """Return the smallest merge patch that makes ``new`` of ``old``.

    In a merge patch null means "remove", so no patch can set a member to null: a null that is new
    in an object raises :class:`PatchError`. One that was there before may stay, and nulls inside
    lists are fine, because lists are replaced as a whole.

    >>> merge_diff({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4, "d": 3}})
    {'a': None, 'b': {'c': 4}}
    """
    return None if new is None else _diff(old, new, "")


def json_patch(target: Any, operations: Iterable[Json]) -> Any:
    """Return the target after all operations in turn; raise :class:`PatchError` if one fails.

    >>> json_patch({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}])
    {'a': [1, 2, 3]}
    """
    # The document hangs in an object of its own under the name "", which is also what a pointer has
    # before its first slash: so even the whole document has a parent in which it can be replaced.
    root: Json = {"": _fresh(target)}
    copied = 0
    for operation in operations:
        if not isinstance(operation, dict):
            raise PatchError("", f"an operation must be an object, got {operation!r}")
        copied += _apply(root, operation)
        if copied > COPIES_LIMIT:
            raise PatchError(
                operation["path"], f"all copies together must have at most {COPIES_LIMIT} bytes"
            )
    if "" not in root:
        raise PatchError("", "the operations must leave a document behind")
    return root[""]


def same(a: Any, b: Any) -> bool:
    """Tell whether two values are equal as JSON, where ``true`` is not 1 (to Python it is).

    >>> same({"n": 1}, {"n": 1.0}), same([1], [True])
    (True, False)
    """
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _fresh(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _fresh(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_fresh(item) for item in value]
    return value


def _diff(old: Any, new: Any, path: str) -> Any:
    if new is None:
        raise PatchError(path, "must have a value, because a merge patch cannot set null")
    if not isinstance(new, dict):
        return _fresh(new)
    base = old if isinstance(old, dict) else {}
    patch: Json = {name: None for name in base if name not in new}
    for name, value in new.items():
        if name not in base or not same(base[name], value):
            patch[name] = _diff(base.get(name), value, f"{path}/{_escaped(name)}")
    return patch


def _apply(root: Json, operation: Json) -> int:
    """Carry out one operation; return how many bytes it copied."""
    path = _pointer(operation, "path")
    match operation.get("op"):
        case "add":
            _add(root, path, _fresh(operation.get("value")))
        case "remove":
            _take(root, path)
        case "replace":
            _replace(root, path, operation.get("value"))
        case "move":
            _move(root, _pointer(operation, "from"), path)
        case "copy":
            return _copy(root, _pointer(operation, "from"), path)
        case "test":
            _test(root, path, operation.get("value"))
        case other:
            raise PatchError(
                path, f"op must be add, remove, replace, move, copy or test, got {other!r}"
            )
    return 0


def _get(root: Json, path: str) -> Any:
    parent, token = _parent(root, path)
    return parent[_place(parent, token, path)]


def _add(root: Json, path: str, value: Any) -> None:
    parent, token = _parent(root, path)
    if isinstance(parent, dict):
        parent[token] = value
    elif isinstance(parent, list):
        at = len(parent) if token == "-" else _index(token, len(parent) + 1, path)  # noqa: S105
        parent.insert(at, value)
    else:
        raise PatchError(path, "must lie in an object or a list")


def _take(root: Json, path: str) -> Any:
    parent, token = _parent(root, path)
    place = _place(parent, token, path)
    return parent.pop(place)


def _replace(root: Json, path: str, value: Any) -> None:
    """Set what is there; a member that an object lacks is added, which the RFC forbids and
    Kubernetes does.
    """
    parent, token = _parent(root, path)
    place = token if isinstance(parent, dict) else _place(parent, token, path)
    parent[place] = _fresh(value)


def _move(root: Json, source: str, path: str) -> None:
    if path.startswith(f"{source}/"):
        raise PatchError(path, f"must lie outside of what is moved, {source!r}")
    _add(root, path, _take(root, source))


def _copy(root: Json, source: str, path: str) -> int:
    found = _get(root, source)
    _add(root, path, _fresh(found))
    return len(encode([found]))


def _test(root: Json, path: str, value: Any) -> None:
    parent, token = _parent(root, path)
    if value is None and isinstance(parent, dict) and token not in parent:
        return  # what is not there is null
    # The values stay out of the message: the document may be a secret.
    if not same(parent[_place(parent, token, path)], value):
        raise PatchError(path, "must equal the tested value")


def _parent(root: Json, path: str) -> tuple[Any, str]:
    """Return what holds the value that the pointer names, and the last part of the pointer."""
    *way, last = (_unescaped(token) for token in path.split("/"))
    parent: Any = root
    for token in way:
        parent = parent[_place(parent, token, path)]
    return parent, last


def _place(parent: Any, token: str, path: str) -> Any:
    """Return the key or index of a value that is there."""
    if isinstance(parent, list):
        return _index(token, len(parent), path)
    if not isinstance(parent, dict) or token not in parent:
        raise PatchError(path, f"must exist, and {token!r} does not")
    return token


def _index(token: str, bound: int, path: str) -> int:
    """Return a place in a list; as with Kubernetes, one below zero counts from the end."""
    if not _INDEX.fullmatch(token):
        raise PatchError(path, f"an index must be a whole number, got {token!r}")
    if not -bound <= int(token) < bound:
        raise PatchError(path, f"an index must be below {bound} here, got {token}")
    return int(token) % bound


def _pointer(operation: Json, name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise PatchError("", f"an operation must have a {name}, got {pointer!r}")
    if pointer and not pointer.startswith("/"):
        raise PatchError(pointer, f"{name} must be empty or begin with '/'")
    if _BROKEN_ESCAPE.search(pointer):
        raise PatchError(pointer, f"{name} must write '~' as '~0' and '/' as '~1'")
    return pointer


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(token: str) -> str:
    # In this order, or "~01" would become a slash.
    return token.replace("~1", "/").replace("~0", "~")
