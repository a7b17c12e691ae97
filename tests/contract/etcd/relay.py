"""A wire between us and a member that can be cut, and that counts connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fakes.etcds import Etcd


class Relay:
    """Passes bytes on; once it swallows, answers are not passed on but the connection is cut."""

    port = 0
    swallows = False
    #: How many connections go through it now.
    open = 0

    def __init__(self, etcd: Etcd) -> None:
        self.etcd = etcd

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_etcd, to_etcd = await asyncio.open_connection(self.etcd.address, self.etcd.client_port)
        self.open += 1
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._asking(reader, to_etcd))
                both.create_task(self._answering(from_etcd, writer))
        finally:
            self.open -= 1
            to_etcd.transport.abort()
            writer.transport.abort()

    async def _asking(self, reader: asyncio.StreamReader, to_etcd: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                to_etcd.write(data)
        to_etcd.transport.abort()

    async def _answering(
        self, from_etcd: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await from_etcd.read(65536):
                if self.swallows:
                    await asyncio.sleep(0.1)  # whatever was asked has arrived
                    break
                writer.write(data)
        writer.transport.abort()


@asynccontextmanager
async def relaying(etcd: Etcd) -> AsyncIterator[Relay]:
    relay = Relay(etcd)
    server = await asyncio.start_server(relay.relay, "127.0.0.1")
    relay.port = server.sockets[0].getsockname()[1]
    async with server:
        yield relay
    await asyncio.sleep(0.05)  # its connections end with ours
