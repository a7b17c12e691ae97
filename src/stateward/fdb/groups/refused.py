"""What Kubernetes will not have, or cannot do now, in words for a person."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import Blocked, Outcome, Retry
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    ServerFailed,
    TooLarge,
    WrongType,
)

#: Nobody but a person can change its mind about these; a quota that is used up is forbidden, too.
_REFUSALS: Final = (BadRequest, Forbidden, Invalid, MethodNotAllowed, TooLarge, WrongType)
#: What Kubernetes says of a namespace that may have no more.
_QUOTA: Final = "exceeded quota"
_MORE: Final = "let the namespace have more, or ask for less"
#: Seconds until something is tried again that a peer in trouble did not take.
_TROUBLED: Final = 2.0
#: Seconds until we look again at what somebody else wrote; a watch tells sooner.
_CHANGED: Final = 1.0


async def without_raising(what: str, work: Awaitable[Outcome | None]) -> Outcome | None:
    """Return what became of some work: trouble with one object keeps no other from being made."""
    try:
        return await work
    except Conflict as error:
        return Retry(_CHANGED, error.reason, f"{what}: it changed meanwhile: {error.message}")
    except ApiError as error:
        after = max(_TROUBLED, error.retry_after or 0.0)
        return _refusal(what, error) or Retry(after, error.reason, f"{what}: {error.message}")
    except PeerError as error:
        return Retry(_TROUBLED, error.reason, f"{what}: {error.message}")


def _refusal(what: str, error: ApiError) -> Blocked | None:
    """Return what to tell when asking again does not help; None: it may help."""
    # A plain 500 is what a broken webhook makes of a write.
    failed = isinstance(error, ServerFailed) and error.code == ServerFailed.code
    if not failed and not isinstance(error, _REFUSALS):
        return None
    if isinstance(error, Forbidden) and _QUOTA in error.message:
        return Blocked("QuotaExceeded", f"{what}: {error.message}", _MORE)
    hint = error.hint or "mend what the spec says about it, or what refuses it"
    return Blocked("ObjectRefused", f"{what}: {error.message}", hint)
