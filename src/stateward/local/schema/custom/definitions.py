"""Definitions of custom kinds: which kinds they make, and what is said of them in their status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.meta import Object
from stateward.kube.resources import Resource
from stateward.kube.structure import Structure, structure_of_schema
from stateward.local.catalog import Names
from stateward.local.conditions import condition, is_true, with_condition
from stateward.local.kinds import SELECTABLE, Column, Kind, ScalePaths

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"


def kinds_of(definition: Json) -> tuple[Kind, ...]:
    """Return the kinds that a definition makes: one for each version that is served."""
    versions = definition["spec"]["versions"]
    stored = next(version["name"] for version in versions if version.get("storage"))
    return tuple(
        _kind(definition, version, stored, several=len(versions) > 1)
        for version in versions
        if version.get("served")
    )


def is_established(definition: Json) -> bool:
    """Tell whether a definition is served."""
    return is_true({"conditions": _conditions(definition)}, "Established")


def settled_status(definition: Json, others: Iterable[Json], now: float) -> Json:
    """Return what the status of a definition must be, given all the others."""
    spec, was = definition["spec"], _status(definition)
    conflicts = dict(_conflicts(spec, others))
    stored = next(version["name"] for version in spec["versions"] if version.get("storage"))
    kept = it if isinstance(it := was.get("storedVersions"), list) else []
    accepted = {"plural": "", "kind": ""} | (was.get("acceptedNames") or {})
    accepted |= {name: it for name, it in spec["names"].items() if name not in conflicts}
    if not conflicts:
        accepted = spec["names"]
        said = [
            condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
            condition(
                "Established",
                "True",
                "InitialNamesAccepted",
                "the initial names have been accepted",
            ),
        ]
    else:
        field, name = [*conflicts.items()][-1]
        reason = f"{field[0].upper()}{field[1:]}Conflict"
        said = [condition("NamesAccepted", "False", reason, f'"{name}" is already in use')]
        if not is_established(definition):
            told = "not all names are accepted"
            said.append(condition("Established", "False", "NotAccepted", told))
    conditions = _conditions(definition)
    for one in said:
        conditions = with_condition(conditions, one, now)
    return {
        **was,
        "conditions": conditions,
        "acceptedNames": accepted,
        "storedVersions": kept if stored in kept else [*kept, stored],
    }


def leaving_status(definition: Json, now: float) -> Json:
    """Return what the status of a definition must be once its end has begun."""
    told = "CustomResource deletion is in progress"
    said = condition("Terminating", "True", "InstanceDeletionInProgress", told)
    conditions = with_condition(_conditions(definition), said, now)
    return {**_status(definition), "conditions": conditions}


def _status(definition: Json) -> Json:
    found = definition.get("status")
    return found if isinstance(found, dict) else {}


def _conditions(definition: Json) -> list[Json]:
    """Return the conditions of a definition; what is none of them is left out."""
    found = _status(definition).get("conditions")
    listed = found if isinstance(found, list) else []
    return [it for it in listed if isinstance(it, dict) and it.get("type") and it.get("status")]


def _conflicts(spec: Json, others: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """Yield which names other definitions of the same group have already, the last weighs most."""
    mine, words, kinds = spec["names"], set(), set()
    for other in others:
        if (other.get("spec") or {}).get("group") == spec["group"]:
            names = _status(other).get("acceptedNames") or {}
            words |= {names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())}
            kinds |= {names.get("kind"), names.get("listKind")}
    taken = {"plural": words, "singular": words, "shortNames": words, "kind": kinds}
    for field, those in (taken | {"listKind": kinds}).items():
        given = mine.get(field) or ()
        for name in given if isinstance(given, list) else (given,):
            if name and name in those:
                yield field, name


def _kind(definition: Json, version: Json, stored: str, *, several: bool) -> Kind:
    spec = definition["spec"]
    schema = version["schema"]["openAPIV3Schema"]
    subresources = version.get("subresources") or {}
    scale = subresources.get("scale")
    resource: Resource[Any] = Resource(
        spec["group"],
        version["name"],
        spec["names"]["kind"],
        spec["names"]["plural"],
        Object,
        namespaced=spec["scope"] == "Namespaced",
        has_status="status" in subresources,
    )
    chosen = {
        field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()
    }
    return Kind(
        resource,
        structure=_Once(schema),
        selectable=SELECTABLE | chosen,
        names=_names(spec["names"]),
        subresources=frozenset({"scale"} if scale else ()),
        scale=_scale(scale) if scale else None,
        schema=schema,
        columns=tuple(_column(it) for it in version.get("additionalPrinterColumns") or ()),
        storage=bool(version.get("storage")),
        stored_as=f"{spec['group']}/{stored}" if several else "",
        definition=definition["metadata"]["name"],
    )


class _Once:
    """The structure of a schema, made when first asked for."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self._made: Structure | None = None

    def __call__(self) -> Structure:
        if self._made is None:
            self._made = structure_of_schema(self._schema)
        return self._made


def _names(names: Json) -> Names:
    return Names(
        singular=names.get("singular") or names["kind"].lower(),
        list_kind=names.get("listKind") or f"{names['kind']}List",
        short=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
    )


def _scale(scale: Json) -> ScalePaths:
    return ScalePaths(
        scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath", "")
    )


def _column(column: Json) -> Column:
    return Column(
        column["name"],
        column["type"],
        column["jsonPath"],
        description=column.get("description", ""),
        format=column.get("format", ""),
        priority=column.get("priority", 0),
    )
