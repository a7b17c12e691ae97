"""What others will not have, in words for a person."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import Blocked, Outcome, Retry
from stateward.fdb.admin.errors import DatabaseRefused
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    TooLarge,
    WrongType,
)

#: What asking again does not change.
_REFUSALS: Final = (BadRequest, Forbidden, Invalid, MethodNotAllowed, TooLarge, WrongType)
#: Seconds until a peer in trouble is asked again.
_TROUBLED: Final = 2.0
#: Seconds until a database is asked again for what it did not do.
_DENIED: Final = 10.0


def refusal(what: str, error: ApiError) -> Blocked | None:
    """Return what to tell when asking Kubernetes again does not help; None: it may help."""
    if not isinstance(error, _REFUSALS):
        return None
    hint = error.hint or "mend what the spec says about it, or what refuses it"
    return Blocked("ObjectRefused", f"{what}: {error.message}", hint)


def trouble(what: str, error: PeerError) -> Outcome:
    """Return what to tell of a peer that did not do what it was asked."""
    if isinstance(error, DatabaseRefused):
        return _denied(what, error)
    if isinstance(error, ApiError):
        refused = refusal(what, error)
        if refused is not None:
            return refused
        after = max(_TROUBLED, error.retry_after or 0.0)
        return Retry(after, error.reason, f"{what}: {error.message}")
    return Retry(_TROUBLED, error.reason, f"{what}: {error.message}")


def _denied(what: str, error: DatabaseRefused) -> Outcome:
    message = f"{what}: the database says no ({error.refusal}): {error.message}"
    if error.may_be_granted_later:
        return Retry(_DENIED, "DatabaseRefused", message)
    return Blocked("DatabaseRefused", message, error.hint or "see what the database says")
