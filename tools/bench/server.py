"""An API server that knows five thousand pods and says what happens to them when told to."""

from __future__ import annotations

import asyncio
import sys

import msgspec
from aiohttp import web

from tools.bench import pods


class Server:
    """Everything is prepared, so that the reader of it is measured and not the server."""

    def __init__(self) -> None:
        self._texts = [msgspec.json.encode(pods.pod(n, n + 1)) for n in range(pods.COUNT)]
        self._lines = [pods.watch_line(n, pods.COUNT + n + 1) for n in range(pods.COUNT)]
        self._go = asyncio.Event()

    def app(self) -> web.Application:
        """Return the routes."""
        app = web.Application()
        app.router.add_get("/api/v1/pods", self.pods)
        app.router.add_post("/go", self.go)
        return app

    async def pods(self, request: web.Request) -> web.StreamResponse:
        """List a page, or watch."""
        if request.query.get("watch"):
            return await self._watch(request)
        first = int(request.query.get("continue") or 0)
        last = min(first + int(request.query.get("limit") or pods.COUNT), pods.COUNT)
        more = f'"continue":"{last}",' if last < pods.COUNT else ""
        head = f'{{"kind":"PodList","metadata":{{{more}"resourceVersion":"{pods.COUNT}"}},"items":['
        body = head.encode() + b",".join(self._texts[first:last]) + b"]}"
        return web.Response(body=body, content_type="application/json")

    async def go(self, _request: web.Request) -> web.Response:
        """Let the watch tell its events."""
        self._go.set()
        return web.Response()

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await self._go.wait()
        for line in self._lines:
            await response.write(line)
        await asyncio.sleep(600)
        return response


async def serve() -> None:
    """Serve on a free port of the loopback, print it, and end when standard input does."""
    runner = web.AppRunner(Server().app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
