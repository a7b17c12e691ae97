"""The door for Prometheus: ``/metrics``, over HTTP or HTTPS."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from stateward.core.errors import UsageError
from stateward.emulate.keepers.unified.metrics import Metrics

#: Variables that may say where a pod is; the last one the embedded Kubernetes gives to all.
_ADDRESSES = ("FDB_POD_IP", "FDB_PUBLIC_IP", "STATEWARD_ADDRESS")


@dataclass(frozen=True, slots=True)
class Door:
    """Where to listen; with a certificate, over TLS."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None


def door(address: str, environment: Mapping[str, str]) -> Door:
    """Return where an address like ``:8081`` means; raise UsageError when it means nothing.

    Without a host it is the pod's own address: a pod need not have a machine for itself.

    >>> door(":8081", {"FDB_POD_IP": "10.1.2.3"})
    Door(host='10.1.2.3', port=8081, certificate=None, key=None)
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"an address to listen on must look like ':8081', got {address!r}")
    known = next(filter(None, map(environment.get, _ADDRESSES)), "")
    return Door(host.strip("[]") or known.partition(",")[0].strip("[]"), int(port))


@asynccontextmanager
async def serving(metrics: Metrics, where: Door) -> AsyncIterator[int]:
    """Answer while inside, and give the port; raise UsageError when that cannot be."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=metrics.render(), content_type="text/plain", charset="utf-8")

    app = web.Application()
    app.router.add_get("/metrics", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        try:
            tls = _tls(where)
            await web.TCPSite(runner, where.host or None, where.port, ssl_context=tls).start()
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"{where.host}:{where.port} must be free to listen on: {error}") from (
                error
            )
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _tls(where: Door) -> ssl.SSLContext | None:
    if where.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(where.certificate, where.key)
    return context
