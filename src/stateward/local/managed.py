"""Who owns which field of an object, and what server-side apply makes of it.

Every write leaves a record in ``metadata.managedFields``. Somebody who applies owns exactly what it named: naming
a field that another owns with another value is a conflict, unless forced; a field it named before and no longer
does goes away, unless another owns it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.kube.codec import Json, plain
from stateward.kube.errors import Cause, Conflict
from stateward.local.fields import (
    FREE,
    Path,
    differences,
    flat,
    from_fields_v1,
    is_within,
    merged,
    to_fields_v1,
    without,
)
from stateward.local.kinds import Kind

#: The server's own part of an object, which nobody owns.
_NOBODYS = {
    ("f:apiVersion",),
    ("f:kind",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generateName",
            "managedFields",
        )
    ),
}


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes what, when, and how."""

    manager: str
    time: str
    subresource: str = ""
    applies: bool = False

    @property
    def identity(self) -> tuple[str, str, str]:
        """What tells one record from another."""
        return (self.manager, "Apply" if self.applies else "Update", self.subresource)


def fresh(document: Json) -> Json:
    """Return a copy that shares nothing with the original."""
    return plain(document)


def record(old: Json | None, new: Json, writer: Writer, kind: Kind) -> None:
    """Write into a new version who owns what after a create, an update or a patch."""
    differ = differences(old or {}, new, kind.structure() or FREE)
    written = {path for path in differ.written if _is_owned(path, kind, writer.subresource)}
    removed = {path for path in differ.removed if _is_owned(path, kind, writer.subresource)}
    owners = _owners(old)
    for identity in tuple(owners):
        lost = removed if identity == writer.identity else removed | written
        owners[identity] = owners[identity] - lost
    owners[writer.identity] = owners.get(writer.identity, set()) | written
    _write_owners(old, new, owners, {writer.identity: written or removed}, writer)


def own(new: Json, applied: Json, writer: Writer, kind: Kind) -> None:
    """Write into an object that an apply created who owns what."""
    places = set(_places(applied, kind, writer.subresource))
    _write_owners(None, new, {writer.identity: places}, {writer.identity: places}, writer)


def applied(old: Json, body: Json, writer: Writer, kind: Kind, *, force: bool) -> Json:
    """Return the new version that an apply makes of an object; raise Conflict when others own what it sets."""
    structure = kind.structure() or FREE
    wanted = _places(body, kind, writer.subresource)
    live = _places(old, kind, writer.subresource)
    owners = _owners(old)
    changed = {path for path, value in wanted.items() if path not in live or live[path] != value}
    disputed = {
        identity: paths & changed
        for identity, paths in owners.items()
        if identity != writer.identity and paths & changed
    }
    if disputed and not force:
        raise _conflict(disputed)
    for identity, paths in disputed.items():
        owners[identity] = owners[identity] - paths
    before = owners.get(writer.identity, set())
    owners[writer.identity] = set(wanted)
    new: Json = merged(fresh(old), _without_server_part(body), structure)
    for path in sorted(before - wanted.keys(), key=len, reverse=True):
        if not _is_held(path, owners):
            new = without(new, path, structure)
    touched = {writer.identity: changed or before ^ wanted.keys()}
    _write_owners(old, new, owners, touched, writer)
    return new


def _places(value: Json, kind: Kind, subresource: str) -> dict[Path, Any]:
    """Return every place of an object that somebody can own through this endpoint."""
    places = flat(value, kind.structure() or FREE)
    return {path: it for path, it in places.items() if _is_owned(path, kind, subresource)}


def _is_owned(path: Path, kind: Kind, subresource: str) -> bool:
    """Tell whether a place is neither the server's own nor that of another endpoint."""
    if not path or path[:1] in _NOBODYS or path[:2] in _NOBODYS:
        return False
    return not kind.resource.has_status or (path[0] == "f:status") == (subresource == "status")


def _without_server_part(body: Json) -> Json:
    hidden = {path[1][2:] for path in _NOBODYS if len(path) == 2}
    metadata = {k: v for k, v in body.get("metadata", {}).items() if k not in hidden}
    return {**body, "metadata": metadata}


def _is_held(path: Path, owners: dict[tuple[str, str, str], set[Path]]) -> bool:
    """Tell whether anybody owns a place or something inside it."""
    return any(is_within(other, path) for paths in owners.values() for other in paths)


def _owners(document: Json | None) -> dict[tuple[str, str, str], set[Path]]:
    entries = document["metadata"].get("managedFields") or () if document else ()
    return {_identity(entry): from_fields_v1(entry.get("fieldsV1") or {}) for entry in entries}


def _identity(entry: Json) -> tuple[str, str, str]:
    return (entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", ""))


def _write_owners(
    old: Json | None,
    new: Json,
    owners: dict[tuple[str, str, str], set[Path]],
    touched: dict[tuple[str, str, str], set[Path]],
    writer: Writer,
) -> None:
    """Write the records; the time of one changes only when what it says or did changed."""
    entries = old["metadata"].get("managedFields") or () if old else ()
    times = {_identity(entry): entry.get("time", writer.time) for entry in entries}
    records = []
    for identity, paths in owners.items():
        if not paths:
            continue
        manager, operation, subresource = identity
        time = writer.time if touched.get(identity) else times.get(identity, writer.time)
        entry: Json = {
            "manager": manager,
            "operation": operation,
            "apiVersion": new["apiVersion"],
            "time": time,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields_v1(paths),
        }
        if subresource:
            entry["subresource"] = subresource
        records.append(entry)
    if records:
        new["metadata"]["managedFields"] = records
    else:
        new["metadata"].pop("managedFields", None)


def _conflict(disputed: dict[tuple[str, str, str], set[Path]]) -> Conflict:
    causes = tuple(
        Cause(
            reason="FieldManagerConflict",
            message=f'conflict with "{identity[0]}"'
            + (f' with subresource "{identity[2]}"' if identity[2] else ""),
            field=_dotted(path),
        )
        for identity, paths in sorted(disputed.items())
        for path in sorted(paths)
    )
    many = "conflicts" if len(causes) > 1 else "conflict"
    told = "; ".join(f"{cause.message}: {cause.field}" for cause in causes)
    return Conflict(f"Apply failed with {len(causes)} {many}: {told}", causes=causes)


def _dotted(path: Path) -> str:
    """Write a place for people: ``.spec.containers[name="a"].image``."""
    words = []
    for element in path:
        kind, _, text = element.partition(":")
        words.append(f".{text}" if kind == "f" else f"[{text}]")
    return "".join(words)
