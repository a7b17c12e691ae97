"""What Kubernetes will not have, in words for a person: nobody else can change its mind."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import Blocked
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    ServerFailed,
    TooLarge,
    WrongType,
)

_REFUSALS: Final = (BadRequest, Forbidden, Invalid, MethodNotAllowed, TooLarge, WrongType)


def refusal(what: str, error: ApiError) -> Blocked | None:
    """Return what to tell when asking again does not help; None: it may help."""
    # A plain 500 is what a broken webhook makes of a write.
    failed = isinstance(error, ServerFailed) and error.code == ServerFailed.code
    if not failed and not isinstance(error, _REFUSALS):
        return None
    hint = error.hint or "mend what the spec says about it, or what refuses it"
    return Blocked("ObjectRefused", f"{what}: {error.message}", hint)
