"""A client around a client: one place through which every call passes (but for pod logs).

Leadership is checked, writes are noted, faults are injected and calls are counted here, each by an
interceptor of a few lines that does not have to repeat the nine verbs of the port.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

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
from stateward.kube.codec import Body, plain
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import PODS, Resource

T = TypeVar("T", bound=Object)
R = TypeVar("R")

READS = frozenset({"get", "list", "watch", "log"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call: what is asked, of which resource, about which object."""

    verb: str
    resource: Resource[Any]
    key: ObjectKey
    subresource: str = ""
    body: Body | Patch | None = None
    uid: str = ""
    dry_run: bool = False

    @property
    def writes(self) -> bool:
        """True when the call may change something."""
        return self.verb not in READS and not self.dry_run

    def __str__(self) -> str:
        part = f"/{self.subresource}" if self.subresource else ""
        return f"{self.verb} {self.resource}{part} {self.key}"


class Interceptor(Protocol):
    """What happens around calls."""

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        """Perform the call, or do not; return what the caller shall get."""

    def around_watch(
        self, call: Call, events: AsyncGenerator[WatchEvent[T], None]
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Return the events that the caller shall get."""


class PassThrough:
    """An interceptor that leaves watches as they are; most want only calls."""

    def around_watch(
        self,
        call: Call,  # noqa: ARG002 - nothing depends on the call here
        events: AsyncGenerator[WatchEvent[T], None],
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Return the events as they come."""
        return events


class InterceptedClient:
    """The client port, with every call passing through an interceptor."""

    def __init__(self, inner: Client, interceptor: Interceptor) -> None:
        self._inner = inner
        self._around = interceptor.around
        self._around_watch = interceptor.around_watch

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now."""
        call = Call("get", resource, key)
        return await self._around(call, lambda: self._inner.get(resource, key))

    async def list(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        read: Read = Read.QUORUM,
    ) -> Listing[T]:
        """Return all selected objects."""
        call = Call("list", resource, ObjectKey(selection.namespace, ""))
        return await self._around(call, lambda: self._inner.list(resource, selection, read=read))

    def watch(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, since: str
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what changes."""
        call = Call("watch", resource, ObjectKey(selection.namespace, ""))
        return self._around_watch(call, self._inner.watch(resource, selection, since=since))

    def log(self, key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the log of one container of a pod."""
        return self._inner.log(key, options)

    async def create(self, resource: Resource[T], body: Body, *, dry_run: bool = False) -> T:
        """Create the object."""
        call = Call("create", resource, key_of(body), body=body, dry_run=dry_run)
        return await self._around(call, lambda: self._inner.create(resource, body, dry_run=dry_run))

    async def update(
        self, resource: Resource[T], body: Body, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        """Replace the object."""
        call = Call("update", resource, key_of(body), subresource, body, dry_run=dry_run)
        return await self._around(
            call,
            lambda: self._inner.update(resource, body, subresource=subresource, dry_run=dry_run),
        )

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
        call = Call("patch", resource, key, subresource, patch, dry_run=dry_run)
        return await self._around(
            call,
            lambda: self._inner.patch(
                resource, key, patch, subresource=subresource, dry_run=dry_run
            ),
        )

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
        """Ask for deletion."""
        call = Call("delete", resource, key, uid=uid, dry_run=dry_run)
        await self._around(
            call,
            lambda: self._inner.delete(
                resource,
                key,
                uid=uid,
                resource_version=resource_version,
                propagation=propagation,
                grace_seconds=grace_seconds,
                dry_run=dry_run,
            ),
        )

    async def evict(self, key: ObjectKey, *, uid: str, grace_seconds: int | None = None) -> None:
        """Ask for a pod to leave."""
        call = Call("evict", PODS, key, "eviction", uid=uid)
        await self._around(
            call, lambda: self._inner.evict(key, uid=uid, grace_seconds=grace_seconds)
        )

    async def bind(self, key: ObjectKey, node: str, *, uid: str) -> None:
        """Put a pod on a node."""
        call = Call("bind", PODS, key, "binding", uid=uid)
        await self._around(call, lambda: self._inner.bind(key, node, uid=uid))


def key_of(body: Body) -> ObjectKey:
    """Return where a body says that it belongs; the name is empty while it is to be generated."""
    found = body.get("metadata") if isinstance(body, Mapping) else getattr(body, "metadata", None)
    if isinstance(found, msgspec.Struct):
        found = plain(found)
    if not isinstance(found, Mapping):  # nonsense belongs nowhere, and is refused where it is read
        return ObjectKey("", "")
    namespace, name = (found.get(part) or "" for part in ("namespace", "name"))
    return ObjectKey(str(namespace), str(name))
