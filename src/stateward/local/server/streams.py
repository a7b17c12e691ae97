"""Watches over HTTP: lines of JSON, until the time is up or the reader has fallen behind."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from stateward.core.ports import Ports
from stateward.kube.errors import ApiError
from stateward.local.kinds import Kind
from stateward.local.server.answers import JSON
from stateward.local.server.forms import Show, error_event
from stateward.local.server.negotiation import Form
from stateward.local.server.options import Listing
from stateward.local.server.pages import check_known
from stateward.local.store import Store
from stateward.local.watching import Filter, Pace, Sighting, batches

#: Seconds that a watch lasts when its reader does not say: different for each of them.
LIFETIME: Final = (1800.0, 3600.0)
#: Bytes that are handed over at once; more of them wait until these are taken.
PIECE: Final = 256 * 1024
#: Watchers that are told something in one turn of the loop; then others are served.
AT_ONCE: Final = 50
#: Lines that are kept for the next watcher.
_SHARED_LINES: Final = 64


@dataclass(frozen=True, slots=True)
class Temper:
    """How watches behave in time."""

    #: A quiet watcher hears this often, in seconds, that nothing happened.
    bookmark_every: float = 60.0
    #: Seconds after which a reader who takes nothing is cut off.
    patience: float = 15.0


class Turns:
    """Lets watchers go on a few at a time: thousands may have waited for the same event."""

    def __init__(self) -> None:
        self._left = AT_ONCE
        self._is_due = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def come(self) -> None:
        """Wait for a turn."""
        loop = asyncio.get_running_loop()
        if not self._is_due:
            self._is_due = True
            loop.call_soon(self._next, loop)
        if self._left > 0:
            self._left -= 1
            return
        mine = loop.create_future()
        self._waiting.append(mine)
        await mine

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        self._left = AT_ONCE
        while self._waiting and self._left > 0:
            if not (first := self._waiting.popleft()).done():
                first.set_result(None)
                self._left -= 1
        self._is_due = bool(self._waiting)
        if self._is_due:
            loop.call_soon(self._next, loop)


class _Lines:
    """The newest lines, written once for all watchers who see the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Kind, bytes]] = {}

    def of(self, show: Show, seen: Sighting, *, headless: bool) -> bytes:
        """Return the line that tells of an event."""
        stored = seen.stored
        # A table says how old things are.
        moment = int(show.now()) if show.wanted.form is Form.TABLE else 0
        what = seen.change, stored.uid, stored.key, stored.revision
        key = *what, show.wanted, show.include, show.kind.resource.version, headless, moment
        kind, line = self._known.get(key, (None, b""))
        if kind is not show.kind:
            line = show.event(seen.change, stored, headless=headless)
            if len(self._known) >= _SHARED_LINES:
                del self._known[next(iter(self._known))]
            self._known[key] = show.kind, line
        return line


@dataclass(frozen=True, slots=True)
class _Watch:
    """One watch: what is asked for, and how it is shown."""

    store: Store
    show: Show
    asked: Listing
    wanted: Filter
    pace: Pace
    lines: _Lines
    turns: Turns

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
                known = self.store.revision  # before anybody else gets to write
                await self.turns.come()
                for piece in self._shown(group, known, first=first, initial=initial):
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

    def _shown(
        self, group: list[Sighting] | int, known: int, *, first: bool, initial: bool
    ) -> Iterator[bytes]:
        if isinstance(group, int):
            if self.asked.bookmarks:
                yield self.show.bookmark(group)
            return
        yield from self._lines(group, first=first)
        if initial and self.asked.bookmarks:
            yield self.show.bookmark(known, initial_end=True)

    def _lines(self, group: list[Sighting], *, first: bool) -> Iterator[bytes]:
        lines: list[bytes] = []
        size = 0
        for seen in group:
            lines.append(self.lines.of(self.show, seen, headless=not first))
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
        self._lines = _Lines()
        self._turns = Turns()

    def __len__(self) -> int:
        return len(self._open)

    async def serve(
        self, request: web.BaseRequest, show: Show, asked: Listing
    ) -> web.StreamResponse:
        """Tell one reader what happens."""
        wanted = Filter.of(asked.selection, show.kind)
        lifetime = float(asked.seconds or self._chance.between(*LIFETIME))
        pace = Pace(self._clock, self._temper.bookmark_every, lifetime)
        watch = _Watch(self._store, show, asked, wanted, pace, self._lines, self._turns)
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
