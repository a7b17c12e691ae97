"""Keep a cache of one resource as the server has it: list once, then watch, for ever.

A cut watch is resumed where it ended; when the server no longer knows that revision, the whole is
listed again and compared with the cache, so that what disappeared meanwhile is told as a deletion.
Lists are quorum reads: a list from some server's memory could be older than what we have already
acted upon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

import structlog

from stateward.core.errors import HouseError, PeerConfused, PeerError, StatewardError
from stateward.core.ports import Ports
from stateward.kube.client import EVERYTHING, Change, Malformed, Reader, Selection, WatchEvent
from stateward.kube.errors import ApiError, Forbidden, Gone
from stateward.kube.meta import Object, is_newer
from stateward.kube.resources import Resource
from stateward.runtime.backoff import Backoff
from stateward.runtime.cache import Cache, Delta, Index
from stateward.runtime.own_writes import OwnWrites

T = TypeVar("T", bound=Object)

#: A watch that lived shorter than this counts as a failure, whatever it told, or we would spin.
SHORT_WATCH = 1.0


class InformerMeter(Protocol):
    """What an informer tells about itself."""

    def objects(self, count: int) -> None:
        """So many objects are cached."""

    def relisted(self, why: str) -> None:
        """Everything was listed again."""

    def restarted(self, why: str) -> None:
        """The watch was resumed."""

    def malformed(self, count: int) -> None:
        """So many objects cannot be read."""


class Informer(Generic[T]):
    """One resource, cached and watched."""

    def __init__(
        self,
        client: Reader,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        ports: Ports,
        meter: InformerMeter,
        indexes: Iterable[Index[T]] = (),
        backoff: Backoff | None = None,
    ) -> None:
        self.resource = resource
        self.cache: Cache[T] = Cache(resource, indexes)
        self.own_writes: OwnWrites[T] = OwnWrites(self.cache)
        self.synced = asyncio.Event()
        #: Whether nothing can be judged without it; who can do without says so of itself.
        self.needed = True
        #: Set when the server first said yes or no.
        self.answered = asyncio.Event()
        self.problem: str | None = "not listed yet"
        self._client = client
        self._selection = selection
        self._clock = ports.clock
        self._chance = ports.chance
        self._meter = meter
        self._backoff = backoff or Backoff(first=0.8, limit=30.0)
        self._listeners: list[Callable[[Delta[T]], None]] = []
        self._revision = ""
        self._failures = 0
        self._counted = (0, 0)
        self._refused: Forbidden | None = None
        self._watching_since: float | None = None
        self._log = structlog.get_logger("informer").bind(resource=str(resource))

    @property
    def revision(self) -> str:
        """How new the cache is; empty before the first list."""
        return self._revision

    @property
    def refused(self) -> Forbidden | None:
        """Why we may not look, as of the last try; None: we may, or nobody said that we may not."""
        since = self._watching_since
        lasts = since is not None and self._clock.monotonic() - since >= SHORT_WATCH
        return None if lasts else self._refused

    @property
    def unseen(self) -> str:
        """Why the cache shows nothing, or what was once; empty: it is to be believed."""
        if (refused := self.refused) is not None:
            return refused.message or refused.reason
        return "" if self.synced.is_set() else self.problem or "not listed yet"

    def listen(self, listener: Callable[[Delta[T]], None]) -> None:
        """Have every change told, at once and in order."""
        self._listeners.append(listener)

    async def run(self) -> None:
        """List and watch until cancelled; whatever the peer does, go on."""
        why = "start"
        while True:
            try:
                if why:
                    await self._list(why)
                    why = ""
                await self._watch()
            except PeerError as error:
                why = _list_again_because(error) or why
                await self._wait_after(error)
            except StatewardError as error:  # a login that cannot be made now, for example
                why = why or error.reason
                await self._wait_after(error)
            except Exception as error:  # noqa: BLE001 - a bug must not leave everybody with an old cache
                self._log.exception("watching failed by a bug")
                why = "bug"
                await self._wait_after(HouseError(f"watching failed by a bug: {error!r}"))

    async def _list(self, why: str) -> None:
        listing = await self._client.list(self.resource, self._selection)
        self._meter.relisted(why)
        if self._revision and is_newer(self._revision, than=listing.revision):
            self.own_writes.doubt_everything()  # the server was set back, and our writes with it
        deltas = self.cache.replace(listing)
        self._revision = listing.revision
        self.problem = None
        for malformed in listing.malformed:
            self._complain(malformed)
        self._after_change(deltas)
        self.synced.set()
        self.answered.set()

    async def _watch(self) -> None:
        began = self._watching_since = self._clock.monotonic()
        watch = self._client.watch(self.resource, self._selection, since=self._revision)
        async with aclosing(watch) as events:
            async for event in events:
                lasts = self._clock.monotonic() - began >= SHORT_WATCH
                if lasts or event.change is not Change.BOOKMARK:
                    self._failures = 0
                self.problem = self._refused = None
                self._take_in(event)
        self._meter.restarted("ended")
        if self._clock.monotonic() - began < SHORT_WATCH:
            self._failures += 1
            await self._clock.sleep(self._backoff.delay(self._failures, self._chance))

    def _take_in(self, event: WatchEvent[T]) -> None:
        if is_newer(event.revision, than=self._revision):
            self._revision = event.revision
        delta: Delta[T] | None = None
        match event.change, event.object:
            case Change.BOOKMARK, _:
                pass
            case Change.DELETED, Malformed(metadata=metadata):
                delta = self.cache.remove(metadata.key)
            case _, Malformed() as malformed:
                delta = self.cache.put_malformed(malformed)
                self._complain(malformed)
            case Change.DELETED, item:
                delta = self.cache.remove(item.metadata.key, item)
            case _, item:
                delta = self.cache.put(item)
        self._after_change([delta] if delta else [])

    def _after_change(self, deltas: list[Delta[T]]) -> None:
        counted = (len(self.cache), len(self.cache.malformed))
        if counted != self._counted:
            self._counted = counted
            self._meter.objects(counted[0])
            self._meter.malformed(counted[1])
        if len(self.own_writes):
            # What we wrote may bring no delta (it came and went unseen), and still somebody waits.
            settled = self.own_writes.settle(self._revision)
            deltas += [Delta(note.before or note.object, note.object) for note in settled]
        for delta in deltas:
            for listener in self._listeners:
                self._tell(listener, delta)

    def _tell(self, listener: Callable[[Delta[T]], None], delta: Delta[T]) -> None:
        try:
            listener(delta)
        except Exception:  # noqa: BLE001 - one object that nobody foresaw must not hide the others
            self._log.exception("a change could not be told", key=str(delta.key))

    async def _wait_after(self, error: StatewardError) -> None:
        self._failures += 1
        self._watching_since = None
        self._refused = error if isinstance(error, Forbidden) else None
        if self._refused is not None:
            self.answered.set()
        self.problem = error.sentence()
        self._meter.restarted(error.reason)
        delay = self._backoff.delay(self._failures, self._chance)
        if isinstance(error, ApiError) and error.retry_after is not None:
            delay = max(delay, error.retry_after)
        if self._failures > 1 or not isinstance(error, Gone):
            self._log.warning(
                "watch interrupted", reason=error.reason, error=str(error), retry_in=delay
            )
        await self._clock.sleep(delay)

    def _complain(self, malformed: Malformed) -> None:
        self._log.error(
            "object cannot be read", key=str(malformed.metadata.key), problem=malformed.problem
        )


def _list_again_because(error: PeerError) -> str:
    """Return why the whole must be listed again, or nothing when the watch can be resumed.

    A server that refuses our revision for any reason of its own is asked afresh; one that could not
    be reached, is overloaded or in trouble knows our revision still.
    """
    if isinstance(error, Gone):
        return "gone"
    if isinstance(error, PeerConfused):
        return error.reason  # it would say the same again; a list sets odd objects apart
    if isinstance(error, ApiError) and error.code not in {401, 403, 429, 500, 502, 503}:
        return error.reason
    return ""
