"""The server: everything it serves behind one door, on loopback, for whoever has the token."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl

import structlog
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import LineTooLong
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader

from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.kube import schemas
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, Forbidden, Unauthorized
from stateward.local.api import Api
from stateward.local.client import LogSource
from stateward.local.server import addresses, answers, bodies, reviews
from stateward.local.server.addresses import Address
from stateward.local.server.describing import discovery
from stateward.local.server.describing.openapi import OpenApi
from stateward.local.server.negotiation import Form, Wanted, wanted
from stateward.local.server.refusals import Refused, as_api_error, not_found_here
from stateward.local.server.streams import Streams, Temper
from stateward.local.server.subresources import Subresources
from stateward.local.server.verbs import Call, Verbs, not_allowed

_log = structlog.get_logger(__name__)

#: Seconds that requests under way get to end when the server does.
_GRACE: Final = 1.0
#: Seconds after which a connection is closed on which nobody asks anything, or not to the end.
_IDLE: Final = 120.0
#: Selectors and the tokens of pages travel in the query.
_LONGEST_LINE: Final = 64 * 1024
#: Characters of what a library says about a request.
_LONGEST_REASON: Final = 200
_HEALTH: Final = frozenset({"/healthz", "/livez", "/readyz"})
_OPEN: Final = _HEALTH | {"/version"}
#: What kubectl falls back to for a kind that version 3 does not know: a document with nothing in it
#: (the field ``swagger``), so that it goes on and says that there is no such kind.
_V2: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_EMPTY_V2: Final = b"\x0a\x032.0"
_DISCOVERY: Final = frozenset({Form.GROUPS})
#: What describes the API in one form alone, and is refused to those who want another.
_NEGOTIATED: Final = ("/api/", "/apis/", "/version")
_WHOLE: Final[frozenset[Form]] = frozenset()


class ApiServer:
    """Serves one API over HTTP. One that has ended does not begin again."""

    def __init__(
        self,
        api: Api,
        ports: Ports,
        *,
        token: str,
        logs: LogSource | None = None,
        temper: Temper | None = None,
    ) -> None:
        if not token:
            raise UsageError("a server must have a token: without one, everybody could write")
        self._kinds = api.kinds
        self._token = token.encode()
        self._address = ""
        self.streams = Streams(api.store, ports, temper)
        self._verbs = Verbs(api, ports, self.streams)
        self._parts = Subresources(api, ports, self._verbs, self.streams, logs)
        self._openapi = OpenApi(api.kinds)

    @asynccontextmanager
    async def listening(
        self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> AsyncIterator[str]:
        """Serve until the end of the block; yield the address, as a URL."""
        _check_loopback(host)
        server = _Server(
            self._handle,
            request_factory=_request,
            handler_cancellation=True,
            access_log=None,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
            keepalive_timeout=_IDLE,
            lingering_time=_GRACE,
        )
        runner = web.ServerRunner(server, shutdown_timeout=_GRACE)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port, ssl_context=tls, backlog=1024)
            await _begin(site, host, port)
            chosen = runner.addresses[0][1]
            self._address = f"{_in_url(host)}:{chosen}"
            yield f"{'https' if tls else 'http'}://{self._address}"
        finally:
            self.streams.close()
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path, query = addresses.target(request.raw_path)
        address = addresses.parsed(path)
        try:
            return await self._answer(request, path, query, address)
        except Refused as refused:
            assert address is not None  # noqa: S101 - it was told by one who knows a name
            return self._refusal(refused.error, replace(address, name=refused.name))
        except ApiError as error:
            return self._refusal(error, address)
        except Exception as error:  # noqa: BLE001 - whatever happens, the asker gets an answer
            meant = as_api_error(error)
            if meant.code >= 500:
                _log.exception("a request failed", method=request.method, path=path)
            return self._refusal(meant, address)

    def _refusal(self, error: ApiError, address: Address | None) -> web.Response:
        found = self._kinds.at(address.group, address.version, address.plural) if address else None
        response = answers.refusal(error, address, found.resource.kind if found else "")
        if isinstance(error, bodies.Broken):
            response.force_close()
        return response

    async def _answer(
        self, request: web.BaseRequest, path: str, query: str, address: Address | None
    ) -> web.StreamResponse:
        if path not in _OPEN and not self._may(request):
            raise Unauthorized("Unauthorized")
        _check_own_name(request)
        if address is None or not address.plural:
            return self._describe(request, path, address)
        if reviews.is_review(address):
            return await self._review(request, address)
        kind = self._kinds.at(address.group, address.version, address.plural)
        if kind is None or not _fits(address, namespaced=kind.resource.namespaced):
            return self._no_such_place(path)
        asked = dict(parse_qsl(query, keep_blank_values=True)) if query else {}
        call = Call(request, address, kind, asked)
        return await (self._parts if address.subresource else self._verbs).serve(call)

    def _may(self, request: web.BaseRequest) -> bool:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        is_ours = hmac.compare_digest(token.strip().encode(errors="replace"), self._token)
        return kind.lower() == "bearer" and is_ours

    def _describe(
        self, request: web.BaseRequest, path: str, address: Address | None
    ) -> web.StreamResponse:
        if path.startswith("//"):
            return answers.no_such_path()
        if request.method not in {"GET", "HEAD"}:
            if path.startswith(("/api/", "/apis/")) and self._told(path, address) is None:
                return self._no_such_place(path)
            raise not_allowed()
        if path.removesuffix("/ping") in _HEALTH:
            return answers.plain(_health(request, path))
        if path.startswith("/openapi/v3/"):
            text = self._openapi.document(path.removeprefix("/openapi/v3/"))
            return answers.no_such_path() if text is None else answers.answer(text)
        if path == "/openapi/v2":
            return answers.answer(_EMPTY_V2, content_type=_V2)
        if path.rstrip("/") in {"/api", "/apis"}:
            return self._discovery(request, core=path.rstrip("/") == "/api")
        return self._document(request, path, address)

    def _document(
        self, request: web.BaseRequest, path: str, address: Address | None
    ) -> web.StreamResponse:
        found = self._told(path.rstrip("/"), address)
        if found is None:
            return self._no_such_place(path)
        if path.startswith(_NEGOTIATED):
            wanted(request.headers.get("Accept", ""), _WHOLE)
        return answers.document(found)

    def _no_such_place(self, path: str) -> web.Response:
        """Say that nothing is there: in a document below Kubernetes' own groups, else in text."""
        own = {kind.resource.group for kind in self._kinds if kind.built_in} - {""}
        match path.split("/"):
            case ["", "api", _, *_]:
                return answers.refusal(not_found_here())
            case ["", "apis", group, _, *_] if group in own:
                return answers.refusal(not_found_here())
            case _:
                return answers.no_such_path()

    def _discovery(self, request: web.BaseRequest, *, core: bool) -> web.Response:
        form = _discovery_form(request)
        if form.form is Form.GROUPS:
            found = discovery.aggregated(self._kinds, form.version, core=core)
            response = answers.document(found)
            response.headers["Content-Type"] = (
                f"application/json;g=apidiscovery.k8s.io;v={form.version};as=APIGroupDiscoveryList"
            )
            return response
        if core:
            return answers.document(discovery.core_versions(self._address))
        return answers.document(discovery.group_list(self._kinds))

    def _told(self, path: str, address: Address | None) -> Json | None:
        if address is not None:
            return discovery.resource_list(self._kinds, address.group, address.version)
        match path.split("/")[1:]:
            case [""] | []:
                return {"paths": ["/api", "/apis", "/openapi/v3", *sorted(_OPEN)]}
            case ["version"]:
                return version()
            case ["openapi", "v3"]:
                return self._openapi.index()
            case ["apis", group]:
                return discovery.one_group(self._kinds, group)
            case _:
                return None

    async def _review(self, request: web.BaseRequest, address: Address) -> web.Response:
        if request.method != "POST":
            raise not_allowed()
        body = await bodies.read(request)
        sent = bodies.document_of(body, request.headers.get("Content-Type", ""))
        spec = sent.get("spec")
        shown = str(spec.get("token", "")) if isinstance(spec, dict) else ""
        known = hmac.compare_digest(shown.encode(errors="replace"), self._token)
        return answers.document(reviews.reviewed(address, sent, knows_token=known), 201)


