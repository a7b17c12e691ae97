"""Who owns which field of an object, and what server-side apply makes of it.

Every write leaves a record in ``metadata.managedFields``. Somebody who applies owns exactly what it
named: naming a field that another owns with another value is a conflict, unless forced; a field it
named before and no longer does goes away, unless another owns it too.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import NamedTuple, TypeAlias

from stateward.kube import schemas
from stateward.kube.codec import Json, decode_json, encode, plain
from stateward.kube.errors import Cause, Conflict, ServerFailed
from stateward.local.apply import fields
from stateward.local.apply.paths import (
    Path,
    dotted,
    from_fields_v1,
    is_fields_v1,
    outer_first,
    to_fields_v1,
)
from stateward.local.kinds import Kind

#: Whose an object was of which nobody kept a record.
_BEFORE_FIRST_APPLY = "before-first-apply"

#: The server's own part of the metadata, which nobody owns and nobody applies.
_SERVERS = frozenset(
    {
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
    }
)
_NOBODYS = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(("f:metadata", f"f:{name}") for name in _SERVERS),
    }
)


class Identity(NamedTuple):
    """What tells one record from another."""

    manager: str
    operation: str
    subresource: str


Owners: TypeAlias = dict[Identity, frozenset[Path]]


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes what, when, and how."""

    manager: str
    time: str
    subresource: str = ""
    applies: bool = False

    @property
    def identity(self) -> Identity:
        """What tells its record from others."""
        return Identity(self.manager, "Apply" if self.applies else "Update", self.subresource)


def fresh(document: Json) -> Json:
    """Return a copy that shares nothing with the original."""
    return plain(document)


def record(old: Json | None, new: Json, writer: Writer, kind: Kind) -> None:
    """Write into a new version who owns what after a create, an update or a patch.

    A writer may say itself who owns what, or that nobody does; from then on nobody is recorded
    until somebody applies.
    """
    entries = _said(old, new, writer)
    if old is not None and not entries:
        new["metadata"].pop("managedFields", None)
        return
    before = _blank_of(kind) | (old or {})
    differ = fields.differences(before, new, kind.structure())
    written = _owned(differ.written, kind, writer.subresource)
    removed = _owned(differ.removed, kind, writer.subresource)
    owners = _owners(entries)
    for identity in tuple(owners):
        lost = removed if identity == writer.identity else removed | written
        if not lost.isdisjoint(owners[identity]):
            owners[identity] = owners[identity] - lost
    mine = owners.get(writer.identity, frozenset())
    owners[writer.identity] = mine if written <= mine else mine | written
    _write_owners(entries, new, owners, writer, touched=bool(written or removed))


def _said(old: Json | None, new: Json, writer: Writer) -> Sequence[Json]:
    """Return the records that a write begins from: those that were sent, if they can be read."""
    known = _entries(old)
    sent = new["metadata"].get("managedFields")
    if old is None or writer.subresource or sent is None:
        return known
    if sent in ([], [{}]):
        return ()
    return sent if all(_is_record(it) for it in sent) else known


def _is_record(entry: Json) -> bool:
    is_known = entry.get("operation") in {"Apply", "Update"} and bool(entry.get("apiVersion"))
    is_read = entry.get("fieldsType") == "FieldsV1" and is_fields_v1(entry.get("fieldsV1"))
    return is_known and is_read


def _entries(document: Json | None) -> Sequence[Json]:
    return document["metadata"].get("managedFields") or () if document else ()


def _blank_of(kind: Kind) -> Json:
    """Return an object in which nobody said anything.

    Some parts of Kubernetes' own kinds are always there, so nobody owns that they are.
    """
    resource = kind.resource
    name = schemas.name_of_kind(resource.group, resource.version, resource.kind)
    return {} if name is None or not kind.built_in else _blank(name)


@cache
def _blank(name: str) -> Json:
    schema = schemas.definitions()[name]
    fields_of = schema.get("properties", {})
    needed = schema.get("required", ())
    parts = {
        name: _blank(inner["$ref"])
        for name, inner in fields_of.items()
        if inner.get("default") == {} and "$ref" in inner
    }
    return parts | {name: None for name in needed if fields_of[name].get("type") == "array"}


def own(new: Json, applied: Json, writer: Writer, kind: Kind) -> None:
    """Write into an object that an apply created who owns what."""
    _refuse_doubles(applied, kind)
    wanted = _owned(fields.places(applied, kind.structure()), kind, writer.subresource)
    _write_owners((), new, {writer.identity: wanted}, writer, touched=True)


def applied(old: Json, body: Json, writer: Writer, kind: Kind, *, force: bool) -> Json:
    """Return what an apply makes of an object; raise Conflict when others own what it sets."""
    _refuse_doubles(body, kind)
    structure, owners = kind.structure(), _owners(_entries(old)) or _unrecorded(old, writer, kind)
    last = owners.get(writer.identity, frozenset())
    said = fields.places(body, structure)
    wanted = owners[writer.identity] = _owned(said, kind, writer.subresource)
    laid: Json = fields.merged(fresh(old), _without_server_part(body), structure)
    new: Json = fields.released(laid, last, said.union(*owners.values()), structure)
    differ = fields.differences(old, new, structure)
    written = _owned(differ.written, kind, writer.subresource)
    disputed = _disputed(owners, written, writer.identity)
    if disputed and not force:
        raise _conflict(disputed, old["apiVersion"])
    for identity in owners.keys() - {writer.identity}:
        owners[identity] = owners[identity] - differ.removed - written
    _write_owners(_entries(old), new, owners, writer, touched=bool(written or last != wanted))
    return new


