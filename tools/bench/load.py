"""A load generator that costs little itself: a few connections, one request at a time on each."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Connections that ask at the same time.
LANES = 8


@dataclass(frozen=True, slots=True)
class Ask:
    """One request; the path and body may depend on its number."""

    method: str
    path: Callable[[int], str]
    body: Callable[[int], dict[str, object]] | None = None
    content_type: str = "application/json"

    def text(self, number: int, token: str) -> bytes:
        """Return the request as it goes over the wire."""
        body = json.dumps(self.body(number)).encode() if self.body else b""
        head = (
            f"{self.method} {self.path(number)} HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {token}\r\nAccept: application/json\r\n"
        )
        if body:
            head += f"Content-Type: {self.content_type}\r\nContent-Length: {len(body)}\r\n"
        return head.encode() + b"\r\n" + body


async def run(port: int, token: str, ask: Ask, count: int) -> float:
    """Send so many requests; return the seconds that took. One that fails ends everything."""
    numbers = iter(range(count))
    began = time.perf_counter()
    async with asyncio.TaskGroup() as lanes:
        for _ in range(LANES):
            lanes.create_task(_lane(port, token, ask, numbers))
    return time.perf_counter() - began


async def once(port: int, token: str, ask: Ask) -> bytes:
    """Send one request and return the body of its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    writer.write(ask.text(0, token))
    body = await _body(reader, await reader.readuntil(b"\r\n\r\n"))
    writer.close()
    return body


async def _lane(port: int, token: str, ask: Ask, numbers: Iterator[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    for number in numbers:
        writer.write(ask.text(number, token))
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        body = await _body(reader, head)
        if status >= 300:
            raise RuntimeError(f"{ask.method} {ask.path(number)}: {status} {body[:500]!r}")
    writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    lower = head.lower()
    if b"transfer-encoding: chunked" in lower:
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append((await reader.readexactly(size + 2))[:-2])
        await reader.readline()
        return b"".join(parts)
    at = lower.index(b"content-length:") + 15
    return await reader.readexactly(int(lower[at : lower.index(b"\r", at)]))
