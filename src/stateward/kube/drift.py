"""Is an object still what we want? Pure.

Only what the wanted document names is looked at: what a server filled in, and what others added
beside it, is no drift. What is *no longer* wanted cannot be seen that way, so a wanted document
carries a hash of itself (:func:`sealed`): as soon as it says something else, the hash differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from stateward.core.naming import short_hash
from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.patch import same
from stateward.kube.structure import Shape, Structure, structure_of_kind

#: The annotation with the hash of what was applied.
APPLIED: Final = "stateward.dev/applied"

#: Fields that are amounts, or hold amounts by name: ``1000m`` is ``1`` there, and only there.
_AMOUNTS: Final = frozenset(
    {"requests", "limits", "sizeLimit", "divisor", "capacity", "overhead", "allocatedResources"}
)
#: Lists leave these out, and an object does not change its kind.
_KIND: Final = frozenset({"apiVersion", "kind"})


def sealed(wanted: Json) -> Json:
    """Return the document with the hash of itself as an annotation; sealing twice changes nothing.

    >>> sealed({"data": {"a": "1"}})["metadata"]["annotations"]
    {'stateward.dev/applied': '3218bc4f76'}
    """
    metadata = wanted.get("metadata") or {}
    annotations = (metadata.get("annotations") or {}) | {APPLIED: seal_of(wanted)}
    return wanted | {"metadata": metadata | {"annotations": annotations}}


def seal_of(wanted: Json) -> str:
    """Return the hash of a document, whether it is sealed or not."""
    metadata = dict(wanted.get("metadata") or {})
    given = metadata.pop("annotations", None) or {}
    if annotations := {name: value for name, value in given.items() if name != APPLIED}:
        metadata["annotations"] = annotations
    rest = {name: value for name, value in wanted.items() if name != "metadata"}
    return short_hash(rest | ({"metadata": metadata} if metadata else {}))


def seal_on(wanted: Json) -> str:
    """Return the hash that a sealed document carries; it must not have changed since.

    For a document that nobody sealed, it is made.
    """
    annotations = (wanted.get("metadata") or {}).get("annotations") or {}
    carried: str | None = annotations.get(APPLIED)
    return seal_of(wanted) if carried is None else carried


def differs(live: Json, wanted: Json) -> bool:
    """Tell whether anything that is wanted is not so."""
    return difference(live, wanted) is not None


def difference(live: Json, wanted: Json) -> str | None:
    """Return the first place where an object is not as wanted, as in ``spec.ports[0].port``.

    None: it is as wanted. Nothing, an empty text, list or object, ``false`` and ``0`` are the same
    as absence, because a server may drop them; null says nothing.

    >>> difference({"spec": {"replicas": 2, "paused": True}}, {"spec": {"replicas": 3}})
    'spec.replicas'
    """
    named = {name: value for name, value in wanted.items() if name not in _KIND}
    return _of_any(live, named, _Place(_structure_of(wanted)))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where we are in a document, and by which rules values are the same there."""

    structure: Structure | None
    path: str = ""
    #: Whether all here belongs to whoever wrote it: what others added is drift too.
    whole: bool = False
    #: Whether texts and numbers here are amounts.
    amount: bool = False

    def below(self, name: str) -> _Place:
        path = f"{self.path}.{name}" if self.path else name
        if self.structure is None:
            return _Place(None, path, self.whole, self.amount)
        inner = self.structure.child(name)
        free = self.structure.shape is Shape.MAP
        amount = self.amount if free else name in _AMOUNTS and name in self.structure.names
        return self._inside(inner, path, amount=amount)

    def item(self, index: int) -> _Place:
        inner = self.structure.items if self.structure is not None else None
        return self._inside(inner, f"{self.path}[{index}]", amount=self.amount)

    def _inside(self, structure: Structure | None, path: str, *, amount: bool) -> _Place:
        atomic = structure is not None and structure.shape is Shape.ATOMIC_MAP
        return _Place(structure, path, self.whole or atomic, amount)

    @property
    def has_free_keys(self) -> bool:
        return self.structure is not None and not self.structure.names


def _structure_of(document: Json) -> Structure | None:
    group, _, version = str(document.get("apiVersion", "")).rpartition("/")
    return structure_of_kind(group, version, str(document.get("kind", "")))


def _of_any(live: Any, wanted: Any, place: _Place) -> str | None:
    match wanted:
        case None:
            return None
        case dict():
            found = {} if live is None else live
            return _of_object(found, wanted, place) if isinstance(found, dict) else place.path
        case list() | tuple():
            items = [] if live is None else live
            return _of_list(items, list(wanted), place) if isinstance(items, list) else place.path
        case _:
            return None if _is_same(live, wanted, place) else place.path


def _of_object(live: Json, wanted: Json, place: _Place) -> str | None:
    if place.whole and place.has_free_keys and live.keys() - wanted.keys():
        return place.path
    for name, it in wanted.items():
        there = live.get(name)
        if isinstance(it, str) and it == there:
            continue  # most that is wanted are texts, and most are as they should be
        if (path := _of_any(there, it, place.below(name))) is not None:
            return path
    return None


def _of_list(live: list[Any], wanted: list[Any], place: _Place) -> str | None:
    shape = place.structure.shape if place.structure is not None else Shape.LIST_ATOMIC
    if shape is Shape.LIST_SET:
        return None if all(any(same(it, one) for one in live) for it in wanted) else place.path
    keyed = shape is Shape.LIST_MAP
    if len(live) != len(wanted) and not (keyed and not place.whole):
        return place.path
    for index, item in enumerate(wanted):
        other = _counterpart(live, item, place.structure) if keyed else live[index]
        if other is None and item is not None:
            return place.item(index).path
        if (path := _of_any(other, item, place.item(index))) is not None:
            return path
    return None


def _counterpart(live: list[Any], wanted: Any, structure: Structure | None) -> Any:
    """Return the item that is told apart by the same keys, or None."""
    if structure is None or not isinstance(wanted, dict):
        return None

    def identity(item: Json) -> list[str]:
        return [str(item.get(key, structure.key_defaults.get(key, ""))) for key in structure.keys]

    mine = identity(wanted)
    return next((it for it in live if isinstance(it, dict) and identity(it) == mine), None)


def _is_same(live: Any, wanted: Any, place: _Place) -> bool:
    if live is None:
        return not wanted
    if isinstance(live, dict | list):
        return False
    if same(live, wanted):
        return True
    if isinstance(live, bool) or isinstance(wanted, bool):
        return False
    if place.amount:
        return same(_amount(live), _amount(wanted))
    # A port or a share may be a number or a text; a number is never another text.
    return isinstance(live, str) != isinstance(wanted, str) and str(live) == str(wanted)


def _amount(value: Any) -> int | str:
    """Return an amount in billionths; what is none stays the text that it is."""
    try:
        return Quantity.parse(str(value)).nano
    except ValueError:
        return str(value)
