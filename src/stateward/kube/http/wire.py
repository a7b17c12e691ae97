"""One request, one answer: logins and deadlines around the HTTP library.

Nothing is repeated here, with one exception: a 401 did nothing, so a login that can be renewed is,
and the request is sent once more. The library would also repeat a PUT or DELETE by itself when a
kept connection turns out to be closed. The first one may have been carried out, so the second would
be answered with a conflict that nobody caused: that is prevented.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace

import aiohttp
from yarl import URL

from stateward import __version__
from stateward.core.clock import Clock
from stateward.core.errors import HouseError, PeerError, StatewardError
from stateward.kube.errors import Unauthorized
from stateward.kube.http import answers, failures
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.answers import Answer
from stateward.kube.http.failures import Progress, tracing
from stateward.kube.http.login import Login, Logins
from stateward.kube.http.requests import Request

USER_AGENT = f"stateward/{__version__}"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an exchange may take, and how long it may be silent. None: for ever."""

    total: float | None
    idle: float | None = None

    def after(self, spent: float) -> Patience:
        """Return what is left of it."""
        return self if self.total is None else replace(self, total=self.total - spent)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who wants to hear about exchanges, and about what the server warns of."""

    #: Called with the method, the code or the error's reason, and the seconds it took.
    observe: Callable[[str, str, float], None]
    warn: Callable[[str], None]


class Wire:
    """The way to one API server."""

    def __init__(
        self, access: ClusterAccess, clock: Clock, listeners: Listeners, *, connect_within: float
    ) -> None:
        self._access = access
        self._clock = clock
        self._listeners = listeners
        self._connect_within = connect_within
        self._logins = Logins(access, clock)
        self._session: aiohttp.ClientSession | None = None
        self._open: dict[aiohttp.ClientResponse, None] = {}
        self.closed = False

    async def exchange(self, request: Request, patience: Patience) -> Answer:
        """Return the whole answer, whatever it says; raise when there is none."""
        login = await self._logins.current()
        begun = self._clock.monotonic()
        answer = await self._attempt(request, login, patience)
        if answer.status != Unauthorized.code:
            return answer
        left = patience.after(self._clock.monotonic() - begun)
        fresh = await self._logins.renewed(login)
        return answer if fresh == login else await self._attempt(request, fresh, left)

    async def chunks(
        self, request: Request, patience: Patience, *, json: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes, in pieces; raise when it is cut or is a refusal."""
        async with AsyncExitStack() as stack:
            response = await self._opened(request, patience, stack)
            answer = self._answer(request, response, b"")
            if response.status != 200 or (json and not answers.is_json(answer.content_type)):
                answers.checked(replace(answer, body=await self._body(request, response)))
            try:
                async for chunk in response.content.iter_any():
                    yield chunk
            except failures.LOST as error:
                raise self._lost(error, request, sent=True) from None

    async def close(self) -> None:
        """Close all connections; nothing can be sent any more."""
        self.closed = True
        await self._logins.close()
        for response in tuple(self._open):
            # Whoever waits for more of it would wait for ever.
            response.content.set_exception(aiohttp.ClientConnectionError("the client was closed"))
        if self._session is not None:
            await self._session.close()

    async def _opened(
        self, request: Request, patience: Patience, stack: AsyncExitStack
    ) -> aiohttp.ClientResponse:
        login = await self._logins.current()
        response = await self._begun(request, login, patience, stack)
        if response.status != Unauthorized.code:
            return response
        fresh = await self._logins.renewed(login)
        if fresh == login:
            return response
        return await self._begun(request, fresh, patience, stack)

    async def _begun(
        self, request: Request, login: Login, patience: Patience, stack: AsyncExitStack
    ) -> aiohttp.ClientResponse:
        with self._observed(request) as seen:
            response = await stack.enter_async_context(self._head(request, login, patience))
            seen.code = str(response.status)
            return response

    async def _attempt(self, request: Request, login: Login, patience: Patience) -> Answer:
        with self._observed(request) as seen:
            async with self._head(request, login, patience) as response:
                seen.code = str(response.status)
                return self._answer(request, response, await self._body(request, response))

    @asynccontextmanager
    async def _head(
        self, request: Request, login: Login, patience: Patience
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send the request and give the beginning of the answer.

        What is not read of it is thrown away.
        """
        progress = Progress()
        try:
            response = await self._sent(request, login, patience, progress)
        except _LostOnce as lost:
            raise self._lost(lost.error, request, sent=progress.connected) from None
        except failures.LOST as error:
            raise self._lost(error, request, sent=progress.connected) from None
        try:
            self._open[response] = None
            for text in answers.warnings_in(response.headers.getall("Warning", [])):
                self._listeners.warn(text)
            yield response
        finally:
            self._open.pop(response, None)
            _hang_up(response)

    async def _sent(
        self, request: Request, login: Login, patience: Patience, progress: Progress
    ) -> aiohttp.ClientResponse:
        return await self._session_now().request(
            request.method,
            URL(self._access.server + request.target, encoded=True),
            data=request.body or None,
            headers=_headers(request, self._logins.headers(login)),
            ssl=login.context,
            server_hostname=self._access.tls.server_name or None,
            proxy=self._access.proxy or None,
            allow_redirects=False,  # credentials must not follow to another host
            timeout=self._timeout(patience),
            trace_request_ctx=progress,
        )

    async def _body(self, request: Request, response: aiohttp.ClientResponse) -> bytes:
        refused = response.status >= 400
        most = _LARGEST_REFUSAL if refused else _LARGEST_BODY
        pieces, size = [], 0
        try:
            async for piece in response.content.iter_any():
                pieces.append(piece)
                if (size := size + len(piece)) > most:
                    break
        except failures.LOST as error:
            if refused:
                return b""  # the code alone says that it was refused
            raise self._lost(error, request, sent=True) from None
        if size > most and not refused:
            raise answers.nonsense(request, f"its answer is larger than {most} bytes")
        return b"".join(pieces)

    def _answer(self, request: Request, response: aiohttp.ClientResponse, body: bytes) -> Answer:
        return Answer(
            request,
            response.status,
            response.headers.get("Content-Type", ""),
            body,
            answers.retry_after(response.headers.get("Retry-After"), self._clock.now()),
        )

    def _lost(self, error: BaseException, request: Request, *, sent: bool) -> PeerError:
        self._logins.lost(handshake=failures.is_about_tls(error))
        return failures.meaning_of(error, request, self._access.server, sent=sent)

    def _session_now(self) -> aiohttp.ClientSession:
        """Return the session, made at the first request: then there is an event loop for sure."""
        if self.closed:
            raise HouseError("a client that was closed must not be used any more")
        if self._session is None:
            if not self._access.tls.verify:
                self._listeners.warn(f"the certificate of {self._access.server} is not verified")
            self._session = _new_session()
        return self._session

    def _timeout(self, patience: Patience) -> aiohttp.ClientTimeout:
        # To the library, zero means "for ever".
        total = None if patience.total is None else max(patience.total, 0.001)
        return aiohttp.ClientTimeout(
            total=total, connect=self._connect_within, sock_read=patience.idle
        )

    @contextmanager
    def _observed(self, request: Request) -> Iterator[_Seen]:
        begun, seen = self._clock.monotonic(), _Seen()
        try:
            yield seen
        except StatewardError as error:
            seen.code = error.reason
            raise
        finally:
            seconds = self._clock.monotonic() - begun
            self._listeners.observe(request.verb or request.method, seen.code, seconds)


@dataclass(slots=True)
class _Seen:
    code: str = "Cancelled"


def _hang_up(response: aiohttp.ClientResponse) -> None:
    """Give back the connection of an answer; one that was not read to its end is cut at once.

    The farewell of TLS waits for the peer, and could outlive the event loop.
    """
    transport = response.connection.transport if response.connection else None
    response.close()
    if transport is not None:
        transport.abort()


def _headers(request: Request, login: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    headers = [
        ("Accept", "application/json, */*"),
        ("Accept-Encoding", "identity"),  # inside a cluster, packing costs more than it saves
        ("User-Agent", USER_AGENT),
        *login,
    ]
    if request.content_type:
        headers.append(("Content-Type", request.content_type))
    return headers


class _LostOnce(Exception):
    """Carries an error past the library's own repetition."""

    def __init__(self, error: aiohttp.ClientError) -> None:
        super().__init__()
        self.error = error


#: Bytes that an answer may have: a page of large objects is far smaller.
_LARGEST_BODY = 512 * 2**20
#: Bytes of a refusal that are worth reading.
_LARGEST_REFUSAL = 2**20
#: Bytes that a connection reads ahead of us.
_READ_AHEAD = 2**20


def _new_session() -> aiohttp.ClientSession:
    """Return a session; requests give a :class:`Progress` as ``trace_request_ctx``."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),  # every watch holds a connection of its own
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[tracing()],
        middlewares=(_never_twice,),
        # Watch events are tens of kilobytes: a small buffer would stop and start the socket for
        # each.
        read_bufsize=_READ_AHEAD,
        auto_decompress=False,  # we never ask for it; unasked, it may be a bomb
    )


async def _never_twice(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _LostOnce(error) from error
