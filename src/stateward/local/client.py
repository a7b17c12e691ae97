"""The client port over the embedded Kubernetes, without a wire: for simulation and tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from stateward.core.errors import PeerConfused
from stateward.kube import codec
from stateward.kube.client import (
    EVERYTHING,
    Apply,
    Change,
    Listing,
    LogOptions,
    Malformed,
    Patch,
    Propagation,
    Read,
    Selection,
    WatchEvent,
)
from stateward.kube.codec import Body, Json
from stateward.kube.errors import BadRequest, NotFound, ServerFailed
from stateward.kube.interception import key_of
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import PODS, Resource
from stateward.local.api import Api
from stateward.local.rules.binding import Target
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored
from stateward.local.watching import Pace

T = TypeVar("T", bound=Object)

#: Where logs come from: the text of one container's log, piece by piece.
LogSource = Callable[[ObjectKey, LogOptions], AsyncGenerator[bytes, None]]


class MemoryClient:
    """Every call is a function call. Objects still travel as JSON: none is shared by accident."""

    def __init__(
        self,
        api: Api,
        *,
        field_manager: str = "stateward",
        pace: Pace | None = None,
        logs: LogSource | None = None,
    ) -> None:
        self._api = api
        self._manager = field_manager
        self._pace = pace
        self._logs = logs

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now."""
        await asyncio.sleep(0)
        return codec.decode(self._api.get(resource, key).text, resource.type)

    async def list(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        read: Read = Read.QUORUM,  # noqa: ARG002 - the only memory there is, is up to date
    ) -> Listing[T]:
        """Return all selected objects."""
        await asyncio.sleep(0)
        found = self._api.list(resource, selection)
        items: list[T] = []
        malformed: list[Malformed] = []
        for stored in found.items:
            match _read(stored, resource):
                case Malformed() as bad:
                    malformed.append(bad)
                case item:
                    items.append(item)
        return Listing(tuple(items), str(found.revision), tuple(malformed))

    async def watch(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, since: str
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what changes after a revision."""
        await asyncio.sleep(0)
        stream = self._api.watch(resource, selection, _revision(since), self._pace)
        async with aclosing(stream) as sightings:
            async for seen in sightings:
                if isinstance(seen, int):
                    yield WatchEvent(Change.BOOKMARK, _bookmark(seen), str(seen))
                else:
                    yield WatchEvent(seen.change, _read(seen.stored, resource), str(seen.revision))

    async def log(self, key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the log of one container of a pod, if somebody keeps logs here."""
        await asyncio.sleep(0)
        self._api.get(PODS, key)
        if self._logs is None:
            raise NotFound(f'pods "{key.name}" has no log: nothing runs pods here')
        async with aclosing(self._logs(key, options)) as pieces:
            async for piece in pieces:
                yield piece

    async def create(self, resource: Resource[T], body: Body, *, dry_run: bool = False) -> T:
        """Create the object."""
        await asyncio.sleep(0)
        document = _document(body)
        author = Author(self._manager, dry_run)
        made = self._api.create(resource, key_of(document).namespace, document, author)
        return codec.decode(made.text, resource.type)

    async def update(
        self, resource: Resource[T], body: Body, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        """Replace the object."""
        await asyncio.sleep(0)
        document = _document(body)
        author = Author(self._manager, dry_run)
        made = self._api.update(
            resource, key_of(document), document, author, subresource=subresource
        )
        return codec.decode(made.text, resource.type)

    async def patch(
        self,
        resource: Resource[T],
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Change part of the object."""
        await asyncio.sleep(0)
        manager = patch.manager if isinstance(patch, Apply) else self._manager
        made = self._api.patch(
            resource, key, patch, Author(manager, dry_run), subresource=subresource
        )
        return codec.decode(made.text, resource.type)

    async def delete(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation = Propagation.BACKGROUND,
        grace_seconds: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Ask for deletion of exactly the object with this UID."""
        await asyncio.sleep(0)
        options = DeleteOptions(uid, resource_version, propagation, grace_seconds, dry_run)
        self._api.delete(resource, key, options)

    async def evict(self, key: ObjectKey, *, uid: str, grace_seconds: int | None = None) -> None:
        """Ask for a pod to leave."""
        await asyncio.sleep(0)
        self._api.evict(key, DeleteOptions(uid=uid, grace_seconds=grace_seconds))

    async def bind(self, key: ObjectKey, node: str, *, uid: str) -> None:
        """Put a pod on a node."""
        await asyncio.sleep(0)
        self._api.bind(key, Target(node, uid))


def _document(body: Body) -> Json:
    """Return what would travel; what cannot be written as JSON is refused as a server would."""
    try:
        return codec.plain(body)
    except (RecursionError, UnicodeEncodeError, TypeError, ValueError) as error:
        raise BadRequest(f"the object must be one that JSON can hold: {error}") from error


def _read(stored: Stored, resource: Resource[T]) -> T | Malformed:
    try:
        return codec.decode(stored.text, resource.type)
    except PeerConfused as error:
        metadata = codec.decode(stored.text, Object).metadata
        return Malformed(metadata, str(error))


def _bookmark(revision: int) -> Malformed:
    """Stand for the object of a bookmark, which has none."""
    return Malformed(ObjectMeta(resource_version=str(revision)), "a bookmark carries no object")


def _revision(text: str) -> int:
    if text and not text.isdecimal():
        raise ServerFailed(f"resourceVersion must be a number, got {text!r}")
    return int(text or 0)
