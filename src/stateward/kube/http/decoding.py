"""Typed objects out of bytes: pages of a list, and watch events, which come in pieces of any size.

Pure.

The quick way decodes a whole page or event as its type, in one pass. Only when that fails are the
objects taken one by one, so that just those which do not fit become
:class:`~stateward.kube.client.Malformed`: one poisoned object never hides the others. Text that is
no JSON at all is an error, since nothing in it can be trusted.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from stateward.core.errors import PeerConfused, PeerUnreachable
from stateward.kube import codec
from stateward.kube.client import Change, Malformed, WatchEvent
from stateward.kube.codec import UNREADABLE, Part
from stateward.kube.errors import ApiError, Gone, ServerFailed, Status, from_status
from stateward.kube.meta import Object, ObjectMeta

T = TypeVar("T", bound=Object)

#: The text may still be sound as a whole, though an object in it is not what it should be.
_UNFIT = (msgspec.ValidationError, UnicodeDecodeError, RecursionError)
#: No object is larger than a few megabytes; a line this long is no watch event.
LONGEST_LINE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list."""

    items: tuple[T, ...]
    malformed: tuple[Malformed, ...]
    revision: str
    #: Where the next page begins; empty on the last one.
    continue_: str


def page_of(text: bytes, kind: type[T]) -> Page[T]:
    """Return a page of a list; raise PeerConfused when it is not one."""
    try:
        with _collector_paused():
            found = _page_decoder(kind).decode(text)
    except _UNFIT:
        return _page_one_by_one(text, kind)
    except msgspec.DecodeError as error:
        raise PeerConfused(f"a list must be JSON: {error}") from None
    return Page(found.items or (), (), *_place(found.metadata))


class Lines:
    """Puts lines together. Looks at every byte once, however small the pieces are."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._longest = longest

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes."""
        first, *rest = piece.split(b"\n")
        self._keep(first)
        if not rest:
            return []
        lines = [b"".join(self._pieces), *rest[:-1]]
        self._pieces, self._size = [], 0
        self._keep(rest[-1])
        return [line for line in lines if line.strip()]

    def finish(self) -> None:
        """Make sure that the stream did not end in the middle of a line."""
        if b"".join(self._pieces).strip():
            raise PeerUnreachable(
                "a watch must end after a whole event, but it was cut in the middle of one",
                hint="watch again from the last revision heard",
            )

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._longest:
            raise PeerConfused(f"a watch event must be shorter than {self._longest} bytes")
        if piece:
            self._pieces.append(piece)


def event_of(line: bytes, kind: type[T]) -> WatchEvent[T]:
    """Return the event that a line is.

    Raise what the server says when it says that the watch is over.
    """
    name, found = _typed_event(line, kind)
    if isinstance(found, msgspec.Raw):
        if name == "ERROR":
            raise _failure(codec.decode(bytes(found), Status))
        found = _malformed(found, "")
    if name not in Change.__members__:
        raise PeerConfused(f"a watch event must be of a known type, got {name[:40]!r}")
    if not (revision := found.metadata.resource_version):
        raise PeerConfused(f"a watch event ({name}) must say its revision")
    if name == Change.BOOKMARK.value:
        found = Malformed(found.metadata, "a bookmark carries no object")
    return WatchEvent(Change[name], found, revision)


class _ListMeta(Part):
    resource_version: str = ""
    continue_: str = ""


class _WithMetadata(Part):
    metadata: ObjectMeta = ObjectMeta()


class _RawPage(Part):
    # Required, if only as null: a document without it is no list, and must not pass for an empty
    # one.
    items: tuple[msgspec.Raw, ...] | None
    metadata: _ListMeta


class _RawEvent(Part):
    type: str
    object: msgspec.Raw


@cache
def _page_decoder(kind: type[Object]) -> msgspec.json.Decoder[Any]:
    fields: list[tuple[str, Any]] = [
        ("items", tuple[kind, ...] | None),  # type: ignore[valid-type]
        ("metadata", _ListMeta),
    ]
    shape = msgspec.defstruct(f"{kind.__name__}Page", fields, bases=(Part,))
    return msgspec.json.Decoder(shape)


@cache
def _event_decoder(kind: type[Object]) -> msgspec.json.Decoder[Any]:
    fields: list[tuple[str, Any]] = [("type", str), ("object", kind)]
    shape = msgspec.defstruct(f"{kind.__name__}Event", fields, bases=(Part,))
    return msgspec.json.Decoder(shape)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from walking a heap that only grows: half of the time of a large
    page.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _page_one_by_one(text: bytes, kind: type[T]) -> Page[T]:
    try:
        found = _raw_page(text)
    except UNREADABLE as error:
        raise PeerConfused(f"a list must have items and metadata: {error}") from None
    items: list[T] = []
    malformed: list[Malformed] = []
    for raw in found.items or ():
        fitted = _fit(raw, kind)
        if isinstance(fitted, Malformed):
            malformed.append(fitted)
        else:
            items.append(fitted)
    return Page(tuple(items), tuple(malformed), *_place(found.metadata))


