"""A server whose every byte the test decides: one script for each request, in the order in which they come."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fakes.hand_clock import HandClock


class EagerClock(HandClock):
    """A clock on which waiting takes no time; it remembers how long everybody wanted to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, delay: float) -> None:
        self.slept.append(delay)
        self.advance(delay)
        await asyncio.sleep(0)


@dataclass(slots=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, list[str]]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        return ", ".join(self.headers.get(name.lower(), []))

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(slots=True)
class Exchange:
    """One request, and the way to answer it."""

    seen: Seen
    reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter
    over: bool = False

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def hang(self) -> None:
        """Say no more, until the client gives up."""
        self.over = True
        await self._writer.wait_closed()

    def cut(self) -> None:
        """Close the connection."""
        self.over = True
        self._writer.close()

    def reset(self) -> None:
        """Drop the connection at once, as a crash does."""
        self.over = True
        self._writer.transport.abort()


Script = Callable[[Exchange], Awaitable[None]]


@dataclass(slots=True)
class Scripted:
    """Plays scripts on 127.0.0.1. Leaving it checks that all of them were played."""

    scripts: list[Script] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    unscripted: int = 0
    tls: ssl.SSLContext | None = None
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def plays(self, *scripts: Script) -> Scripted:
        self.scripts.extend(scripts)
        return self

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Scripted:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, ssl=self.tls, limit=2**24
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        if kind is None:
            assert self.scripts == [], "not every script was played"
            assert self.unscripted == 0, f"requests that no script expected: {self.seen}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        with suppress(
            ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError
        ):
            await self._serve(self.connections, reader, writer)
        writer.close()
        with suppress(ConnectionError, ssl.SSLError, asyncio.CancelledError):
            await writer.wait_closed()
        self._tasks.discard(task)

    async def _serve(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            seen = await _request(reader, number)
            self.seen.append(seen)
            if not self.scripts:
                self.unscripted += 1
                return
            exchange = Exchange(seen, reader, writer)
            await self.scripts.pop(0)(exchange)
            if exchange.over:
                return


async def _request(reader: asyncio.StreamReader, connection: int) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), []).append(value.strip())
    body = await reader.readexactly(int(headers.get("content-length", ["0"])[0]))
    parts = urlsplit(target)
    query = {name: ",".join(values) for name, values in parse_qs(parts.query).items()}
    return Seen(method, parts.path, query, headers, body, connection)


# ---------------------------------------------------------------------------- scripts


def answers(
    body: Any = None,
    *,
    code: int = 200,
    content_type: str = "application/json",
    headers: tuple[str, ...] = (),
) -> Script:
    """Answer with a document (or with bytes as they are), whole."""

    async def play(exchange: Exchange) -> None:
        await exchange.send(whole(body, code=code, content_type=content_type, headers=headers))

    return play


def whole(
    body: Any,
    *,
    code: int = 200,
    content_type: str = "application/json",
    headers: tuple[str, ...] = (),
) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [
        f"HTTP/1.1 {code} Said",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(data)}",
        *headers,
    ]
    return "\r\n".join([*head, "", ""]).encode() + data


def refuses(
    code: int, reason: str, *, message: str = "no", headers: tuple[str, ...] = (), **details: Any
) -> Script:
    """Answer with a Status document, as Kubernetes does."""
    return answers(status(code, reason, message, **details), code=code, headers=headers)


def status(code: int, reason: str, message: str = "no", **details: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }


def streams(*pieces: bytes, end: str = "clean", content_type: str = "application/json") -> Script:
    """Send a chunked body piece by piece, then end it: ``clean``, ``cut``, ``reset`` or ``hang``."""

    async def play(exchange: Exchange) -> None:
        await exchange.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        for piece in pieces:
            await exchange.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await asyncio.sleep(0)
        match end:
            case "clean":
                await exchange.send(b"0\r\n\r\n")
            case "cut":
                exchange.cut()
            case "reset":
                exchange.reset()
            case _:
                await exchange.hang()

    return play


def tunnels(port: int) -> Script:
    """Do what a proxy does with CONNECT: carry bytes to and from another port."""

    async def play(exchange: Exchange) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await exchange.send(b"HTTP/1.1 200 Connected\r\n\r\n")
        exchange.over = True

        async def carry_in() -> None:
            while data := await exchange.reader.read(65536):
                writer.write(data)
            writer.close()

        carrying = asyncio.create_task(carry_in())
        try:
            while data := await reader.read(65536):
                await exchange.send(data)
        finally:
            carrying.cancel()
            writer.close()

    return play


async def hangs(exchange: Exchange) -> None:
    """Take the request and never answer."""
    await exchange.hang()


async def cuts(exchange: Exchange) -> None:
    """Take the request and close the connection."""
    exchange.cut()


async def resets(exchange: Exchange) -> None:
    """Take the request and drop the connection."""
    exchange.reset()


def breaks_off(body: Any, *, code: int = 200, kept: int = 10) -> Script:
    """Answer with the head and a few bytes of the body, and close."""

    async def play(exchange: Exchange) -> None:
        data = whole(body, code=code)
        await exchange.send(data[: data.index(b"\r\n\r\n") + 4 + kept])
        exchange.cut()

    return play


def trickles(body: Any, *, kept: int = 10) -> Script:
    """Answer with the head and a few bytes of the body, and say no more."""

    async def play(exchange: Exchange) -> None:
        data = whole(body)
        await exchange.send(data[: data.index(b"\r\n\r\n") + 4 + kept])
        await exchange.hang()

    return play


def pod(name: str, revision: int = 1, **more: Any) -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-{name}",
        "resourceVersion": str(revision),
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **more}


def pod_list(*pods: Any, revision: str = "100", next_page: str = "") -> dict[str, Any]:
    metadata = {"resourceVersion": revision, **({"continue": next_page} if next_page else {})}
    return {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": list(pods)}


def event(kind: str, body: Any) -> bytes:
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"
