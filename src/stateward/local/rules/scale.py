"""The scale subresource: how many replicas an object wants and has, whatever its kind."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

import msgspec

from stateward.kube.client import Apply, JsonPatch
from stateward.kube.codec import Json, Part
from stateward.kube.errors import BadRequest, Cause, Invalid, NotFound, ServerFailed
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.patch import PatchError, json_patch, merge_patch
from stateward.kube.resources import Resource
from stateward.kube.strategic import StrategicPatch
from stateward.local.kinds import Kind, Kinds, ScalePaths
from stateward.local.rules import metadata
from stateward.local.rules.admission import Admission, Anything, Refusal
from stateward.local.rules.validity import wrong
from stateward.local.rules.writes import AnyPatch, Author, Writes
from stateward.local.store import Stored, rehearsed

SCALES: Final = Resource("autoscaling", "v1", "Scale", "scales", Object)
_TYPE: Final = {"apiVersion": SCALES.api_version, "kind": SCALES.kind}
_SHOWN: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_NUMBER: Final[Json] = {"type": "integer", "format": "int32"}
_SPEC: Final[Json] = {"replicas": _NUMBER}
_STATUS: Final[Json] = {"replicas": _NUMBER, "selector": {"type": "string"}}
#: No object of this kind is kept; what is sent as one is read like any other.
_KIND: Final = Kind(
    SCALES,
    schema={
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": _SPEC},
            "status": {"type": "object", "properties": _STATUS},
        },
    },
)


class _Counted(Part):
    replicas: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)] | None = None
    selector: str | None = None


class _Scale(Part):
    """What is read of a scale."""

    spec: _Counted | None = None
    status: _Counted | None = None


class Scaling:
    """The verbs of the scale subresource."""

    def __init__(self, kinds: Kinds, writes: Writes, *, admission: Admission | None = None) -> None:
        self._kinds = kinds
        self._writes = writes
        self._admission = admission or Anything()

    def get(self, resource: Resource[Any], key: ObjectKey) -> Stored:
        """Return the scale of an object."""
        paths, stored = self._kind(resource)[1], self._writes.existing(resource, key)
        if _get(stored.document(), paths.spec) is None:
            why = f'the spec replicas field "{paths.spec}" does not exist'
            raise ServerFailed(f"Internal error occurred: {why}")
        return _shown(paths, stored)

    def update(
        self, resource: Resource[Any], key: ObjectKey, scale: Json, author: Author
    ) -> Stored:
        """Set how many replicas an object should have."""
        return self._write(resource, key, self._read(scale, author, BadRequest), author)

    def patch(
        self, resource: Resource[Any], key: ObjectKey, patch: AnyPatch, author: Author
    ) -> Stored:
        """Change how many replicas an object should have."""
        old = _shown(self._kind(resource)[1], self._writes.existing(resource, key)).document()
        if isinstance(patch, Apply):
            self._admission.read_applied(_KIND, patch.body)
            author = Author(patch.manager, author.dry_run)
        new = self._read(_patched(old, patch, key), author, partial(_unpatchable, key))
        return self._write(resource, key, new, author)

    def _read(self, scale: Json, author: Author, refusal: Refusal) -> Json:
        """Return a scale as it was sent, without what is unknown; raise when it is none."""
        for name, wanted in _TYPE.items():
            if (sent := scale.get(name) or wanted) != wanted:
                raise refusal(f"{name} of a scale must be {wanted!r}, got {sent!r}")
        try:
            msgspec.convert(scale, _Scale)
        except msgspec.ValidationError as error:
            raise refusal(f"the scale cannot be read: {error}") from error
        read = metadata.checked(scale | _TYPE, SCALES, refusal)
        self._admission.read(_KIND, read, author, refusal)
        return read

    def _write(
        self, resource: Resource[Any], key: ObjectKey, scale: Json, author: Author
    ) -> Stored:
        (kind, paths), meta = self._kind(resource), scale["metadata"]
        _check_meant(meta, key)
        stored = self._writes.existing(resource, key)
        metadata.check_uid(resource, key.name, meant=meta.get("uid", ""), found=stored.uid)
        new = stored.document()
        new["apiVersion"] = resource.api_version
        replicas: int = (scale.get("spec") or {}).get("replicas") or 0
        if replicas < 0 and kind.schema is None:  # else its schema says so
            message = f"Invalid value: {replicas}: must be greater than or equal to 0"
            raise _invalid(key, wrong("spec.replicas", message))
        _put(new, paths.spec, replicas)
        new["metadata"]["resourceVersion"] = meta.get("resourceVersion") or str(stored.revision)
        made = self._writes.update(resource, key, new, author, subresource="scale")
        return _shown(paths, made)

    def _kind(self, resource: Resource[Any]) -> tuple[Kind, ScalePaths]:
        kind: Kind = self._kinds.of(resource)
        if kind.scale is None:
            raise NotFound(f"the server could not find the requested resource: {resource}/scale")
        return kind, kind.scale


def _patched(old: Json, patch: AnyPatch, key: ObjectKey) -> Json:
    try:
        if isinstance(patch, JsonPatch):
            new = json_patch(old, patch.operations)
        else:
            new = merge_patch(old, patch.body)
    except PatchError as error:
        raise _unpatchable(key, str(error)) from error
    if not isinstance(new, dict):
        raise _unpatchable(key, "a patched scale must still be an object")
    return new | _TYPE if isinstance(patch, StrategicPatch) else new  # no such patch changes them


def _check_meant(meta: Json, key: ObjectKey) -> None:
    """Raise BadRequest when a scale is not that of the object at its address."""
    if not meta.get("name"):
        what = f"the name of the object ({key.name} based on URL) was undeterminable"
        raise BadRequest(f"{what}: name must be provided")
    if meta["name"] != key.name:
        what = f"the name of the object ({meta['name']})"
        raise BadRequest(f"{what} does not match the name on the URL ({key.name})")
    if meta.get("namespace", key.namespace) != key.namespace:
        what = "the namespace of the provided object"
        raise BadRequest(f"{what} does not match the namespace sent on the request")


def _unpatchable(key: ObjectKey, why: str) -> Invalid:
    return _invalid(key, wrong("patch", f"Invalid value: {why}"))


def _invalid(key: ObjectKey, cause: Cause) -> Invalid:
    told = f"{cause.field}: {cause.message}"
    return Invalid(f'Scale.autoscaling "{key.name}" is invalid: {told}', causes=(cause,))


def _shown(paths: ScalePaths, stored: Stored) -> Stored:
    document = stored.document()
    meta = document["metadata"]
    status: Json = {"replicas": _get(document, paths.status) or 0}
    if selector := _selector_text(_get(document, paths.selector) if paths.selector else None):
        status["selector"] = selector
    wanted = _get(document, paths.spec)
    scale: Json = {
        **_TYPE,
        "metadata": {name: meta[name] for name in _SHOWN if name in meta},
        "spec": {"replicas": wanted} if wanted else {},  # as it is written there
        "status": status,
    }
    return rehearsed(scale, stored.revision)


def _get(document: Json, path: str) -> Any:
    found: Any = document
    for name in path.strip(".").split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _put(document: Json, path: str, value: int) -> None:
    *way, last = path.strip(".").split(".")
    for name in way:
        inner = document.setdefault(name, {})
        if not isinstance(inner, dict):
            raise BadRequest(f"{path} must lie in an object to be scaled, and {name} is none")
        document = inner
    document[last] = value


def _selector_text(selector: Any) -> str:
    if not isinstance(selector, dict):
        return str(selector or "")
    words = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for rule in selector.get("matchExpressions") or ():
        key, values = rule.get("key", ""), ",".join(sorted(rule.get("values") or ()))
        texts = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        words.append(texts.get(rule.get("operator", ""), key))
    return ",".join(words)
