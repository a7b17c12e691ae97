"""A server to measure, until its standard input ends: ``bare`` or ``embedded``."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web

from stateward.core.ports import Ports
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from tools.bench.kubernetes import TOKEN


async def bare() -> None:
    """Read the body and answer with it: what HTTP alone costs."""

    async def handle(request: web.Request) -> web.Response:
        return web.Response(body=await request.read(), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/bare", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await _until_told()
    await runner.cleanup()


async def embedded() -> None:
    """Serve the embedded Kubernetes, without controllers and nodes."""
    ports = Ports.of_this_machine()
    server = ApiServer(served_api(ports), ports, token=TOKEN)
    async with server.listening() as url:
        print(url.rpartition(":")[2], flush=True)
        await _until_told()


async def _until_told() -> None:
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run({"bare": bare, "embedded": embedded}[sys.argv[1]]())
