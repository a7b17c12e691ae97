"""One request, one answer: connections, credentials and deadlines around the HTTP library.

Nothing is repeated here, with one exception: a 401 did nothing, so credentials that can be renewed are, and the
request is sent once more. The library itself would also repeat a PUT or DELETE whose connection was lost; that
is prevented, because the first one may have been carried out.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from urllib.parse import quote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from stateward import __version__
from stateward.core.clock import Clock
from stateward.core.errors import HouseError, StatewardError
from stateward.kube.errors import Unauthorized
from stateward.kube.http import answers, failures
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.answers import Answer
from stateward.kube.http.credentials import Credentials, Identity
from stateward.kube.http.requests import Request
from stateward.kube.http.tls import TlsContexts

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
    """Who wants to hear about exchanges and about the server's warnings."""

    #: Called with the method, the code or the error's reason, and the seconds it took.
    observe: Callable[[str, str, float], None] = lambda _method, _code, _seconds: None
    #: Called with each text that the server warns with.
    warn: Callable[[str], None] = lambda _text: None


class Wire:
    """The connections to one API server."""

    def __init__(
        self,
        access: ClusterAccess,
        clock: Clock,
        credentials: Credentials,
        listeners: Listeners,
        *,
        connect_within: float,
    ) -> None:
        self._access = access
        self._clock = clock
        self._credentials = credentials
        self._listeners = listeners
        self._connect_within = connect_within
        self._tls = TlsContexts(access.tls, clock)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def exchange(self, request: Request, patience: Patience) -> Answer:
        """Return the whole answer, whatever it says; raise when there is none."""
        login = await self._login()
        begun = self._clock.monotonic()
        answer = await self._attempt(request, login, patience)
        if answer.status != Unauthorized.code:
            return answer
        left = patience.after(self._clock.monotonic() - begun)
        fresh = await self._renewed(login)
        return answer if fresh == login else await self._attempt(request, fresh, left)

    async def chunks(
        self, request: Request, patience: Patience, *, json: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes, in pieces of any size; raise when it is cut or is a refusal."""
        async with AsyncExitStack() as stack:
            response = await self._opened(request, patience, stack)
            answer = _answer(request, response, b"", self._clock.now())
            if response.status != 200 or (json and not answers.is_json(answer.content_type)):
                answers.checked(replace(answer, body=await self._body(request, response)))
            try:
                async for chunk in response.content.iter_any():
                    yield chunk
            except failures.LOST as error:
                raise self._lost(error, request, sent=True) from None

    async def close(self) -> None:
        """Close all connections; the wire cannot be used any more."""
        self._closed = True
        await self._credentials.close()
        if self._session is not None:
            await self._session.close()

    async def _opened(
        self, request: Request, patience: Patience, stack: AsyncExitStack
    ) -> aiohttp.ClientResponse:
        login = await self._login()
        response = await self._begun(request, login, patience, stack)
        if response.status != Unauthorized.code or (fresh := await self._renewed(login)) == login:
            return response
        return await self._begun(request, fresh, patience, stack)

    async def _begun(
        self, request: Request, login: _Login, patience: Patience, stack: AsyncExitStack
    ) -> aiohttp.ClientResponse:
        with self._observed(request) as seen:
            response = await stack.enter_async_context(self._head(request, login, patience))
            seen.code = str(response.status)
            return response

    async def _attempt(self, request: Request, login: _Login, patience: Patience) -> Answer:
        with self._observed(request) as seen:
            async with self._head(request, login, patience) as response:
                seen.code = str(response.status)
                body = await self._body(request, response)
                return _answer(request, response, body, self._clock.now())

    @asynccontextmanager
    async def _head(
        self, request: Request, login: _Login, patience: Patience
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send the request and give the beginning of the answer; what is not read of it is thrown away."""
        progress = _Progress()
        try:
            response = await self._sessions().request(
                request.method,
                URL(self._access.server + request.target, encoded=True),
                data=request.body or None,
                headers=self._headers(request, login.identity),
                ssl=login.context,
                server_hostname=self._access.tls.server_name or None,
                proxy=self._access.proxy or None,
                allow_redirects=False,  # credentials must not follow to another host
                timeout=self._timeout(patience),
                trace_request_ctx=progress,
            )
        except _LostOnce as lost:
            raise self._lost(lost.error, request, sent=progress.connected) from None
        except failures.LOST as error:
            raise self._lost(error, request, sent=progress.connected) from None
        try:
            for text in answers.warnings_in(response.headers.getall("Warning", [])):
                self._listeners.warn(text)
            yield response
        finally:
            response.close()

    async def _body(self, request: Request, response: aiohttp.ClientResponse) -> bytes:
        try:
            return await response.read()
        except failures.LOST as error:
            if response.status >= 400:
                return b""  # the code alone says that it was refused
            raise self._lost(error, request, sent=True) from None

    def _lost(self, error: BaseException, request: Request, *, sent: bool) -> StatewardError:
        if failures.is_about_tls(error):
            self._tls.doubt()
        return failures.meaning_of(error, request, self._access.server, sent=sent)

    async def _login(self) -> _Login:
        identity = await self._credentials.current()
        if not self._access.server.startswith("https:"):
            return _Login(identity, context=True)
        return _Login(identity, self._tls.current(identity.certificate))

    async def _renewed(self, login: _Login) -> _Login:
        self._credentials.refused(login.identity)
        self._tls.recheck()
        return await self._login()

    def _sessions(self) -> aiohttp.ClientSession:
        """Return the session; it is made when there is an event loop, at the first request."""
        if self._closed:
            raise HouseError("a closed client must not be used any more")
        if self._session is None:
            if not self._access.tls.verify:
                self._listeners.warn(f"the certificate of {self._access.server} is not verified")
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),  # every watch holds one connection
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[_tracing()],
                middlewares=(_never_twice,),
            )
        return self._session

    def _headers(self, request: Request, identity: Identity) -> CIMultiDict[str]:
        headers = CIMultiDict(
            {
                "Accept": "application/json, */*",
                "Accept-Encoding": "identity",  # inside a cluster, packing costs more than it saves
                "User-Agent": USER_AGENT,
            }
        )
        if request.content_type:
            headers["Content-Type"] = request.content_type
        if identity.authorization:
            headers["Authorization"] = identity.authorization
        if (acting := self._access.impersonation) is not None:
            headers["Impersonate-User"] = acting.user
            if acting.uid:
                headers["Impersonate-Uid"] = acting.uid
            headers.extend(("Impersonate-Group", group) for group in acting.groups)
            headers.extend(
                (f"Impersonate-Extra-{quote(name.lower(), safe='')}", value)
                for name, value in acting.extra
            )
        return headers

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
            self._listeners.observe(
                request.verb or request.method, seen.code, self._clock.monotonic() - begun
            )


@dataclass(frozen=True, slots=True)
class _Login:
    """What a request is sent with. Equal logins would get the same answer."""

    identity: Identity
    context: ssl.SSLContext | bool


@dataclass(slots=True)
class _Seen:
    code: str = "Cancelled"


@dataclass(slots=True)
class _Progress:
    """Whether there was a connection. From then on the request may have been sent."""

    connected: bool = False


class _LostOnce(Exception):  # noqa: N818
    """Carries an error past the library's own repetition."""

    def __init__(self, error: aiohttp.ClientError) -> None:
        super().__init__()
        self.error = error


async def _never_twice(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _LostOnce(error) from error


def _tracing() -> aiohttp.TraceConfig[SimpleNamespace]:
    async def connected(_session: object, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.connected = True

    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(connected)
    config.on_connection_reuseconn.append(connected)
    return config


def _answer(request: Request, response: aiohttp.ClientResponse, body: bytes, now: float) -> Answer:
    return Answer(
        request,
        response.status,
        response.headers.get("Content-Type", ""),
        body,
        answers.retry_after(response.headers.get("Retry-After"), now),
    )
