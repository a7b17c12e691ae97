"""Bodies of requests: JSON or YAML, of a size and a depth that can be handled."""

from __future__ import annotations

from typing import Any, Final

import yaml
from aiohttp import web

from stateward.core.errors import PeerConfused
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json, decode_json, plain
from stateward.kube.errors import BadRequest, Cause, Invalid, TooLarge, WrongType
from stateward.local.rules.strategic import StrategicPatch
from stateward.local.rules.writes import AnyPatch
from stateward.local.server.protobuf import reading as protobuf

#: Bytes: what a body may have at most, as with a real server.
LIMIT: Final = 3 * 1024 * 1024

_JSON: Final = "application/json"
_YAML: Final = "application/yaml"
_PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
_OPERATIONS: Final = "application/json-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"


async def read(request: web.BaseRequest) -> bytes:
    """Return the body; raise TooLarge when it is more than we take."""
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise TooLarge(f"Request entity too large: limit is {LIMIT}") from None
    except web.RequestPayloadError as error:
        raise BadRequest(f"the body cannot be read: {error}") from None


def document_of(body: bytes, content_type: str) -> Json:
    """Return the object that a body is; raise what is wrong with it."""
    match _plain_type(content_type):
        case "" | "application/json":
            found = _from_json(body)
        case "application/yaml":
            found = _from_yaml(body)
        case "application/vnd.kubernetes.protobuf":
            found = _from_protobuf(body)
        case other:
            raise _wrong_type(other, _JSON, _YAML, _PROTOBUF)
    if not isinstance(found, dict):
        raise BadRequest(f"the body must be an object, got {type(found).__name__}")
    return found


def patch_of(body: bytes, content_type: str, manager: str, *, force: bool | None) -> AnyPatch:
    """Return the patch that a body is; raise what is wrong with it."""
    kind = _plain_type(content_type)
    if kind == _APPLY:
        if not manager:
            raise _refused("fieldManager", "Required value: is required for apply patch")
        found = _from_yaml(body)
        return Apply(_an_object(found), manager, force=bool(force))
    if force is not None:
        raise _refused("force", "Forbidden: may not be specified for non-apply patch")
    return _other_patch(kind, body)


def _other_patch(kind: str, body: bytes) -> AnyPatch:
    match kind:
        case "application/merge-patch+json":
            return MergePatch(_an_object(_from_json(body)))
        case "application/json-patch+json":
            return JsonPatch(tuple(_operations(_from_json(body))))
        case "application/strategic-merge-patch+json":
            return StrategicPatch(_an_object(_from_json(body)))
        case other:
            raise _wrong_type(other, _OPERATIONS, _MERGE, _STRATEGIC, _APPLY)


def _operations(found: Any) -> list[Json]:
    if not isinstance(found, list):
        raise BadRequest(f"a JSON patch must be a list, got {type(found).__name__}")
    return found


def _an_object(found: Any) -> Json:
    if not isinstance(found, dict):
        raise BadRequest(f"the patch must be an object, got {type(found).__name__}")
    return found


def _plain_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _from_json(body: bytes) -> Any:
    try:
        return decode_json(body)
    except PeerConfused as error:
        raise BadRequest(f"the body must be JSON: {error.message}") from None


def _from_protobuf(body: bytes) -> Any:
    try:
        return protobuf.document(body)
    except (ValueError, PeerConfused) as error:
        raise BadRequest(f"the body must be a protobuf message of Kubernetes: {error}") from None


class _Loader(yaml.CSafeLoader):
    """Leaves moments as the texts that they are in JSON."""

    yaml_implicit_resolvers = {
        first: [(tag, regex) for tag, regex in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


def _from_yaml(body: bytes) -> Any:
    if body.lstrip()[:1] == b"{":
        return _from_json(body)
    try:
        text = body.decode()
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader)):
            # A few of them can stand for more text than any machine has memory.
            raise BadRequest("the YAML may not use aliases (*name)")
        found = yaml.load(text, _Loader)  # noqa: S506 - it is a safe loader
        return plain(found) if isinstance(found, dict) else found
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise BadRequest(f"the body must be YAML: {' '.join(str(error).split())}") from None


def _wrong_type(got: str, *supported: str) -> WrongType:
    return WrongType(
        f"the body of the request was in an unknown format ({got[:80] or 'no content type'})"
        f" - accepted media types include: {', '.join(supported)}"
    )


def _refused(field: str, problem: str) -> Invalid:
    cause = Cause(reason="FieldValueInvalid", message=problem, field=field)
    return Invalid(f'PatchOptions.meta.k8s.io "" is invalid: {field}: {problem}', causes=(cause,))
