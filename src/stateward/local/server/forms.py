"""Objects as they are shown: whole, as lines of a table, or by their metadata alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import msgspec

from stateward.kube.client import Change
from stateward.kube.codec import Json, encode
from stateward.kube.errors import ApiError, BadRequest
from stateward.local.kinds import Column, Kind
from stateward.local.server.negotiation import Form, Wanted
from stateward.local.server.refusals import status_of
from stateward.local.server.tables.cells import Layout
from stateward.local.server.tables.custom import layout_of
from stateward.local.store import Stored

#: The forms that an object, or many, can be shown in.
FORMS: Final = frozenset({Form.TABLE, Form.METADATA})
LIST_FORMS: Final = frozenset({Form.TABLE, Form.METADATA_LIST})
#: The forms that the events of a watch can carry.
EVENT_FORMS: Final = frozenset({Form.TABLE, Form.METADATA})

#: On a bookmark: what was there is told, and from here on it is news.
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"

_INCLUDED = frozenset({"", "None", "Metadata", "Object"})


class _Metadata(msgspec.Struct):
    metadata: msgspec.Raw


_metadata_of = msgspec.json.Decoder(_Metadata).decode


@dataclass(frozen=True, slots=True)
class Show:
    """How the objects of one kind are shown to one asker."""

    kind: Kind
    wanted: Wanted
    #: What a line of a table carries of its object: nothing, its metadata, or all of it.
    include: str
    now: Callable[[], float]

    @classmethod
    def of(cls, kind: Kind, wanted: Wanted, include: str, now: Callable[[], float]) -> Show:
        """Check what is asked for."""
        if include not in _INCLUDED:
            known = "None, Metadata, Object"
            raise BadRequest(f"includeObject must be one of {known}, got {include[:40]!r}")
        return cls(kind, wanted, include or "Metadata", now)

    def one(self, stored: Stored) -> bytes:
        """Return one object that is in the version asked for already."""
        match self.wanted.form:
            case Form.TABLE:
                return self._table([stored], {"resourceVersion": str(stored.revision)})
            case Form.METADATA:
                return self._partial(stored)
            case _:
                return stored.text

    def many(self, items: Sequence[Stored], meta: Json) -> bytes:
        """Return a list of objects."""
        match self.wanted.form:
            case Form.TABLE:
                return self._table(items, meta)
            case Form.METADATA_LIST:
                kind, api = "PartialObjectMetadataList", f"meta.k8s.io/{self.wanted.version}"
                return _list(kind, api, meta, [self._partial(it) for it in items])
            case _:
                kind = self.kind.names.list_kind or f"{self.kind.resource.kind}List"
                api = self.kind.resource.api_version
                # In lists of Kubernetes' own kinds only the list says what they are.
                of = self._headless if self.kind.built_in else self.text
                return _list(kind, api, meta, [of(it) for it in items])

    def event(self, change: Change, stored: Stored, *, headless: bool) -> bytes:
        """Return one line of a watch; all but the first table come without their head."""
        if self.wanted.form is Form.TABLE:
            meta = {"resourceVersion": str(stored.revision)}
            shown = self._table([stored], meta, headless=headless)
        elif self.wanted.form is Form.METADATA:
            shown = self._partial(stored)
        else:
            shown = self.text(stored)
        return b'{"type":"%b","object":%b}\n' % (change.value.encode(), shown)

    def bookmark(self, revision: int, *, initial_end: bool = False) -> bytes:
        """Return a line of a watch that says: up to here you know everything."""
        meta: Json = {"resourceVersion": str(revision), "creationTimestamp": None}
        if initial_end:
            meta["annotations"] = {INITIAL_EVENTS_END: "true"}
        resource = self.kind.resource
        shown: Json = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}
        if self.wanted.form is Form.TABLE:
            row = {"cells": [None for _ in self._layout().columns], "object": shown}
            shown = self._head([], {"resourceVersion": str(revision)}, [row])
        elif self.wanted.form is Form.METADATA:
            shown |= self._partial_head()
        return encode({"type": "BOOKMARK", "object": shown}) + b"\n"

    def text(self, stored: Stored) -> bytes:
        """Return an object's text in the version that is asked for."""
        wanted = self.kind.resource.api_version
        if self.kind.stored_as in {"", wanted}:
            return stored.text
        return encode(stored.document() | {"apiVersion": wanted})

    def _headless(self, stored: Stored) -> bytes:
        """Return an object's text without its kind and version."""
        resource = self.kind.resource
        for head in _heads(resource.api_version, resource.kind):
            if stored.text.startswith(head):
                return b"{" + stored.text[len(head) :]
        document = stored.document()
        return encode({k: v for k, v in document.items() if k not in {"apiVersion", "kind"}})

    def _partial(self, stored: Stored) -> bytes:
        head = self._partial_head()
        return encode(head | {"metadata": _metadata_of(stored.text).metadata})

    def _partial_head(self) -> Json:
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": f"meta.k8s.io/{self.wanted.version}",
        }

    def _layout(self) -> Layout:
        return layout_of(self.kind)

    def _table(self, items: Sequence[Stored], meta: Json, *, headless: bool = False) -> bytes:
        layout, now = self._layout(), self.now()
        rows = [
            {"cells": layout.line(it.document(), now), "object": self._of_line(it)} for it in items
        ]
        columns = () if headless else layout.columns
        return encode(self._head(columns, meta, rows))

    def _head(self, columns: Sequence[Column], meta: Json, rows: list[Json]) -> Json:
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self.wanted.version}",
            "metadata": meta,
            "columnDefinitions": [_definition(it) for it in columns],
            "rows": rows,
        }

    def _of_line(self, stored: Stored) -> Any:
        match self.include:
            case "None":
                return None
            case "Object":
                return msgspec.Raw(self.text(stored))
            case _:
                return msgspec.Raw(self._partial(stored))


def error_event(error: ApiError) -> bytes:
    """Return the line with which a watch ends before its time."""
    return encode({"type": "ERROR", "object": status_of(error)}) + b"\n"


def _list(kind: str, api_version: str, meta: Json, items: Sequence[bytes]) -> bytes:
    head = encode({"kind": kind, "apiVersion": api_version, "metadata": meta})
    return b'%b,"items":[%b]}' % (head[:-1], b",".join(items))


@cache
def _heads(api_version: str, kind: str) -> tuple[bytes, ...]:
    """Return how the text of an object can begin."""
    version, name = f'"apiVersion":"{api_version}"', f'"kind":"{kind}"'
    return tuple(f"{{{it},".encode() for it in (f"{version},{name}", f"{name},{version}"))


def _definition(column: Column) -> Json:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
