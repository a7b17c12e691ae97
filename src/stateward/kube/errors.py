"""What Kubernetes says when it says no.

ApiError                   any refusal; carries the HTTP code and the Status document's details
├── BadRequest        400  the request makes no sense
├── Unauthorized      401  who are you?
├── Forbidden         403  you may not
├── NotFound          404  no such object, or no such kind
├── MethodNotAllowed  405  this resource does not do that
├── Conflict          409  somebody else wrote first, or a precondition does not hold
│   └── AlreadyExists 409  an object of that name is there
├── Gone              410  that resourceVersion is too old: list again
├── TooLarge          413  the request is too large
├── WrongType         415  that content type is not understood
├── Invalid           422  the object breaks a rule of its schema
├── TooManyRequests   429  slow down; ``retry_after`` says for how long
│   └── EvictionRefused    a disruption budget does not allow it now
└── ServerFailed      5xx  the server is in trouble; a write may have been carried out
    └── Unavailable   503  the server does not take requests now; it did nothing
"""

from __future__ import annotations

from stateward.core.errors import NotLeader, PeerError, PeerUnreachable
from stateward.kube.codec import Part

#: Seconds: no server may make us wait longer, whatever it says.
LONGEST_WAIT = 300.0


class Cause(Part):
    """One thing that is wrong with an object, and where."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(Part):
    """What a refusal is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    retry_after_seconds: int = 0
    causes: tuple[Cause, ...] = ()


class Status(Part):
    """The document in which Kubernetes says no."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None


class ApiError(PeerError):
    """Kubernetes answered and refused."""

    reason = "ApiError"
    code = 0

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        causes: tuple[Cause, ...] = (),
        retry_after: float | None = None,
        about: Details | None = None,
    ) -> None:
        super().__init__(message)
        self.code = type(self).code if code is None else code
        self.causes = causes
        self.retry_after = retry_after
        #: What it is about, where that is not simply what was asked for.
        self.about = about


class BadRequest(ApiError):
    """The request makes no sense."""

    reason = "BadRequest"
    code = 400


class Unauthorized(ApiError):
    """The server does not accept our credentials."""

    reason = "Unauthorized"
    code = 401
    hint = "the credentials in the kubeconfig are missing, wrong or expired"


class Forbidden(ApiError):
    """Our credentials do not allow this."""

    reason = "Forbidden"
    code = 403
    hint = "give the operator's role the missing right"


class NotFound(ApiError):
    """No such object, or no such kind."""

    reason = "NotFound"
    code = 404


class MethodNotAllowed(ApiError):
    """This resource does not do that."""

    reason = "MethodNotAllowed"
    code = 405


class Conflict(ApiError):
    """Somebody else wrote first, or a precondition does not hold."""

    reason = "Conflict"
    code = 409


class AlreadyExists(Conflict):
    """An object of that name is there."""

    reason = "AlreadyExists"


class Gone(ApiError):
    """That resourceVersion is too old to continue from."""

    reason = "Expired"
    code = 410


class TooLarge(ApiError):
    """The request is larger than the server takes."""

    reason = "RequestEntityTooLarge"
    code = 413


class WrongType(ApiError):
    """The server does not understand that content type."""

    reason = "UnsupportedMediaType"
    code = 415


class Invalid(ApiError):
    """The object breaks a rule of its schema; ``causes`` says which and where."""

    reason = "Invalid"
    code = 422


class TooManyRequests(ApiError):
    """The server asks us to slow down; it did nothing."""

    reason = "TooManyRequests"
    code = 429


class EvictionRefused(TooManyRequests):
    """A disruption budget does not allow the eviction now."""

    reason = "DisruptionBudget"


class ServerFailed(ApiError):
    """The server is in trouble; whether a write was carried out is not known."""

    reason = "InternalError"
    code = 500


class Unavailable(ServerFailed):
    """The server does not take requests now; it did nothing."""

    reason = "ServiceUnavailable"
    code = 503


_BY_CODE: dict[int, type[ApiError]] = {
    kind.code: kind
    for kind in (
        BadRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        MethodNotAllowed,
        Conflict,
        Gone,
        TooLarge,
        WrongType,
        Invalid,
        TooManyRequests,
        Unavailable,
    )
}


def from_status(status: Status, *, retry_after: float | None = None) -> ApiError:
    """Return the error that a Status document stands for.

    >>> from_status(Status(code=409, reason="AlreadyExists", message="pods a already exists"))
    AlreadyExists('pods a already exists')
    """
    details = status.details or Details()
    kind = _kind_of(status, details)
    return kind(
        status.message or f"the API server answered {status.code}",
        code=status.code,
        causes=details.causes,
        retry_after=bounded_wait(
            retry_after if retry_after is not None else details.retry_after_seconds or None
        ),
    )


def did_nothing(error: BaseException) -> bool:
    """Tell whether a failed write had no effect for sure; one that was cut short may have had."""
    if isinstance(error, ApiError):
        return isinstance(error, Unavailable) or not isinstance(error, ServerFailed)
    return isinstance(error, PeerUnreachable | NotLeader)


def bounded_wait(seconds: float | None) -> float | None:
    """Return how long a server may make us wait: what it says, within reason."""
    return (
        None if seconds is None else min(max(float(min(seconds, LONGEST_WAIT)), 0.0), LONGEST_WAIT)
    )


def _kind_of(status: Status, details: Details) -> type[ApiError]:
    if status.code == Conflict.code and status.reason == AlreadyExists.reason:
        return AlreadyExists
    if any(cause.reason == EvictionRefused.reason for cause in details.causes):
        return EvictionRefused
    if status.code >= ServerFailed.code:
        return _BY_CODE.get(status.code, ServerFailed)
    return _BY_CODE.get(status.code, ApiError)
