"""Watches over HTTP: lines of JSON, until the time is up or the reader has fallen behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from stateward.core.ports import Ports
from stateward.kube.errors import ApiError
from stateward.local.server.answers import JSON
from stateward.local.server.forms import Show, error_event
from stateward.local.server.options import Listing
from stateward.local.server.pages import check_known
from stateward.local.store import Store
from stateward.local.watching import Filter, Pace, Sighting, batches

#: Seconds that a watch lasts when its reader does not say: different for each of them.
LIFETIME: Final = (1800.0, 3600.0)
#: Bytes that are handed over at once; more of them wait until these are taken.
PIECE: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Temper:
    """How watches behave in time."""

    #: A quiet watcher hears this often, in seconds, that nothing happened.
    bookmark_every: float = 60.0
    #: Seconds after which a reader who takes nothing is cut off.
    patience: float = 15.0


@dataclass(frozen=True, slots=True)
class _Watch:
    """One watch: what is asked for, and how it is shown."""

    store: Store
    show: Show
    asked: Listing
    wanted: Filter
    pace: Pace

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Yield what is to be written; a refusal is the last line."""
        try:
            async with aclosing(self._told()) as told:
                async for piece in told:
                    yield piece
        except ApiError as error:
            yield error_event(error)

    async def _told(self) -> AsyncGenerator[bytes, None]:
        first, initial = True, bool(self.asked.initial_events)
        resource = self.show.kind.resource
        stream = batches(self.store, resource, self.wanted, self._since(), self.pace)
        async with aclosing(stream) as groups:
            async for group in groups:
                for piece in self._shown(group, first=first, initial=initial):
                    yield piece
                first = first and not (isinstance(group, list) and group)
                initial = False

    def _since(self) -> int:
        """Return the revision to begin after; 0 begins with what is there."""
        since = self.asked.revision or 0
        if self.asked.initial_events:
            check_known(self.store, since)
            return 0
        if self.asked.initial_events is False and not since:
            return self.store.revision
        return since

    def _shown(self, group: list[Sighting] | int, *, first: bool, initial: bool) -> Iterator[bytes]:
        if isinstance(group, int):
            if self.asked.bookmarks:
                yield self.show.bookmark(group)
            return
        known = self.store.revision  # before anybody else gets to write
        yield from self._lines(group, first=first)
        if initial:
            yield self.show.bookmark(known, initial_end=True)

    def _lines(self, group: list[Sighting], *, first: bool) -> Iterator[bytes]:
        lines: list[bytes] = []
        size = 0
        for seen in group:
            lines.append(self.show.event(seen.change, seen.stored, headless=not first))
            first = False
            size += len(lines[-1])
            if size > PIECE:
                yield b"".join(lines)
                lines, size = [], 0
        if lines:
            yield b"".join(lines)


class Streams:
    """All watches of a server; they end when it does."""

    def __init__(self, store: Store, ports: Ports, temper: Temper | None = None) -> None:
        self._store = store
        self._clock = ports.clock
        self._chance = ports.chance.stream("watches")
        self._temper = temper or Temper()
        self._open: set[asyncio.Task[Any]] = set()
        self._closing = False

    def __len__(self) -> int:
        return len(self._open)

    async def serve(
        self, request: web.BaseRequest, show: Show, asked: Listing
    ) -> web.StreamResponse:
        """Tell one reader what happens."""
        wanted = Filter.of(asked.selection, show.kind.selectable)
        lifetime = float(asked.seconds or self._chance.between(*LIFETIME))
        pace = Pace(self._clock, self._temper.bookmark_every, lifetime)
        watch = _Watch(self._store, show, asked, wanted, pace)
        return await self.write(request, watch.pieces(), JSON)

    async def write(
        self, request: web.BaseRequest, pieces: AsyncGenerator[bytes, None], content_type: str
    ) -> web.StreamResponse:
        """Write pieces as they come, to a reader who takes them in time."""
        response = web.StreamResponse(
            headers={"Content-Type": content_type, "Cache-Control": "no-cache, private"}
        )
        response.enable_chunked_encoding()
        await response.prepare(request)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a handler always runs in one
        self._open.add(task)
        try:
            await self._pump(response, pieces)
            await response.write_eof()
        except asyncio.CancelledError:
            if not self._closing:
                raise
            task.uncancel()  # it was us: the reader gets a proper end, if it is still there
            with suppress(ConnectionError):
                await response.write_eof()
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
        except ConnectionError:
            pass  # the reader has left
        finally:
            self._open.discard(task)
        return response

    def close(self) -> None:
        """End all watches; new ones end at once."""
        self._closing = True
        for task in tuple(self._open):
            task.cancel()

    async def _pump(
        self, response: web.StreamResponse, pieces: AsyncGenerator[bytes, None]
    ) -> None:
        async with aclosing(pieces):
            async for piece in pieces:
                async with asyncio.timeout(self._temper.patience):
                    await response.write(piece)
