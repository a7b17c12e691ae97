"""Logs of pods: whose, and which part of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from stateward.core.moments import from_rfc3339
from stateward.kube.client import LogOptions
from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Cause
from stateward.local.schema import causes
from stateward.local.server.options import Query, flag, number
from stateward.local.server.refusals import InvalidPart

_LISTS = ("initContainers", "containers", "ephemeralContainers")
_DEFAULT = "kubectl.kubernetes.io/default-container"


def log_options(query: Query, pod: Json, now: float) -> LogOptions:
    """Return which part of which log is asked for; raise when that is not clear."""
    if found := list(_problems(query)):
        raise InvalidPart("PodLogOptions", pod["metadata"]["name"], *found)
    return LogOptions(
        container=_container(query.get("container", ""), pod),
        tail_lines=number(query, "tailLines"),
        since_seconds=_since(query, now),
        previous=flag(query, "previous"),
        follow=flag(query, "follow"),
        timestamps=flag(query, "timestamps"),
    )


async def at_most(
    pieces: AsyncGenerator[bytes, None], limit: int | None
) -> AsyncGenerator[bytes, None]:
    """Yield pieces up to so many bytes."""
    left = limit
    async with aclosing(pieces):
        async for piece in pieces:
            if left is None:
                yield piece
                continue
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return


def _problems(query: Query) -> Iterator[Cause]:
    for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)):
        if (asked := number(query, name)) is not None and asked < least:
            why = "must be greater than 0" if least else "must be greater than or equal to 0"
            yield causes.invalid(name, asked, why)
    if "sinceSeconds" in query and query.get("sinceTime"):
        yield causes.forbidden(
            "[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"
        )


def _since(query: Query, now: float) -> int | None:
    moment = query.get("sinceTime", "")
    if not moment:
        return number(query, "sinceSeconds")
    try:
        return max(1, int(now - from_rfc3339(moment)))
    except ValueError as error:
        raise BadRequest(f"sinceTime: {error}") from None


def _container(asked: str, pod: Json) -> str:
    spec, name = pod.get("spec") or {}, pod["metadata"]["name"]
    known = [it["name"] for field in _LISTS for it in spec.get(field) or ()]
    main = [it["name"] for it in spec.get("containers") or ()]
    asked = asked or (pod["metadata"].get("annotations") or {}).get(_DEFAULT, "")
    if asked:
        if asked not in known:
            raise BadRequest(f"container {asked} is not valid for pod {name}")
        return asked
    if len(main) == 1:
        return str(main[0])
    inits = [it for it in known if it not in main]
    also = f" or one of the init containers: [{' '.join(inits)}]" if inits else ""
    raise BadRequest(
        f"a container name must be specified for pod {name},"
        f" choose one of: [{' '.join(main)}]{also}"
    )


async def beginning_with(
    first: bytes, rest: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """Yield a piece that was taken already, then the others."""
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece
