"""What stands between a client and a server: it cuts, slows and refuses as a test says."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from fakes.trust import trusting
from stateward.kube.http.access import ClusterAccess

#: Headers that belong to one connection and not to the message.
_OF_THE_WIRE = frozenset(
    {"transfer-encoding", "content-length", "connection", "content-encoding", "host"}
)


@dataclass(slots=True)
class Proxy:
    """Passes everything on, but for what was planned."""

    access: ClusterAccess
    session: aiohttp.ClientSession
    #: Answers instead of the server's, one for each of the next calls: a code and Retry-After.
    refusals: deque[tuple[int, str]] = field(default_factory=deque)
    #: Seconds that every answer is held back.
    delay: float = 0.0
    #: After so many bytes of a watch it is cut, once.
    cut_watch_after: int | None = None
    #: While it is cut, nobody is let through.
    is_cut: bool = False
    #: What was asked, as ``GET /path``.
    asked: list[str] = field(default_factory=list)
    _open: list[web.Request] = field(default_factory=list)

    def cut(self) -> None:
        """End every connection and let nobody through."""
        self.is_cut = True
        for request in list(self._open):
            _hang_up(request)

    def mend(self) -> None:
        """Let everybody through again."""
        self.is_cut = False

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        self.asked.append(f"{request.method} {request.path}")
        if self.is_cut:
            _hang_up(request)
            return web.Response()
        if self.refusals:
            code, after = self.refusals.popleft()
            body = {"kind": "Status", "status": "Failure", "code": code, "message": "not now"}
            return web.json_response(body, status=code, headers={"Retry-After": after})
        try:
            return await self._forward(request)
        except aiohttp.ClientError:  # the server is down: as if there were no proxy
            _hang_up(request)
            return web.Response()

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        async with self.session.request(
            request.method,
            str(self.access.server).rstrip("/") + request.raw_path,
            data=await request.read(),
            headers={k: v for k, v in request.headers.items() if k.lower() not in _OF_THE_WIRE},
        ) as answer:
            await asyncio.sleep(self.delay)
            return await self._relay(request, answer)

    async def _relay(
        self, request: web.Request, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        kept = {k: v for k, v in answer.headers.items() if k.lower() not in _OF_THE_WIRE}
        relayed = web.StreamResponse(status=answer.status, headers=kept)
        await relayed.prepare(request)
        self._open.append(request)
        try:
            await self._stream(request, relayed, answer)
        finally:
            self._open.remove(request)
        return relayed

    async def _stream(
        self, request: web.Request, relayed: web.StreamResponse, answer: aiohttp.ClientResponse
    ) -> None:
        watches = "watch" in request.query
        async for piece in answer.content.iter_any():
            left = self.cut_watch_after if watches else None
            if left is not None and len(piece) >= left:
                self.cut_watch_after = None
                await relayed.write(piece[:left])
                _hang_up(request)
                return
            if left is not None:
                self.cut_watch_after = left - len(piece)
            await relayed.write(piece)


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()


@asynccontextmanager
async def before(access: ClusterAccess) -> AsyncGenerator[tuple[Proxy, ClusterAccess], None]:
    """Stand before a server; return the proxy and how it is reached."""
    connector = aiohttp.TCPConnector(ssl=trusting(access), limit=0)
    async with aiohttp.ClientSession(connector=connector, auto_decompress=True) as session:
        proxy = Proxy(access, session)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", proxy.pass_on)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        try:
            yield (
                proxy,
                ClusterAccess(f"http://127.0.0.1:{port}", credentials=access.credentials),
            )
        finally:
            await runner.cleanup()
