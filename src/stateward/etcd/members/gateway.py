"""Etcd's JSON gateway: HTTP/1.1, one POST for each call.

It cannot log in by certificate: once etcd asks who we are, gRPC is the way. Nothing is repeated,
no redirect is followed, and no proxy of the environment is used: members are pods next door.
"""

from __future__ import annotations

import io
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from yarl import URL

from stateward import __version__
from stateward.core.errors import HouseError, PeerConfused, PeerError
from stateward.etcd.members import failures, jsons, refusals
from stateward.etcd.members.calls import Call, Deadlines, Pace, server_patience
from stateward.etcd.members.messages import Message
from stateward.etcd.members.port import Endpoint
from stateward.kube.http.failures import LOST, Progress, tracing

#: Bytes that an answer may have, and a line of a long one: base64 makes four of three.
LARGEST: Final = 6 * 2**20
_LARGEST_REFUSAL: Final = 64 * 2**10
_LARGEST_LINE: Final = 4 * 2**20

#: What an HTTP code means where no code of gRPC came with it.
_CODES: Final = {400: 3, 401: 16, 403: 7, 404: 12, 405: 12, 429: 8, 501: 12, 503: 14, 504: 4}
_UNKNOWN: Final = 2


def new_session(kept: float) -> aiohttp.ClientSession:
    """Return what the gateways of all members share; connections idle for so long are closed."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=kept),
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[tracing()],
        trust_env=False,
        auto_decompress=False,  # we never ask for it; unasked, it may be a bomb
        headers={"User-Agent": f"stateward/{__version__}", "Accept-Encoding": "identity"},
    )


class Gateway:
    """Speaks JSON to one member."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        endpoint: Endpoint,
        context: ssl.SSLContext | None,
        deadlines: Deadlines,
    ) -> None:
        self._session = session
        self._endpoint = endpoint
        self._context = context
        self._deadlines = deadlines

    async def ask(self, call: Call, request: Message) -> Message:
        """Return the answer."""
        async with self._head(call, request) as response:
            body = await self._body(call, response)
        return understood(call, response.status, body, str(self._endpoint))

    async def stream(self, call: Call, request: Message) -> AsyncGenerator[Message, None]:
        """Yield the parts of a long answer: each is a line."""
        async with self._head(call, request) as response:
            if response.status != 200:
                body = await self._body(call, response)
                understood(call, response.status, body, str(self._endpoint))
            async for line in self._lines(call, response):
                yield _part(call, line, str(self._endpoint))

    @asynccontextmanager
    async def _head(self, call: Call, request: Message) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a call and give the beginning of its answer; what is not read is thrown away."""
        progress = Progress()
        try:
            response = await self._sent(call, request, progress)
        except LOST as error:
            raise self._lost(error, call, sent=progress.connected) from None
        try:
            yield response
        finally:
            response.close()  # gives a connection back whose answer was read to its end

    async def _sent(
        self, call: Call, request: Message, progress: Progress
    ) -> aiohttp.ClientResponse:
        if self._session.closed:
            raise HouseError("connections that were closed must not be used any more")
        endpoint, seconds = self._endpoint, self._deadlines.of(call)
        headers = {"Content-Type": "application/json"}
        if call.limited:
            headers["Grpc-Timeout"] = f"{server_patience(seconds) * 1000:.0f}m"
        return await self._session.post(
            URL.build(
                scheme="http" if self._context is None else "https",
                host=endpoint.address,
                port=endpoint.port,
                path=f"/v3/{call.path}",
            ),
            data=io.BytesIO(jsons.encode(call.request, request)),
            headers=headers,
            ssl=True if self._context is None else self._context,
            server_hostname=endpoint.server_name or None,
            allow_redirects=False,
            timeout=self._timeout(call, seconds),
            trace_request_ctx=progress,
        )

    def _timeout(self, call: Call, seconds: float) -> aiohttp.ClientTimeout:
        connect = min(self._deadlines.connect, seconds)
        if call.pace is Pace.STREAM:
            return aiohttp.ClientTimeout(total=None, connect=connect, sock_read=seconds)
        return aiohttp.ClientTimeout(total=seconds, connect=connect)

    async def _body(self, call: Call, response: aiohttp.ClientResponse) -> bytes:
        most = LARGEST if response.status == 200 else _LARGEST_REFUSAL
        pieces, size = [], 0
        try:
            async for piece in response.content.iter_any():
                pieces.append(piece)
                if (size := size + len(piece)) > most:
                    raise failures.confused(
                        call, str(self._endpoint), f"more than {most} bytes came"
                    )
        except LOST as error:
            raise self._lost(error, call, sent=True) from None
        return b"".join(pieces)

    async def _lines(
        self, call: Call, response: aiohttp.ClientResponse
    ) -> AsyncGenerator[bytes, None]:
        held = bytearray()
        try:
            async for piece in response.content.iter_any():
                held += piece
                *lines, rest = held.split(b"\n")
                held = rest
                if len(held) > _LARGEST_LINE:
                    raise failures.confused(call, str(self._endpoint), "a part is too large")
                for line in lines:
                    yield bytes(line)
        except LOST as error:
            raise self._lost(error, call, sent=True) from None
        if held:
            yield bytes(held)

    def _lost(self, error: BaseException, call: Call, *, sent: bool) -> PeerError:
        where = str(self._endpoint)
        if not sent or failures.certificate_refused(error):
            return failures.unreachable(call, where, failures.why(error))
        if isinstance(error, aiohttp.ClientResponseError):
            return failures.confused(call, where, "it must be HTTP")
        return failures.lost(call, where, failures.why(error))


def understood(call: Call, status: int, body: bytes, where: str) -> Message:
    """Return the message in an answer, or raise what its refusal means."""
    if status != 200:
        raise _refusal(call, status, body, where)
    try:
        return jsons.decode(call.answer, body)
    except PeerConfused as error:
        raise failures.confused(call, where, error.message) from None


def _part(call: Call, line: bytes, where: str) -> Message:
    """Return the message in a line of a long answer: it is wrapped there, and so is a refusal."""
    try:
        said = jsons.parse(line)
        if "error" not in said:
            return jsons.understood(call.answer, said.get("result"))
    except PeerConfused as error:
        raise failures.confused(call, where, error.message) from None
    raise _refusal(call, 500, line, where)


def _refusal(call: Call, status: int, body: bytes, where: str) -> PeerError:
    code, message = _CODES.get(status, _UNKNOWN), body.decode(errors="replace")
    if 300 <= status < 400:
        return failures.confused(call, where, "it must not send us elsewhere")
    try:
        said = jsons.parse(body)
    except PeerConfused:
        return refusals.meaning(code, message, call, where)
    inner = said.get("error")  # a dictionary in a stream, and text in old releases
    said = inner if isinstance(inner, dict) else said
    if isinstance(said.get("code"), int):
        code = said["code"]
    if isinstance(said.get("message"), str):
        message = said["message"]
    return refusals.meaning(code, message, call, where)
