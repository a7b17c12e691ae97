"""The scale subresource: how many replicas an object wants and has, whatever its kind."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from stateward.kube.client import Apply, JsonPatch
from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Cause, Invalid, NotFound, ServerFailed
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import PatchError, json_patch, merge_patch
from stateward.kube.resources import Resource
from stateward.local.kinds import Kind, Kinds, ScalePaths
from stateward.local.rules.admission import Refusal
from stateward.local.rules.validity import wrong
from stateward.local.rules.writes import AnyPatch, Author, Writes
from stateward.local.store import Stored, rehearsed

_SCALE: Final = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
_SHOWN: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Scaling:
    """The verbs of the scale subresource."""

    def __init__(self, kinds: Kinds, writes: Writes) -> None:
        self._kinds = kinds
        self._writes = writes

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
        (kind, paths), meta = self._kind(resource), scale.get("metadata") or {}
        _check_meant(meta, key)
        stored = self._writes.existing(resource, key)
        new = stored.document()
        new["apiVersion"] = resource.api_version
        replicas = _replicas(scale)
        if replicas < 0 and kind.schema is None:  # else its schema says so
            message = f"Invalid value: {replicas}: must be greater than or equal to 0"
            raise _invalid(key, wrong("spec.replicas", message))
        _put(new, paths.spec, replicas)
        new["metadata"]["resourceVersion"] = meta.get("resourceVersion") or str(stored.revision)
        made = self._writes.update(resource, key, new, author, subresource="scale")
        return _shown(paths, made)

    def patch(
        self, resource: Resource[Any], key: ObjectKey, patch: AnyPatch, author: Author
    ) -> Stored:
        """Change how many replicas an object should have."""
        old = _shown(self._kind(resource)[1], self._writes.existing(resource, key)).document()
        try:
            if isinstance(patch, JsonPatch):
                new = json_patch(old, patch.operations)
            else:
                new = merge_patch(old, patch.body)
        except PatchError as error:
            raise _unpatchable(key, str(error)) from error
        if not isinstance(new, dict):
            raise _unpatchable(key, "a patched scale must still be an object")
        _replicas(new, partial(_unpatchable, key))
        if isinstance(patch, Apply):
            author = Author(patch.manager, author.dry_run)
        return self.update(resource, key, new, author)

    def _kind(self, resource: Resource[Any]) -> tuple[Kind, ScalePaths]:
        kind: Kind = self._kinds.of(resource)
        if kind.scale is None:
            raise NotFound(f"the server could not find the requested resource: {resource}/scale")
        return kind, kind.scale


def _check_meant(meta: Any, key: ObjectKey) -> None:
    """Raise BadRequest when a scale is not that of the object at its address."""
    if not isinstance(meta, dict):
        raise BadRequest(f"metadata of a scale must be an object, got {meta!r}")
    if not meta.get("name"):
        what = f"the name of the object ({key.name} based on URL) was undeterminable"
        raise BadRequest(f"{what}: name must be provided")
    if meta["name"] != key.name:
        what = f"the name of the object ({meta['name']})"
        raise BadRequest(f"{what} does not match the name on the URL ({key.name})")
    if meta.get("namespace", key.namespace) != key.namespace:
        what = "the namespace of the provided object"
        raise BadRequest(f"{what} does not match the namespace sent on the request")


def _replicas(scale: Json, refusal: Refusal = BadRequest) -> int:
    spec = scale.get("spec") or {}
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise refusal(f"spec.replicas of a scale must be a whole number, got {replicas!r}")
    return replicas


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
    scale: Json = {
        **_SCALE,
        "metadata": {name: meta[name] for name in _SHOWN if name in meta},
        "spec": {"replicas": _get(document, paths.spec) or 0},
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
