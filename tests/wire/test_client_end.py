"""The end of a client, and answers that are meant to hurt."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from stateward.core.chance import Chance
from stateward.core.errors import PeerConfused, PeerUnreachable
from stateward.kube.http import wire as http_wire
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from wire.scripted import EagerClock

KEY = ObjectKey("shop", "a")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


async def serve(answer: bytes) -> tuple[asyncio.Server, HttpClient]:
    """Say the same to everybody, and then nothing more until they leave."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    access = ClusterAccess(f"http://127.0.0.1:{port}")
    return server, HttpClient(access, EagerClock(), Chance(1))


async def test_whoever_watches_hears_that_the_client_is_closed() -> None:
    server, client = await serve(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    async with server:
        watching = asyncio.ensure_future(anext(client.watch(PODS, since="1")))
        await asyncio.sleep(0.1)
        assert not watching.done()
        await client.close()
        with pytest.raises(PeerUnreachable):
            await asyncio.wait_for(watching, 5)


async def test_what_is_packed_unasked_is_not_unpacked() -> None:
    bomb = gzip.compress(b'{"metadata":{"name":"' + b" " * 10_000_000 + b'"}}')
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    server, client = await serve(head + bomb)
    async with server, client:
        with pytest.raises(PeerConfused):
            await client.get(PODS, KEY)


async def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_wire, "_LARGEST_BODY", 1000)
    server, client = await serve(HEAD + b"Content-Length: 5000\r\n\r\n" + b" " * 5000)
    async with server, client:
        with pytest.raises(PeerConfused, match="larger than 1000 bytes"):
            await client.get(PODS, KEY)
