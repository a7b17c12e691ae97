"""The scale subresource: how many replicas an object wants and has, whatever its kind."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from stateward.kube.client import Apply, JsonPatch
from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Cause, Invalid, NotFound
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
        return _shown(self._paths(resource), self._writes.existing(resource, key))

    def update(
        self, resource: Resource[Any], key: ObjectKey, scale: Json, author: Author
    ) -> Stored:
        """Set how many replicas an object should have."""
        paths, meta = self._paths(resource), scale.get("metadata") or {}
        if not isinstance(meta, dict):
            raise BadRequest(f"metadata of a scale must be an object, got {meta!r}")
        if meta.get("name", key.name) != key.name:
            raise BadRequest(f"the scale must be that of {key.name!r}, got {meta['name']!r}")
        stored = self._writes.existing(resource, key)
        new = stored.document()
        new["apiVersion"] = resource.api_version
        _put(new, paths.spec, _replicas(scale, key))
        new["metadata"]["resourceVersion"] = meta.get("resourceVersion") or str(stored.revision)
        made = self._writes.update(resource, key, new, author, subresource="scale")
        return _shown(paths, made)

    def patch(
        self, resource: Resource[Any], key: ObjectKey, patch: AnyPatch, author: Author
    ) -> Stored:
        """Change how many replicas an object should have."""
        old = self.get(resource, key).document()
        try:
            if isinstance(patch, JsonPatch):
                new = json_patch(old, patch.operations)
            else:
                new = merge_patch(old, patch.body)
        except PatchError as error:
            raise _unpatchable(key, str(error)) from error
        if not isinstance(new, dict):
            raise _unpatchable(key, "a patched scale must still be an object")
        _replicas(new, key, partial(_unpatchable, key))
        if isinstance(patch, Apply):
            author = Author(patch.manager, author.dry_run)
        return self.update(resource, key, new, author)

    def _paths(self, resource: Resource[Any]) -> ScalePaths:
        kind: Kind = self._kinds.of(resource)
        if kind.scale is None:
            raise NotFound(f"the server could not find the requested resource: {resource}/scale")
        return kind.scale


def _replicas(scale: Json, key: ObjectKey, refusal: Refusal = BadRequest) -> int:
    spec = scale.get("spec") or {}
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise refusal(f"spec.replicas of a scale must be a whole number, got {replicas!r}")
    if replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise _invalid(key, wrong("spec.replicas", message))
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
