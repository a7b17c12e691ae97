"""What a node answers to the API server: the logs of its containers, and nothing else.

Only who shows a certificate of the cluster's own authority is answered. Each node has a door of
its own on its loopback address, and says in its status which.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import web

from stateward.core.clock import Clock
from stateward.core.errors import StatewardError
from stateward.kube.client import LogOptions
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.local.agent.nodes import Node
from stateward.local.client import LogSource
from stateward.local.server import options, podlogs

#: Seconds that answers under way get to end when the node does.
_GRACE: Final = 1.0


class Kubelet:
    """Serves the logs of some nodes."""

    def __init__(self, logs: LogSource, clock: Clock, papers: Path) -> None:
        self._logs = logs
        self._clock = clock
        self._tls = _tls(papers)

    @asynccontextmanager
    async def listening(self, nodes: Iterable[Node]) -> AsyncGenerator[None, None]:
        """Serve until the end of the block; each node knows its port then."""
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=_GRACE)
        await runner.setup()
        try:
            for node in nodes:
                await web.TCPSite(runner, node.address, 0, ssl_context=self._tls).start()
                node.port = runner.addresses[-1][1]
            yield
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        match request.method, request.path.split("/")[1:]:
            case "GET", ["containerLogs", namespace, pod, container]:
                return await self._log_of(request, ObjectKey(namespace, pod), container)
            case _:
                text = f"{request.method} {request.path} is not offered by this node: only logs are"
                return web.Response(status=404, text=text)

    async def _log_of(
        self, request: web.BaseRequest, key: ObjectKey, container: str
    ) -> web.StreamResponse:
        try:
            asked = self._asked(request, key, container)
            limit = options.number(request.query, "limitBytes")
            pieces = podlogs.at_most(self._logs(key, asked), limit)
            first = await anext(pieces, b"")  # what is wrong is said before the answer begins
        except StatewardError as error:
            code = error.code if isinstance(error, ApiError) else 500
            return web.Response(status=code, text=error.message)
        return await _streamed(request, podlogs.beginning_with(first, pieces))

    def _asked(self, request: web.BaseRequest, key: ObjectKey, container: str) -> LogOptions:
        """Return what is asked for; whether there is such a container, the agent knows."""
        pod = {"metadata": {"name": key.name}, "spec": {"containers": [{"name": container}]}}
        return podlogs.log_options(request.query, pod, self._clock.now())


async def _streamed(
    request: web.BaseRequest, pieces: AsyncGenerator[bytes, None]
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    async with aclosing(pieces):
        await response.prepare(request)
        async for piece in pieces:
            await response.write(piece)
    await response.write_eof()
    return response


def _tls(papers: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(papers / "server.crt", papers / "server.key")
    context.load_verify_locations(papers / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    return context
