"""The client port over HTTP: every verb as one exchange, or as a few where repeating is honest.

Reads are repeated when a connection fails or the server asks to come back later: a few times, and
within their deadline. Writes are not: what a lost write did is for the caller to find out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.core.errors import PeerError, PeerUnreachable
from stateward.kube.client import (
    EVERYTHING,
    Listing,
    LogOptions,
    Patch,
    Propagation,
    Read,
    Selection,
    WatchEvent,
)
from stateward.kube.codec import Body
from stateward.kube.errors import Gone, TooManyRequests, Unavailable
from stateward.kube.http import answers, decoding, requests
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.answers import Answer, ServerVersion
from stateward.kube.http.decoding import Page
from stateward.kube.http.exec_plugin import PluginFailed
from stateward.kube.http.requests import Deletion, Request, Writing
from stateward.kube.http.wire import Listeners, Patience, Wire
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource

T = TypeVar("T", bound=Object)

#: Seconds after which the server is asked to end a watch: different for each, so that not all end
#: at once.
WATCH_SECONDS = (300, 600)
#: Seconds that a server may be late with that.
WATCH_GRACE = 30


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, how often, how much at once."""

    #: Seconds for an ordinary call with its repetitions; also the longest silence within a list or
    #: a log.
    deadline: float = 30.0
    #: Seconds for a whole list or log, which may be large.
    bulk_deadline: float = 300.0
    #: Seconds without a byte after which a watch counts as cut. The server sends a bookmark each
    #: minute.
    idle: float = 120.0
    #: How often a read is sent at most.
    attempts: int = 4
    #: Objects in a page of a list.
    page: int = 500


class HttpClient:
    """Talks to one API server. Give it back with ``close``, or use it in ``async with``."""

    def __init__(
        self,
        access: ClusterAccess,
        clock: Clock,
        chance: Chance,
        *,
        field_manager: str = "stateward",
        field_validation: str = "",
        limits: Limits | None = None,
        observe: Callable[[str, str, float], None] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._limits = limits or Limits()
        self._writing = Writing(field_manager, field_validation)
        listeners = Listeners(observe or _unobserved, warn or _unheard)
        self._wire = Wire(access, clock, listeners, connect_within=self._limits.deadline)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._wire.close()

    async def server_version(self) -> ServerVersion:
        """Return what the server says about itself."""
        return answers.document_of(await self._read_soon(requests.VERSION), ServerVersion)

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now; raise NotFound when there is none."""
        answer = await self._read_soon(requests.get(resource, key))
        return answers.object_of(answer, resource.type)

    async def list(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        read: Read = Read.QUORUM,
    ) -> Listing[T]:
        """Return all selected objects, page by page.

        All at once when the pages did not last long enough.
        """
        until = self._clock.monotonic() + self._limits.bulk_deadline
        pages: tuple[Page[T], ...] = ()
        limit, continue_ = self._limits.page, ""
        while True:
            request = requests.page(resource, selection, read, limit=limit, continue_=continue_)
            try:
                answer = await self._read(request, until, idle=self._limits.deadline)
                pages = (*pages, answers.page_of(answer, resource.type))
            except Gone:
                if not continue_ or not limit:
                    raise
                pages, limit, continue_ = (), 0, ""
                continue
            if not (continue_ := pages[-1].continue_):
                return _listing(pages)

    async def watch(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, since: str
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what changes after the revision ``since``, until the server ends the stream."""
        seconds = int(self._chance.between(*WATCH_SECONDS))
        request = requests.watch(resource, selection, since=since, seconds=seconds)
        patience = Patience(seconds + WATCH_GRACE, self._limits.idle)
        lines = decoding.Lines()
        async with aclosing(self._wire.chunks(request, patience, json=True)) as chunks:
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    yield decoding.event_of(line, resource.type)
        lines.finish()

    async def log(self, key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """Yield the log of one container of a pod.

        A followed one may be silent for as long as it likes.
        """
        patience = (
            Patience(None)
            if options.follow
            else Patience(self._limits.bulk_deadline, self._limits.deadline)
        )
        request = requests.log(key, options)
        async with aclosing(self._wire.chunks(request, patience, json=False)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def create(self, resource: Resource[T], body: Body, *, dry_run: bool = False) -> T:
        """Create the object; raise AlreadyExists when one of that name is there."""
        request = self._writing.create(resource, body, dry_run=dry_run)
        return answers.object_of(await self._write(request), resource.type)

    async def update(
        self, resource: Resource[T], body: Body, *, subresource: str = "", dry_run: bool = False
    ) -> T:
        """Replace the object; with a resourceVersion in the body, only if it is still that one."""
        request = self._writing.update(resource, body, subresource=subresource, dry_run=dry_run)
        return answers.object_of(await self._write(request), resource.type)

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
        request = self._writing.patch(
            resource, key, patch, subresource=subresource, dry_run=dry_run
        )
        return answers.object_of(await self._write(request), resource.type)

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
        """Ask for deletion of exactly the object with this UID (and, if given, this
        resourceVersion).
        """
        deletion = Deletion(uid, resource_version, propagation, grace_seconds, dry_run)
        answers.accepted(await self._write(requests.delete(resource, key, deletion)))

    async def evict(self, key: ObjectKey, *, uid: str, grace_seconds: int | None = None) -> None:
        """Ask for a pod to leave; raise EvictionRefused when its budget does not allow it."""
        deletion = Deletion(uid, grace_seconds=grace_seconds)
        answers.accepted(await self._write(requests.evict(key, deletion)))

    async def bind(self, key: ObjectKey, node: str, *, uid: str) -> None:
        """Put a pod on a node, for good; raise Conflict when it is on one."""
        answers.accepted(await self._write(requests.bind(key, node, uid=uid)))

    async def _write(self, request: Request) -> Answer:
        return await self._wire.exchange(request, Patience(self._limits.deadline))

    async def _read_soon(self, request: Request) -> Answer:
        return await self._read(request, self._clock.monotonic() + self._limits.deadline)

    async def _read(self, request: Request, until: float, *, idle: float | None = None) -> Answer:
        """Return a successful answer; try again as long as that may help."""
        attempt = 0
        while True:
            attempt += 1
            left = until - self._clock.monotonic()
            try:
                answer = await self._wire.exchange(request, Patience(left, idle))
                return answers.checked(answer)
            except PeerError as error:
                pause = self._pause_after(error, attempt)
                if pause is None or self._clock.monotonic() + pause >= until:
                    raise
            await self._clock.sleep(pause)

    def _pause_after(self, error: PeerError, attempt: int) -> float | None:
        """Return how long to wait before trying again, or None when that would be of no use."""
        if attempt >= self._limits.attempts or self._wire.closed:
            return None
        if isinstance(error, TooManyRequests | Unavailable):
            return error.retry_after
        if isinstance(error, PeerUnreachable) and not isinstance(error, PluginFailed):
            return self._chance.jittered(0.1 * 2.0**attempt, 0.5)
        return None


def _listing(pages: Sequence[Page[T]]) -> Listing[T]:
    return Listing(
        items=tuple(item for page in pages for item in page.items),
        revision=pages[0].revision,
        malformed=tuple(item for page in pages for item in page.malformed),
    )


def _unobserved(_method: str, _code: str, _seconds: float) -> None:
    """Nobody counts."""


def _unheard(_text: str) -> None:
    """Nobody listens."""
