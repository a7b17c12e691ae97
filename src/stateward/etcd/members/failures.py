"""What an exchange that failed means: may something have been done?

                                  read               write
nothing was sent                  PeerUnreachable    PeerUnreachable
sent, and no whole answer came    PeerUnreachable    OutcomeUnknown
sent, and the answer is nonsense  PeerConfused       OutcomeUnknown
"""

from __future__ import annotations

import ssl
from typing import Final

from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError, PeerUnreachable
from stateward.etcd.members.calls import Call

_READ_BACK: Final = "read the member list or the key back; do not repeat it blindly"
_CHECK: Final = "check that the pod runs, the network to it, and its certificates"


def unreachable(call: Call, where: str, why: str) -> PeerUnreachable:
    """Return the error for a call of which nothing was sent."""
    return PeerUnreachable(f"{where} must be reachable for {call}, but {why}", hint=_CHECK)


def lost(call: Call, where: str, why: str) -> PeerError:
    """Return the error for a call that was sent and got no whole answer."""
    problem = f"{call} was sent to {where}, but no whole answer came: {why}"
    if call.writes:
        return OutcomeUnknown(problem, hint=_READ_BACK)
    return PeerUnreachable(problem, hint=_CHECK)


def confused(call: Call, where: str, why: str) -> PeerError:
    """Return the error for an answer that makes no sense."""
    problem = f"{call} was sent to {where}, but it does not answer as etcd does: {why}"
    if call.writes:
        return OutcomeUnknown(problem, hint=_READ_BACK)
    return PeerConfused(problem, hint="check that etcd listens there, and nobody else")


def certificate_refused(error: BaseException | None) -> bool:
    """Tell whether the member did not take our certificate.

    In TLS 1.3 that is heard only after our side has finished the handshake and sent the request,
    which the member then never reads.
    """
    found = _tls_error_in(error)
    reason = (found.reason or "") if found is not None else ""
    return "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason)


def why(error: BaseException) -> str:
    """Say in a few words what broke."""
    if (found := _tls_error_in(error)) is not None:
        reason = getattr(found, "verify_message", "") or found.reason or "no reason given"
        return f"TLS failed: {reason}"
    if isinstance(error, TimeoutError):
        return "the deadline passed"
    cause = getattr(error, "os_error", error)  # the HTTP library wraps those of the system
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(error) or type(error).__name__


def _tls_error_in(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None:
        # The HTTP library's own errors of this family say nothing but whose cause they carry.
        if isinstance(error, ssl.SSLError) and not hasattr(error, "os_error"):
            return error
        error = error.__cause__
    return None