class _Connection(web.RequestHandler):
    """One connection: what is no request gets an answer, and no more than a line in the log."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what could not be read as a request."""
        why = " ".join((message or str(exc or "")).split())[:_LONGEST_REASON]
        _log.info("a request cannot be read", status=status, why=why)
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun already")
        if isinstance(exc, LineTooLong):
            error = ApiError("the headers of the request must be shorter", code=431)
        else:
            error = ApiError(f"the request cannot be read: {why}", code=status)
        response = answers.refusal(error)
        response.force_close()
        return response

    def log_exception(self, *_: Any, **named: Any) -> None:
        """Say in a line what went wrong between requests."""
        _log.info("a connection failed", why=repr(named.get("exc_info"))[:_LONGEST_REASON])


class _Server(web.Server):
    """Makes our kind of connections."""

    def __call__(self) -> web.RequestHandler:
        """Return what handles a new connection."""
        return _Connection(self, loop=self._loop, **self._kwargs)


def version() -> Json:
    """Return what the server says about itself."""
    release = schemas.vendored().kubernetes
    major, minor, *_ = release.split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{release}+stateward",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "linux/amd64",
    }


def _health(request: web.BaseRequest, path: str) -> str:
    """Return that all is well; who asks for more is told what was looked at."""
    if "verbose" not in request.query or path not in _HEALTH:
        return "ok"
    return f"[+]ping ok\n{path[1:]} check passed\n"


def _check_own_name(request: web.BaseRequest) -> None:
    """Raise Forbidden when somebody wants to be somebody else: there is nobody else here."""
    if any(name.lower().startswith("impersonate-") for name in request.headers):
        raise Forbidden("impersonation is not offered here: there is one user, who may do all")


def _fits(address: Address, *, namespaced: bool) -> bool:
    """Tell whether a path is one where such a resource is found."""
    if not namespaced:
        return not address.namespace
    return bool(address.namespace) or not address.name


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    loop, limit = task.get_loop(), bodies.LIMIT
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=limit)


def _discovery_form(request: web.BaseRequest) -> Wanted:
    return wanted(request.headers.get("Accept", ""), _DISCOVERY)


def _check_loopback(host: str) -> None:
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise UsageError(
            f"the server must listen on a loopback address, got {host!r}",
            hint="use 127.0.0.1: whoever reaches it with the token may run programs here",
        )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def _begin(site: web.TCPSite, host: str, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        raise UsageError(
            f"{host}:{port} must be free to listen on: {error.strerror or error}",
            hint="choose another port, or none to have a free one chosen",
        ) from error
