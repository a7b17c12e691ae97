"""What a lost exchange means: was the request sent, and may it have been carried out?

nothing was sent (refused, no such name, TLS, proxy)     PeerUnreachable sent, no whole answer
read: PeerUnreachable    write: OutcomeUnknown sent, the answer is not HTTP
read: PeerConfused       write: OutcomeUnknown
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp

from stateward.core.errors import OutcomeUnknown, PeerError, PeerUnreachable
from stateward.kube.http.answers import READ_BACK, nonsense
from stateward.kube.http.requests import Request

#: All that the HTTP library raises when an exchange is lost. (A timeout is an OSError.)
LOST = (aiohttp.ClientError, OSError)


@dataclass(slots=True)
class Progress:
    """Whether there was a connection, for one request: from then on it may have been sent."""

    connected: bool = False


def tracing() -> aiohttp.TraceConfig:
    """Return what tells a request's :class:`Progress`, given as its ``trace_request_ctx``."""

    async def connected(_session: object, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.connected = True

    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(connected)
    config.on_connection_reuseconn.append(connected)
    return config


def meaning_of(error: BaseException, request: Request, server: str, *, sent: bool) -> PeerError:
    """Return our error for theirs."""
    if not sent or _certificate_refused(error):
        return PeerUnreachable(
            f"the API server at {server} must be reachable, but {_why(error)}",
            hint="check its address, the network between, and the certificates in the kubeconfig",
        )
    if isinstance(error, aiohttp.ClientResponseError):
        return nonsense(request, "the answer must be HTTP")
    problem = f"{request} was sent, but no whole answer came: {_why(error)}"
    if request.writes:
        return OutcomeUnknown(problem, hint=READ_BACK)
    return PeerUnreachable(problem)


def is_about_tls(error: BaseException) -> bool:
    """Tell whether a handshake failed, on either side."""
    return _tls_error_in(error) is not None or isinstance(error, aiohttp.ClientSSLError)


def _certificate_refused(error: BaseException) -> bool:
    """Tell whether the server did not take our certificate.

    In TLS 1.3 that is heard only after our side has finished the handshake and sent the request,
    which the server then never reads.
    """
    found = _tls_error_in(error)
    reason = (found.reason or "") if found is not None else ""
    return "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason)


def _tls_error_in(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None:
        # The library's own errors of this family say nothing but whose cause they carry.
        if isinstance(error, ssl.SSLError) and not isinstance(error, aiohttp.ClientError):
            return error
        error = error.__cause__
    return None


def _why(error: BaseException) -> str:
    """Say it in our words: theirs may quote an address with a password in it."""
    if isinstance(error, aiohttp.SocketTimeoutError):
        return "nothing more was heard for too long"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "connecting took too long"
    if isinstance(error, TimeoutError):
        return "the deadline passed"
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered {error.status}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved"
    return _why_in_detail(error)


def _why_in_detail(error: BaseException) -> str:
    if (found := _tls_error_in(error)) is not None:
        reason = getattr(found, "verify_message", "") or found.reason or "no reason given"
        return f"TLS failed: {reason}"
    if isinstance(error, aiohttp.ClientConnectorError):
        whom = (
            "the proxy" if isinstance(error, aiohttp.ClientProxyConnectionError) else "connecting"
        )
        return f"{whom} failed: {error.os_error.strerror or type(error.os_error).__name__}"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "the connection was closed"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
