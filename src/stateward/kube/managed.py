"""Who manages which fields of an object: enough of it to create what is applied from then on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stateward.kube.meta import Object, ObjectMeta
from stateward.kube.resources import Resource


class OwnedMeta(ObjectMeta):
    """Metadata with what it says of managers."""

    managed_fields: tuple[dict[str, Any], ...] = ()


class Owned(Object):
    """An object of which only metadata is read, managers included."""

    metadata: OwnedMeta = OwnedMeta()


def owned(resource: Resource[Any]) -> Resource[Owned]:
    """Return a resource whose objects are read with their managers."""
    return replace(resource, type=Owned)


def just_created(metadata: OwnedMeta, manager: str) -> list[dict[str, Any]] | None:
    """Return the managers of an object that we created this moment, as if it had been applied.

    There is one; its name is that of our connection, which need not be the one that we apply by.
    """
    named = [it | {"manager": manager} for it in metadata.managed_fields]
    return as_applied(OwnedMeta(managed_fields=tuple(named)), manager)


def as_applied(metadata: OwnedMeta, manager: str) -> list[dict[str, Any]] | None:
    """Return the managers of an object that ``manager`` created, as if it had applied it.

    An apply can create an object and cannot insist on doing so; a create can, and its fields count
    as updated: an apply that no longer names one of them would not take it away. None: nothing is
    to be changed.
    """
    mine = [it for it in metadata.managed_fields if _is_by(it, manager)]
    if not any(it["operation"] == "Update" for it in mine):
        return None
    fields: dict[str, Any] = {}
    for it in mine:
        fields = _together(fields, it.get("fieldsV1") or {})
    others = [it for it in metadata.managed_fields if not _is_by(it, manager)]
    return [*others, mine[0] | {"operation": "Apply", "fieldsV1": fields}]


def _is_by(entry: dict[str, Any], manager: str) -> bool:
    return entry.get("manager") == manager and not entry.get("subresource")


def _together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of both.

    >>> _together({"f:a": {"f:b": {}}}, {"f:a": {"f:c": {}}})
    {'f:a': {'f:b': {}, 'f:c': {}}}
    """
    shared = {name: _together(one[name], it) for name, it in other.items() if name in one}
    return {**one, **other, **shared}
