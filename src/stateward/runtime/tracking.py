"""A client that notes every write, so that nobody plans before the caches show it (see ``own_writes.py``)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Any, TypeVar

from stateward.core.errors import OutcomeUnknown
from stateward.kube import codec
from stateward.kube.client import (
    EVERYTHING,
    Client,
    Listing,
    LogOptions,
    Patch,
    Propagation,
    Read,
    Selection,
    WatchEvent,
)
from stateward.kube.codec import Body
from stateward.kube.errors import ServerFailed, Unavailable
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import PODS, Resource
from stateward.runtime.informer import Informer
from stateward.runtime.own_writes import Deleted, Doubtful, Written

T = TypeVar("T", bound=Object)


class TrackingClient:
    """The client port, with notes for the informers about every write."""

    def __init__(self, inner: Client, informers: Iterable[Informer[Any]]) -> None:
        self._inner = inner
        self._informers = {informer.resource.name: informer for informer in informers}

    # ------------------------------------------------------------------ reads pass through
    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now."""
        return await self._inner.get(resource, key)

    async def list(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        read: Read = Read.QUORUM,
    ) -> Listing[T]:
        """Return all selected objects."""
        return await self._inner.list(resource, selection, read=read)

    def watch(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, since: str
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what changes."""
        return self._inner.watch(resource, selection, since=since)

    def log(self, key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the log of one container of a pod."""
        return self._inner.log(key, options)

    # ------------------------------------------------------------------ writes are noted
    async def create(self, resource: Resource[T], body: Body, *, dry_run: bool = False) -> T:
        """Create the object and note it."""
        try:
            made = await self._inner.create(resource, body, dry_run=dry_run)
        except (OutcomeUnknown, ServerFailed) as error:
            self._doubt(resource, codec.decode(codec.encode(body), resource.type), error)
            raise
        return self._noted(resource, made, dry_run=dry_run)

    async def update(
        self, resource: Resource[T], body: Body, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        """Replace the object and note it."""
        try:
            made = await self._inner.update(
                resource, body, subresource=subresource, dry_run=dry_run
            )
        except (OutcomeUnknown, ServerFailed) as error:
            self._doubt(resource, codec.decode(codec.encode(body), resource.type), error)
            raise
        return self._noted(resource, made, dry_run=dry_run)

    async def patch(
        self,
        resource: Resource[T],
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Change part of the object and note it."""
        try:
            made = await self._inner.patch(
                resource, key, patch, subresource=subresource, dry_run=dry_run
            )
        except (OutcomeUnknown, ServerFailed) as error:
            self._doubt(resource, self._known(resource, key), error)
            raise
        return self._noted(resource, made, dry_run=dry_run)

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
        """Ask for deletion and note it."""
        known = self._known(resource, key)
        try:
            await self._inner.delete(
                resource,
                key,
                uid=uid,
                resource_version=resource_version,
                propagation=propagation,
                grace_seconds=grace_seconds,
                dry_run=dry_run,
            )
        except (OutcomeUnknown, ServerFailed) as error:
            self._doubt(resource, known, error)
            raise
        self._gone(resource, known, uid, dry_run=dry_run)

    async def evict(self, key: ObjectKey, *, uid: str, grace_seconds: int | None = None) -> None:
        """Ask for a pod to leave and note it."""
        known = self._known(PODS, key)
        try:
            await self._inner.evict(key, uid=uid, grace_seconds=grace_seconds)
        except (OutcomeUnknown, ServerFailed) as error:
            self._doubt(PODS, known, error)
            raise
        self._gone(PODS, known, uid, dry_run=False)

    def _noted(self, resource: Resource[Any], made: T, *, dry_run: bool) -> T:
        if not dry_run and (informer := self._informers.get(resource.name)):
            informer.own_writes.note(Written(made))
        return made

    def _gone(self, resource: Resource[Any], known: Object, uid: str, *, dry_run: bool) -> None:
        # A cached object of another UID is not the one we deleted, and nothing will be seen of ours.
        if not dry_run and known.metadata.uid == uid and (it := self._informers.get(resource.name)):
            it.own_writes.note(Deleted(known))

    def _doubt(self, resource: Resource[Any], item: Object, error: Exception) -> None:
        if isinstance(error, Unavailable):
            return  # the server said that it did nothing
        if informer := self._informers.get(resource.name):
            informer.own_writes.note(Doubtful(item))

    def _known(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as cached, for its owners and labels; or just its name when it is not."""
        informer = self._informers.get(resource.name)
        cached = informer.cache.get(key) if informer else None
        return cached or resource.type(metadata=ObjectMeta(namespace=key.namespace, name=key.name))
