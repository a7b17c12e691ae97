"""What an answer means: the object asked for, a refusal, or nothing that makes sense. Pure.

An answer counts only if it is the API server's: a page of some proxy with code 200 is no object,
and a 404 that does not say what was not found is no proof that an object is gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec

from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError
from stateward.kube import codec
from stateward.kube.errors import ApiError, NotFound, ServerFailed, Status, Unavailable, from_status
from stateward.kube.http import decoding
from stateward.kube.http.requests import Request
from stateward.kube.meta import Object

T = TypeVar("T")
O = TypeVar("O", bound=Object)  # noqa: E741  an object

READ_BACK = "read the object back before trying again"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. The body may be a Secret: it is not shown."""

    request: Request
    status: int
    content_type: str
    body: bytes = field(repr=False)
    retry_after: float | None = None


class ServerVersion(codec.Part):
    """What the server says about itself."""

    git_version: str
    major: str = ""
    minor: str = ""


class _Document(codec.Part):
    kind: str


class _Refusal(Status):
    kind: str = ""


def checked(answer: Answer) -> Answer:
    """Return the answer if it is a success in JSON; raise what it means otherwise."""
    if answer.status >= 400:
        raise refusal(answer)
    if not 200 <= answer.status < 300:
        raise nonsense(
            answer.request, f"the API server must answer itself, got code {answer.status}"
        )
    if not is_json(answer.content_type):
        got = f"{answer.content_type or 'no content type'}: {excerpt(answer.body)}"
        raise nonsense(answer.request, f"the answer must be JSON, got {got}")
    return answer


def object_of(answer: Answer, kind: type[O]) -> O:
    """Return the object that the answer is."""
    found = document_of(answer, kind)
    if not found.metadata.name:
        raise nonsense(answer.request, f"a {kind.__name__} must have a name")
    return found


def document_of(answer: Answer, kind: type[T]) -> T:
    """Return the document that the answer is."""
    try:
        return codec.decode(checked(answer).body, kind)
    except PeerConfused as error:
        raise nonsense(answer.request, error.message) from None


def accepted(answer: Answer) -> None:
    """Make sure that a write was taken by the API server, whatever document it says so with."""
    document_of(answer, _Document)


def page_of(answer: Answer, kind: type[O]) -> decoding.Page[O]:
    """Return the page of a list that the answer is."""
    try:
        return decoding.page_of(checked(answer).body, kind)
    except PeerConfused as error:
        raise nonsense(answer.request, error.message) from None


def refusal(answer: Answer) -> ApiError:
    """Return the error that an answer with a code of 400 or more stands for."""
    status = _status_in(answer)
    if status is not None:
        return from_status(
            msgspec.structs.replace(status, code=answer.status), retry_after=answer.retry_after
        )
    said = f"{answer.request} was answered with {answer.status}: {excerpt(answer.body)}"
    if answer.status == NotFound.code:
        # Also what a proxy says that knows no such route, and the server about a kind that is not
        # installed.
        return ApiError(f"{said} (it must say what was not found)", code=answer.status)
    if answer.status == Unavailable.code and answer.retry_after is None:
        # Also what a proxy says that lost the server half-way: then a write may have been carried
        # out.
        return ServerFailed(said, code=answer.status)
    return from_status(Status(message=said, code=answer.status), retry_after=answer.retry_after)


def nonsense(request: Request, problem: str) -> PeerError:
    """Return the error for an answer that makes no sense.

    A write may all the same have been carried out.
    """
    if request.writes:
        return OutcomeUnknown(f"{request} was sent, but {problem}", hint=READ_BACK)
    return PeerConfused(
        f"{request}: {problem}", hint="check the server's address in the kubeconfig"
    )


def is_json(content_type: str) -> bool:
    """Tell whether a content type says JSON.

    >>> is_json("application/json; charset=utf-8"), is_json("text/html")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() == "application/json"


def excerpt(body: bytes) -> str:
    """Return the beginning of a body as one short line.

    >>> excerpt(b"<h1>Not\\n   here</h1>")
    "'<h1>Not here</h1>'"
    """
    words = " ".join(body[:1000].decode(errors="replace").split())
    text = "".join(letter if letter.isprintable() else "?" for letter in words)
    return repr(text if len(text) <= 120 else f"{text[:117]}...") if text else "an empty body"


def retry_after(header: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number of them, or a moment.

    >>> retry_after("7", now=0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0)
    (7.0, 10.0)
    """
    if header is None:
        return None
    if re.fullmatch(r"\d{1,9}", header.strip()):
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now)


def warnings_in(headers: list[str]) -> list[str]:
    """Return the texts of Warning headers, as the API server writes them.

    >>> warnings_in(['299 - "unknown field \\\\"spec.x\\\\"", 299 - "v1beta1 is old"'])
    ['unknown field "spec.x"', 'v1beta1 is old']
    """
    found = (text for header in headers for text in _WARNING.findall(header))
    return [re.sub(r"\\(.)", r"\1", text) for text in found]


_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


def _status_in(answer: Answer) -> Status | None:
    if not is_json(answer.content_type):
        return None
    try:
        status = codec.decode(answer.body, _Refusal)
    except PeerConfused:
        return None
    return status if status.kind == "Status" else None
