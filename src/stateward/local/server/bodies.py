"""Bodies of requests: JSON or YAML, of a size and a depth that can be handled."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from aiohttp import web

from stateward.core.errors import PeerConfused
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json, decode_json
from stateward.kube.errors import ApiError, BadRequest, TooLarge, WrongType
from stateward.kube.strategic import StrategicPatch
from stateward.local.rules.writes import AnyPatch, Author, Strictness
from stateward.local.schema import causes
from stateward.local.schema.complaints import type_name
from stateward.local.server.protobuf import reading as protobuf
from stateward.local.server.refusals import InvalidOptions
from stateward.local.server.texts import jsons, yamls

#: Bytes: what a body may have at most, as with a real server.
LIMIT: Final = 3 * 1024 * 1024
#: Seconds that a body may take to arrive; nobody holds a place for longer without saying anything.
PATIENCE = 30.0
#: Operations of one JSON patch, as with a real server.
_MOST_OPERATIONS: Final = 10_000
#: Names that are there twice and are told of, at most.
_MOST_TOLD: Final = 10

_JSON: Final = "application/json"
_YAML: Final = "application/yaml"
_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
_OPERATIONS: Final = "application/json-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"


class Broken(BadRequest):
    """A body that cannot be read to its end: nobody knows where the next request would begin."""


async def read(request: web.BaseRequest) -> bytes:
    """Return the body; raise when it is more than we take, or does not come."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await request.read()
    except TimeoutError:
        raise ApiError(f"the body must arrive within {PATIENCE:g} seconds", code=408) from None
    except web.HTTPRequestEntityTooLarge:
        raise TooLarge(f"Request entity too large: limit is {LIMIT}") from None
    except web.RequestPayloadError as error:
        why = " ".join(str(error).split())
        raise Broken(f"the body cannot be read: {why}") from None


def document_of(body: bytes, content_type: str, author: Author | None = None) -> Json:
    """Return the object that a body is; raise what is wrong with it."""
    match _plain_type(content_type):
        case "" | "application/json":
            found = _from_json(body, author)
        case "application/yaml":
            found = _from_yaml(body, author)
        case "application/vnd.kubernetes.protobuf":
            found = _from_protobuf(body)
        case other:
            raise _wrong_type(other, _JSON, _YAML, _PROTOBUF)
    if found is None:
        return {}  # it says nothing
    if not isinstance(found, dict):
        raise BadRequest(f"the body must be an object, got {type_name(found)}")
    return found


def patch_of(
    body: bytes, content_type: str, manager: str, author: Author, *, force: bool | None
) -> AnyPatch:
    """Return the patch that a body is; raise what is wrong with it."""
    kind = _plain_type(content_type)
    if kind == _APPLY:
        if not manager:
            why = causes.required("fieldManager", "is required for apply patch")
            raise InvalidOptions("PatchOptions", why)
        found = _from_yaml(body, author)
        if author.doubles and author.strictness is Strictness.STRICT:
            raise BadRequest(f"error decoding YAML: {', '.join(author.doubles)}")
        author.warnings.extend(author.doubles)
        return Apply(_an_object(found), manager, force=bool(force))
    if force is not None:
        why = causes.forbidden("force", "may not be specified for non-apply patch")
        raise InvalidOptions("PatchOptions", why)
    return _other_patch(kind, body, author)


def _other_patch(kind: str, body: bytes, author: Author) -> AnyPatch:
    match kind:
        case "application/merge-patch+json":
            return MergePatch(_an_object(_from_json(body, author)))
        case "application/json-patch+json":
            return JsonPatch(tuple(_operations(_from_json(body))))
        case "application/strategic-merge-patch+json":
            found = _from_json(body, author)
            return StrategicPatch({} if found is None else _an_object(found))
        case other:
            raise _wrong_type(other, _OPERATIONS, _MERGE, _STRATEGIC, _APPLY)


def _operations(found: Any) -> list[Json]:
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(it, dict | None) for it in found):
        raise BadRequest(f"a JSON patch must be a list of objects, got {type_name(found)}")
    if len(found) > _MOST_OPERATIONS:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is"
            f" {_MOST_OPERATIONS}, got {len(found)}"
        )
    return [it or {} for it in found]  # a step that says nothing cannot be done


def _an_object(found: Any) -> Json:
    if not isinstance(found, dict):
        raise BadRequest(f"the patch must be an object, got {type_name(found)}")
    return found


def _plain_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _from_json(body: bytes, author: Author | None = None) -> Any:
    try:
        found = decode_json(body)
    except PeerConfused as error:
        raise BadRequest(f"the body must be JSON: {error.message}") from None
    if author is not None and author.strictness is not Strictness.IGNORE:
        _remember(jsons.doubles(body), author)
    return found


def _remember(doubles: list[str], author: Author) -> None:
    """Remember the names that are there twice, for when the writer is told what is odd."""
    author.doubles.extend(f'duplicate field "{path}"' for path in doubles[:_MOST_TOLD])


def _from_protobuf(body: bytes) -> Any:
    try:
        return protobuf.document(body)
    except (ValueError, PeerConfused) as error:
        raise BadRequest(f"the body must be a protobuf message of Kubernetes: {error}") from None


def _from_yaml(body: bytes, author: Author | None = None) -> Any:
    if body.lstrip()[:1] == b"{":
        return _from_json(body, author)
    if len(body) > yamls.LIMIT:
        raise TooLarge(f"Request entity too large: limit is {yamls.LIMIT} for YAML, send JSON")
    try:
        found, doubles = yamls.value_of(body.decode())
    except ValueError as error:
        raise BadRequest(f"the body must be YAML: {error}") from None
    if author is not None and author.strictness is not Strictness.IGNORE:
        _remember(doubles, author)
    return found


def _wrong_type(got: str, *supported: str) -> WrongType:
    return WrongType(
        f"the body of the request was in an unknown format ({got[:80] or 'no content type'})"
        f" - accepted media types include: {', '.join(supported)}"
    )