def _unrecorded(old: Json, writer: Writer, kind: Kind) -> Owners:
    """Return who owns an object of which nobody kept a record until somebody applied."""
    differ = fields.differences(_blank_of(kind), old, kind.structure())
    owned = _owned(differ.written, kind, writer.subresource)
    return {Identity(_BEFORE_FIRST_APPLY, "Update", writer.subresource): owned}


def _disputed(owners: Owners, written: Set[Path], writer: Identity) -> Owners:
    return {
        identity: shared
        for identity, paths in owners.items()
        if identity != writer and (shared := paths & written)
    }


def _refuse_doubles(body: Json, kind: Kind) -> None:
    for path in fields.doubled(body, kind.structure()):
        raise ServerFailed(
            f"failed to create typed patch object: {dotted(path[:-1])}:"
            f" duplicate entries for key {dotted(path[-1:])}"
        )


def _owned(paths: Set[Path], kind: Kind, subresource: str) -> frozenset[Path]:
    """Return the places that are neither the server's own nor those of another endpoint."""
    ours = [path for path in paths if path[:2] not in _NOBODYS]
    if not kind.resource.has_status:
        return frozenset(ours)
    if subresource != "status":
        return frozenset(path for path in ours if path[0] != "f:status")
    return frozenset(path for path in ours if _is_of_status(path, kind))


def _is_of_status(path: Path, kind: Kind) -> bool:
    """Tell whether a place may be written by way of the status endpoint."""
    if path[0] == "f:metadata":
        return kind.kept_by_status is not None and path[1][2:] not in kind.kept_by_status
    return path[0] == "f:status"


def _without_server_part(body: Json) -> Json:
    metadata = {k: v for k, v in body.get("metadata", {}).items() if k not in _SERVERS}
    return {**body, "metadata": metadata}


def _owners(entries: Sequence[Json]) -> Owners:
    return {_identity(entry): _paths_of(entry) for entry in entries}


def _paths_of(entry: Json) -> frozenset[Path]:
    return _read(encode(entry.get("fieldsV1") or {}))


@lru_cache(maxsize=1024)
def _read(text: bytes) -> frozenset[Path]:
    """Read a record; many objects have the same ones."""
    return frozenset(from_fields_v1(decode_json(text)))


def _identity(entry: Json) -> Identity:
    return Identity(
        entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", "")
    )


def _write_owners(
    entries: Sequence[Json], new: Json, owners: Owners, writer: Writer, *, touched: bool
) -> None:
    """Write the records; the time of one changes only when what it says or did changed."""
    known = {_identity(entry): entry for entry in entries}
    records = []
    for identity, paths in owners.items():
        entry = known.get(identity, {})
        time = entry.get("time", writer.time)
        if touched and identity == writer.identity:
            time = writer.time
        if paths and entry and _is_said_by(entry, paths):
            records.append(entry | {"time": time})
        elif paths:
            records.append(_entry(identity, paths, new["apiVersion"], time))
    if records:
        new["metadata"]["managedFields"] = sorted(records, key=_order)
    else:
        new["metadata"].pop("managedFields", None)


def _is_said_by(entry: Json, paths: frozenset[Path]) -> bool:
    said = _paths_of(entry)
    return said is paths or said == paths


@lru_cache(maxsize=1024)
def _written(paths: frozenset[Path]) -> Json:
    """Write a record; many objects have the same ones, and nobody changes one in place."""
    return to_fields_v1(paths)


def _entry(identity: Identity, paths: frozenset[Path], api_version: str, time: str) -> Json:
    entry: Json = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": _written(paths),
    }
    return entry | ({"subresource": identity.subresource} if identity.subresource else {})


def _order(entry: Json) -> tuple[str, ...]:
    """Appliers come first, then whoever wrote longest ago."""
    # Whoever writes records by hand may leave any of it out.
    return tuple(entry.get(name, "") for name in ("operation", "time", "manager", "subresource"))


def _conflict(disputed: Owners, api_version: str) -> Conflict:
    causes = tuple(
        Cause(
            reason="FieldManagerConflict",
            message=_with_whom(identity, api_version),
            field=dotted(path),
        )
        for identity, paths in sorted(disputed.items())
        for path in sorted(paths, key=outer_first)
    )
    if len(causes) == 1:
        told = f"1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        told = f"{len(causes)} conflicts: {_listed(causes)}"
    return Conflict(f"Apply failed with {told}", causes=causes)


def _listed(causes: Sequence[Cause]) -> str:
    lines: list[str] = []
    for message, of_one in groupby(causes, key=lambda cause: cause.message):
        lines.append(f"{message.replace('conflict', 'conflicts', 1)}:")
        lines += [f"- {cause.field}" for cause in of_one]
    return "\n".join(lines)


def _with_whom(identity: Identity, api_version: str) -> str:
    part = f' with subresource "{identity.subresource}"' if identity.subresource else ""
    how = f" using {api_version}" if identity.operation == "Update" else ""
    return f'conflict with "{identity.manager}"{part}{how}'
