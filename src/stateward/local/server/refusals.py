"""Errors as the documents in which Kubernetes says no. Pure."""

from __future__ import annotations

import math
from typing import Any

from stateward.core.errors import StatewardError
from stateward.kube.codec import Json
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    EvictionRefused,
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
    return ServerFailed(f"Internal error occurred: {type(error).__name__}: {error}")


def status_of(error: ApiError, about: Address | None = None, kind: str = "") -> Json:
    """Return the Status document of a refusal; what is invalid is named by its kind."""
    status: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": error.message,
        "reason": _reason(error),
        "code": error.code,
    }
    if details := _details(error, about, kind):
        status["details"] = details
    return status


def success(about: Address, *, uid: str = "", code: int = 200) -> Json:
    """Return the Status document of something that is done and has nothing to show."""
    details = _place(about) | ({"uid": uid} if uid else {})
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return status | ({"details": details} if code == 200 else {"code": code})


def not_found_here(about: Address) -> NotFound:
    """Return the refusal of an endpoint that a resource does not have."""
    where = f"{about.plural}/{about.subresource}" if about.subresource else about.plural
    return NotFound(f"the server could not find the requested resource: {where}")


def retry_after(error: ApiError) -> int | None:
    """Return after how many seconds it is worth coming back, if that is known."""
    return None if error.retry_after is None else max(1, math.ceil(error.retry_after))


def _reason(error: ApiError) -> str:
    if isinstance(error, EvictionRefused):
        return TooManyRequests.reason
    return _CALLED.get(error.code, error.reason)


def _details(error: ApiError, about: Address | None, kind: str) -> Json:
    details: Json = _place(about) if about is not None else {}
    if kind and isinstance(error, Invalid):
        details["kind"] = kind
    if error.causes:
        details["causes"] = [_cause(cause) for cause in error.causes]
    if (seconds := retry_after(error)) is not None:
        details["retryAfterSeconds"] = seconds
    return details


def _place(about: Address) -> Json:
    place = {"name": about.name, "group": about.group, "kind": about.plural}
    return {field: value for field, value in place.items() if value}


def _cause(cause: Any) -> Json:
    parts = {"reason": cause.reason, "message": cause.message, "field": cause.field}
    return {field: value for field, value in parts.items() if value}
