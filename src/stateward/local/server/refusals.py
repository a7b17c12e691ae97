"""Errors as the documents in which Kubernetes says no. Pure."""

from __future__ import annotations

import math
from typing import Any

from stateward.core.errors import StatewardError
from stateward.kube.codec import Json
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    Details,
    EvictionRefused,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    ServerFailed,
    TooManyRequests,
)
from stateward.local.server.addresses import Address

#: What codes are called that have no error of their own, or several.
_CALLED = {
    400: "BadRequest",
    406: "NotAcceptable",
    408: "Timeout",
    431: "BadRequest",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
_INTERNAL = "Internal error occurred"


class InvalidPart(Invalid):
    """What a request asks for beside its object makes no sense."""

    def __init__(self, kind: str, name: str, *causes: Cause) -> None:
        told = ", ".join(f"{cause.field}: {cause.message}" for cause in causes)
        listed = f"[{told}]" if len(causes) > 1 else told
        super().__init__(f'{kind} "{name}" is invalid: {listed}', causes=causes)
        self.kind = kind


class InvalidOptions(InvalidPart):
    """How a request wants something done makes no sense."""

    def __init__(self, kind: str, *causes: Cause) -> None:
        super().__init__(f"{kind}.meta.k8s.io", "", *causes)
        self.kind = kind


class ForgottenList(Gone):
    """The list whose next page somebody wants is forgotten; a token leads on without it."""

    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.token = token


class Refused(Exception):
    """An error, and the name of the object that it is about, which only the body told."""

    def __init__(self, error: ApiError, name: str) -> None:
        super().__init__(error.message)
        self.error = error
        self.name = name


def as_api_error(error: Exception) -> ApiError:
    """Return what an error is to somebody outside; a bug is a failure of the server."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, RecursionError):
        return BadRequest("the document is nested too deep")
    if isinstance(error, StatewardError):
        return BadRequest(error.sentence())
    return ServerFailed(f"{_INTERNAL}: {type(error).__name__}: {error}")


def status_of(error: ApiError, about: Address | None = None, kind: str = "") -> Json:
    """Return the Status document of a refusal; what is invalid is named by its kind."""
    status: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {"continue": error.token} if isinstance(error, ForgottenList) else {},
        "status": "Failure",
        "message": error.message,
        "code": error.code,
    }
    if reason := _reason(error):
        status["reason"] = reason
    if details := _details(error, about, kind):
        status["details"] = details
    return status


def success(about: Address, *, uid: str = "", code: int = 200) -> Json:
    """Return the Status document of something that is done and has nothing to show."""
    details = _place(about) | ({"uid": uid} if uid else {})
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return status | ({"details": details} if code == 200 else {"code": code})


def not_found_here() -> NotFound:
    """Return the refusal of a place that there is not among Kubernetes' own resources."""
    return NotFound("the server could not find the requested resource", about=Details())


def retry_after(error: ApiError) -> int | None:
    """Return after how many seconds it is worth coming back, if that is known."""
    return None if error.retry_after is None else max(1, math.ceil(error.retry_after))


def _reason(error: ApiError) -> str:
    if isinstance(error, EvictionRefused):
        return TooManyRequests.reason
    if error.code == ServerFailed.code and not error.message.startswith(_INTERNAL):
        return ""  # as with a real server, for what it cannot do without having failed itself
    return _CALLED.get(error.code, error.reason)


def _details(error: ApiError, about: Address | None, kind: str) -> Json:
    details: Json = _place(about) if about is not None and _is_of_object(error) else {}
    if error.about is not None:
        details = _named(error.about.name, error.about.group, error.about.kind)
    elif isinstance(error, InvalidOptions):
        details |= {"group": "meta.k8s.io", "kind": error.kind}
    elif kind and isinstance(error, Invalid):
        details["kind"] = kind
    if error.causes:
        details["causes"] = [_cause(cause) for cause in error.causes]
    if (seconds := retry_after(error)) is not None:
        details["retryAfterSeconds"] = seconds
    return details


def _is_of_object(error: ApiError) -> bool:
    """Tell whether a refusal names its object: not where the request itself is at fault."""
    if isinstance(error, InvalidOptions) or _is_dispute(error):
        return False
    named = (NotFound, Conflict, Invalid, Forbidden, TooManyRequests)
    return isinstance(error, named)


def _is_dispute(error: ApiError) -> bool:
    return any(cause.reason == "FieldManagerConflict" for cause in error.causes)


def _place(about: Address) -> Json:
    return _named(about.name, about.group, about.plural)


def _named(name: str, group: str, kind: str) -> Json:
    place = {"name": name, "group": group, "kind": kind}
    return {field: value for field, value in place.items() if value}


def _cause(cause: Any) -> Json:
    parts = {"reason": cause.reason, "message": cause.message, "field": cause.field}
    return {field: value for field, value in parts.items() if value}