def _place(metadata: _ListMeta) -> tuple[str, str]:
    if not metadata.resource_version:
        raise PeerConfused("a list must say its revision in metadata.resourceVersion")
    return metadata.resource_version, metadata.continue_


def _typed_event(text: bytes, kind: type[T]) -> tuple[str, T | Malformed | msgspec.Raw]:
    """Return the type of a watch event and its object; what is not about an object comes raw."""
    try:
        found = _event_decoder(kind).decode(text)
    except _UNFIT:
        return _event_one_by_one(text, kind)
    except msgspec.DecodeError as error:
        raise PeerConfused(f"a watch event must be JSON: {error}") from None
    if found.type == "ERROR":
        return _event_one_by_one(text, kind)
    return found.type, found.object


def _event_one_by_one(text: bytes, kind: type[T]) -> tuple[str, T | Malformed | msgspec.Raw]:
    try:
        found = _raw_event(text)
    except UNREADABLE as error:
        raise PeerConfused(f"a watch event must have a type and an object: {error}") from None
    if found.type in {"ERROR", "BOOKMARK"}:
        return found.type, found.object
    return found.type, _fit(found.object, kind)


def _failure(status: Status) -> ApiError:
    # Some servers leave the code out and give the reason alone.
    code = Gone.code if status.reason in {Gone.reason, "Gone"} else ServerFailed.code
    return from_status(status if status.code else msgspec.structs.replace(status, code=code))


def _fit(raw: msgspec.Raw, kind: type[T]) -> T | Malformed:
    try:
        return msgspec.json.decode(raw, type=kind)
    except UNREADABLE as error:
        return _malformed(raw, str(error))


def _malformed(raw: msgspec.Raw, problem: str) -> Malformed:
    """Return what can be said of an object: all of its metadata, its identity, or nothing."""
    try:
        return Malformed(msgspec.json.decode(raw, type=_WithMetadata).metadata, problem)
    except UNREADABLE:
        return Malformed(_identity_of(raw), problem, whole=False)


def _identity_of(raw: msgspec.Raw) -> ObjectMeta:
    try:
        members = _members(_members(bytes(raw)).get("metadata", b"{}"))
        return ObjectMeta(
            name=_text(members, "name"),
            namespace=_text(members, "namespace"),
            uid=_text(members, "uid"),
            resource_version=_text(members, "resourceVersion"),
        )
    except UNREADABLE:
        return ObjectMeta()


def _raw_page(text: bytes) -> _RawPage:
    try:
        return msgspec.json.decode(text, type=_RawPage)
    except RecursionError:
        members = _members(text)
    if "items" not in members:
        raise msgspec.DecodeError("it has no items")
    return _RawPage(
        items=tuple(msgspec.Raw(item) for item in _parts(members["items"])),
        metadata=msgspec.json.decode(members.get("metadata", b""), type=_ListMeta),
    )


def _raw_event(text: bytes) -> _RawEvent:
    try:
        return msgspec.json.decode(text, type=_RawEvent)
    except RecursionError:
        members = _members(text)
    return _RawEvent(type=_text(members, "type"), object=msgspec.Raw(members.get("object", b"")))


def _text(members: dict[str, bytes], name: str) -> str:
    return msgspec.json.decode(members.get(name, b'""'), type=str)


def _members(text: bytes) -> dict[str, bytes]:
    """Return the members of a JSON object as text.

    Looks no deeper, so an object nested too deep still has a name.
    """
    parts = _parts(text)
    names = (msgspec.json.decode(name, type=str) for name in parts[::2])
    return dict(zip(names, parts[1::2], strict=False))


def _parts(text: bytes) -> list[bytes]:
    """Return what the commas and colons of the outermost JSON object or array separate."""
    parts: list[bytes] = []
    depth = begin = 0
    for token in _TOKEN.finditer(text):
        if token[0] in _CLOSING:
            depth -= 1
        if (depth == 1 and token[0] in _SEPARATING) or (depth == 0 and token[0] in _CLOSING):
            parts.append(text[begin : token.start()].strip())
            begin = token.end()
        if token[0] in _OPENING:
            depth += 1
            begin = token.end() if depth == 1 else begin
    return [part for part in parts if part]


_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]')
_OPENING, _CLOSING, _SEPARATING = (b"[", b"{"), (b"]", b"}"), (b",", b":")
