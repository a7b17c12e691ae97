"""Typed objects out of pages and watch events, in one pass; an object that does not fit hides no other.

The quick way decodes a whole page or event as its type. Only when that fails are the objects taken one by one,
so that just those which do not fit become :class:`~stateward.kube.client.Malformed`. Text that is no JSON at all
is an error either way: nothing in it can be trusted.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from stateward.core.errors import PeerConfused
from stateward.kube.client import Malformed
from stateward.kube.codec import Part
from stateward.kube.meta import Object, ObjectMeta

T = TypeVar("T", bound=Object)


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
    except msgspec.ValidationError:
        return _page_one_by_one(text, kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeerConfused(f"a list must be JSON: {error}") from None
    return Page(found.items or (), (), *_place(found.metadata))


def event_of(text: bytes, kind: type[T]) -> tuple[str, T | Malformed | msgspec.Raw]:
    """Return the type of a watch event and its object; what is not about an object comes raw."""
    try:
        found = _event_decoder(kind).decode(text)
    except msgspec.ValidationError:
        return _event_one_by_one(text, kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeerConfused(f"a watch event must be JSON: {error}") from None
    if found.type == "ERROR":
        return _event_one_by_one(text, kind)
    return found.type, found.object


def metadata_of(text: bytes | msgspec.Raw) -> ObjectMeta:
    """Return as much of an object's metadata as can be read: all of it, its identity, or nothing."""
    try:
        return msgspec.json.decode(text, type=_WithMetadata).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        known = msgspec.json.decode(text, type=_WithIdentity).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ObjectMeta()
    return ObjectMeta(
        name=known.name,
        namespace=known.namespace,
        uid=known.uid,
        resource_version=known.resource_version,
    )


class _ListMeta(Part):
    resource_version: str = ""
    continue_: str = ""


class _Identity(Part):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _WithMetadata(Part):
    metadata: ObjectMeta = ObjectMeta()


class _WithIdentity(Part):
    metadata: _Identity = _Identity()


class _RawPage(Part):
    # Required, if only as null: a document without it is no list, and must not pass for an empty one.
    items: tuple[msgspec.Raw, ...] | None
    metadata: _ListMeta


class _RawTypeAndObject(Part):
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
    """Keep the garbage collector from walking a heap that only grows: half of the time of a large page."""
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
        found = msgspec.json.decode(text, type=_RawPage)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
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


def _event_one_by_one(text: bytes, kind: type[T]) -> tuple[str, T | Malformed | msgspec.Raw]:
    try:
        found = msgspec.json.decode(text, type=_RawTypeAndObject)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeerConfused(f"a watch event must have a type and an object: {error}") from None
    if found.type in {"ERROR", "BOOKMARK"}:
        return found.type, found.object
    return found.type, _fit(found.object, kind)


def _fit(raw: msgspec.Raw, kind: type[T]) -> T | Malformed:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Malformed(metadata_of(raw), str(error))


def _place(metadata: _ListMeta) -> tuple[str, str]:
    if not metadata.resource_version:
        raise PeerConfused("a list must say its revision in metadata.resourceVersion")
    return metadata.resource_version, metadata.continue_
