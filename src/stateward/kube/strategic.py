"""Strategic merge patches: merge patches that know which lists have keys.

The schema says how a list merges: item by item with a key, as a set, or whole. Directives in the
patch say otherwise for one place. Only Kubernetes' own kinds have such schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.patch import PatchError, same
from stateward.kube.structure import Structure

_DIRECTIVE: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_DELETE_PREFIX: Final = "$deleteFromPrimitiveList/"
_ORDER_PREFIX: Final = "$setElementOrder/"


@dataclass(frozen=True, slots=True)
class StrategicPatch:
    """What is named is set, what is null is removed, and lists merge as their schema says."""

    body: Json


class Unretainable(PatchError):
    """A patch that does not say clearly what shall stay: a bad request, to a real server."""


def strategic_patch(target: Json, patch: Json, structure: Structure) -> Json:
    """Return the target with the patch laid over it; neither is changed."""
    merged = _merged_object(target, patch, structure, "")
    return {} if merged is None else merged


def _merged_object(
    target: Json, patch: Json, structure: Structure | None, path: str
) -> Json | None:
    """Return an object as patched, or None when the patch deletes it."""
    match patch.get(_DIRECTIVE):
        case None:
            pass
        case "replace":
            return {name: value for name, value in patch.items() if name != _DIRECTIVE}
        case "delete":
            return None
        case other:
            raise PatchError(path, f"$patch must be replace or delete, got {other!r}")
    result = dict(target)
    _retain(result, patch, path)
    for name, value in patch.items():
        if not name.startswith("$"):
            inner = structure.child(name) if structure is not None else None
            _set(result, name, value, inner, f"{path}/{name}")
    for directive in patch.items():
        _check_order(patch, directive, structure, path)
        _direct(result, target, directive, structure, path)
    return result


def _retain(result: Json, patch: Json, path: str) -> None:
    if _RETAIN not in patch:
        return
    kept, said = patch[_RETAIN], {name for name in patch if not name.startswith("$")}
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise Unretainable(path, f"{_RETAIN} must be a list of names, got {kept!r}")
    if said - set(kept):
        raise Unretainable(path, f"{_RETAIN} must name all that is set, got {kept!r}")
    for name in result.keys() - set(kept):
        del result[name]


def _set(result: Json, name: str, value: Any, structure: Structure | None, path: str) -> None:
    if value is None:
        result.pop(name, None)
        return
    merged = _merged(result.get(name), value, structure, path)
    if merged is None:
        result.pop(name, None)
    else:
        result[name] = merged


def _merged(target: Any, patch: Any, structure: Structure | None, path: str) -> Any:
    if isinstance(patch, dict):
        if structure is not None and "replace" in structure.patch_strategies:
            return patch
        base = target if isinstance(target, dict) else {}
        return _merged_object(base, patch, structure, path)
    if isinstance(patch, list):
        return _merged_list(target if isinstance(target, list) else [], patch, structure, path)
    return patch


def _merged_list(
    target: list[Any], patch: list[Any], structure: Structure | None, path: str
) -> list[Any]:
    if structure is None or "merge" not in structure.patch_strategies:
        return _without_directives(patch)
    if not structure.patch_merge_key:
        merged = [*target, *(item for item in patch if not _holds(target, item))]
        return _arranged(merged, patch, target, "")
    merged = _merged_items(target, patch, structure, path)
    return _arranged(merged, patch, target, structure.patch_merge_key)


def _merged_items(
    target: list[Any], patch: list[Any], structure: Structure, path: str
) -> list[Any]:
    key, result = structure.patch_merge_key, list(target)
    if any(_directive(item) == "replace" for item in patch):
        return _without_directives(patch)
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise PatchError(path, f"every item must have its merge key {key!r}, got {item!r}")
        at = [place for place, one in enumerate(result) if _is_item(one, key, item[key])]
        if _directive(item) == "delete":
            result = [one for place, one in enumerate(result) if place not in at]
        elif at:
            result[at[0]] = _merged_object(result[at[0]], item, structure.items, path)
        else:
            result.append(_merged_object({}, item, structure.items, path))
    return result


def _directive(item: Any) -> Any:
    return item.get(_DIRECTIVE) if isinstance(item, dict) else None


def _is_item(item: Any, key: str, value: Any) -> bool:
    return isinstance(item, dict) and key in item and same(item[key], value)


def _without_directives(items: list[Any]) -> list[Any]:
    return [item for item in items if _directive(item) is None]


def _direct(
    result: Json, before: Json, directive: tuple[str, Any], structure: Structure | None, path: str
) -> None:
    """Follow the directives that speak of a list beside them."""
    name, value = directive
    if name.startswith(_DELETE_PREFIX):
        gone, listed = _listed(name, value, path), name.removeprefix(_DELETE_PREFIX)
        if isinstance(kept := result.get(listed), list):
            result[listed] = [item for item in kept if not _holds(gone, item)]
    elif name.startswith(_ORDER_PREFIX):
        order, listed = _listed(name, value, path), name.removeprefix(_ORDER_PREFIX)
        if isinstance(kept := result.get(listed), list):
            how = structure.child(listed) if structure is not None else None
            key = how.patch_merge_key if how else ""
            result[listed] = _arranged(kept, order, before.get(listed) or [], key)


def _check_order(
    patch: Json, directive: tuple[str, Any], structure: Structure | None, path: str
) -> None:
    """Raise when the items of a patch come in another order than the one beside them."""
    name, order = directive
    listed = name.removeprefix(_ORDER_PREFIX)
    if listed == name or not isinstance(patch.get(listed), list) or not isinstance(order, list):
        return
    how = structure.child(listed) if structure is not None else None
    key = how.patch_merge_key if how else ""
    left = [_identity(it, key) for it in order]
    for item in _without_directives(patch[listed]):
        while left and not same(left[0], _identity(item, key)):
            left.pop(0)
        if not left:
            raise PatchError(path, f"{listed} must have the order that {name} names")


def _listed(name: str, value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise PatchError(path, f"{name} must be a list, got {value!r}")
    return value


def _arranged(items: list[Any], order: list[Any], before: list[Any], key: str) -> list[Any]:
    """Put the items that an order names into it; the others come where they stood before.

    One of the others goes ahead of a named one only if both were there before, in that order: what
    is new therefore comes first.
    """

    def places(some: list[Any]) -> Callable[[Any], int]:
        known = [_identity(it, key) for it in some]
        return lambda item: next(
            (place for place, it in enumerate(known) if same(it, _identity(item, key))), -1
        )

    wanted, stood = places(order), places(before)
    named = sorted((it for it in items if wanted(it) >= 0), key=wanted)
    result: list[Any] = []
    for other in (it for it in items if wanted(it) < 0):
        while named and not 0 <= stood(other) < stood(named[0]):
            result.append(named.pop(0))
        result.append(other)
    return [*result, *named]


def _identity(item: Any, key: str) -> Any:
    return item.get(key) if key and isinstance(item, dict) else item


def _holds(items: list[Any], wanted: Any) -> bool:
    return any(same(item, wanted) for item in items)
