"""Answers over HTTP: JSON, with the warnings that the writer should see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from aiohttp import web
from multidict import CIMultiDict

from stateward.kube.codec import Json, encode
from stateward.kube.errors import ApiError
from stateward.local.server.addresses import Address
from stateward.local.server.refusals import retry_after, status_of

JSON: Final = "application/json"
#: Nothing may stand between a client and the newest state.
_COMMON: Final = {"Cache-Control": "no-cache, private"}
#: Characters of all warnings; if there are more, each is cut to so many, and some are left out.
_MOST_WARNED: Final = 4096
_LONGEST_WARNING: Final = 256


def answer(
    body: bytes,
    status: int = 200,
    *,
    warnings: Sequence[str] = (),
    content_type: str = JSON,
) -> web.Response:
    """Return an answer with a body that is text already."""
    headers: CIMultiDict[str] = CIMultiDict(_COMMON)
    headers["Content-Type"] = content_type
    for text in _cut(warnings):
        headers.add("Warning", f'299 - "{_quoted(text)}"')
    return web.Response(body=body, status=status, headers=headers)


def document(found: Json | list[Any], status: int = 200) -> web.Response:
    """Return an answer that is a document."""
    return answer(encode(found), status)


def plain(text: str, status: int = 200) -> web.Response:
    """Return an answer for people."""
    return answer(text.encode(), status, content_type="text/plain; charset=utf-8")


def refusal(error: ApiError, about: Address | None = None, kind: str = "") -> web.Response:
    """Return an answer that says no, and why."""
    response = document(status_of(error, about, kind), error.code or 500)
    if (seconds := retry_after(error)) is not None:
        response.headers["Retry-After"] = str(seconds)
    if error.code == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def no_such_path() -> web.Response:
    """Return what a real server says of a path that it knows nothing about."""
    return plain("404 page not found\n", 404)


def _cut(warnings: Sequence[str]) -> Iterator[str]:
    """Yield warnings once each, and not more of them than headers may have."""
    texts = list(dict.fromkeys(warnings))
    limit = _LONGEST_WARNING if sum(len(it) for it in texts) > _MOST_WARNED else _MOST_WARNED
    written = 0
    for text in texts:
        if written < _MOST_WARNED:
            yield text[:limit]
        written += len(text[:limit])


def _quoted(text: str) -> str:
    """Return a text as it may stand in a header: one line, printable, quotes escaped."""
    line = "".join(it if it.isprintable() else " " for it in text)
    return line.replace("\\", "\\\\").replace('"', '\\"')
