"""What an object must be like: its name, labels, annotations, owners and finalizers.

Whether a spec makes sense is not asked here; whether it may change is said in ``frozen.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import Cause, Details, Invalid
from stateward.kube.resources import Resource
from stateward.local.kinds import Kind

#: Bytes of all annotations of an object.
_ANNOTATIONS_LIMIT = 256 * 1024
#: Finalizers that Kubernetes' own kinds may have although they have no domain.
STANDARD_FINALIZERS = {"orphan", "foregroundDeletion", "kubernetes"}


def invalid(resource: Resource[Any], name: str, *causes: Cause) -> Invalid:
    """Return the refusal of an object, with everything that is wrong with it."""
    told = ", ".join(f"{cause.field}: {cause.message}" for cause in causes)
    listed = f"[{told}]" if len(causes) > 1 else told
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    return Invalid(f'{kind} "{name}" is invalid: {listed}', causes=causes)


def unpatchable(resource: Resource[Any], name: str, why: str) -> Invalid:
    """Return the refusal of a patch; what is wrong with it is a cause, or kubectl hides it."""
    refusal = invalid(resource, name, wrong("patch", f"Invalid value: {why}"))
    refusal.about = Details()
    return refusal


def unfitting(kind: Kind, name: str, field: str, sent: Any) -> Invalid:
    """Return the refusal of an object that says it is of another kind or version."""
    wanted = getattr(kind.resource, "kind" if field == "kind" else "api_version")
    return invalid(kind.resource, name, wrong(field, f'Invalid value: "{sent}": must be {wanted}'))


def wrong(field: str, message: str, *, reason: str = "FieldValueInvalid") -> Cause:
    """Return one thing that is wrong, in one place."""
    return Cause(reason=reason, message=message, field=field)


def check_new(metadata: Json, kind: Kind, more: Iterable[Cause] = ()) -> None:
    """Raise Invalid when a new object may not have such metadata, or for more reasons."""
    name = metadata["name"]
    _refuse(kind, name, [*_name_problems(metadata, kind), *_problems(metadata, kind), *more])


def _name_problems(metadata: Json, kind: Kind) -> Iterator[Cause]:
    prefix = metadata.get("generateName", "")
    # A dash at its end is fine: something follows.
    begun = f"{prefix[:-1]}a" if prefix.endswith("-") else prefix
    for field, name in (("generateName", begun), ("name", metadata["name"])):
        if name and (problem := kind.name_problem(name)):
            yield wrong(f"metadata.{field}", f"Invalid value: {problem}")


def check_changed(old: Json, new: Json, kind: Kind, more: Iterable[Cause] = ()) -> None:
    """Raise Invalid when an object may not become what somebody wants; its name is what it is."""
    found = [*_problems(new["metadata"], kind), *kind.frozen(old, new), *more]
    _refuse(kind, new["metadata"]["name"], found)


def _refuse(kind: Kind, name: str, found: list[Cause]) -> None:
    if found:
        raise invalid(kind.resource, name, *found)


def _problems(metadata: Json, kind: Kind) -> Iterator[Cause]:
    yield from _label_problems(metadata.get("labels", {}))
    yield from _annotation_problems(metadata.get("annotations", {}))
    yield from _owner_problems(metadata.get("ownerReferences", ()))
    yield from _finalizer_problems(metadata.get("finalizers", ()), kind)


def _label_problems(labels: dict[str, str]) -> Iterator[Cause]:
    for key, value in labels.items():
        for problem in (naming.label_key_problem(key), naming.label_value_problem(value)):
            if problem:
                yield wrong("metadata.labels", f"Invalid value: {problem}")


def _annotation_problems(annotations: dict[str, str]) -> Iterator[Cause]:
    for key in annotations:
        if problem := naming.label_key_problem(key.lower()):
            yield wrong("metadata.annotations", f"Invalid value: {problem}")
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS_LIMIT:
        message = f"Too long: may not be more than {_ANNOTATIONS_LIMIT} bytes"
        yield wrong("metadata.annotations", message, reason="FieldValueTooLong")


def _owner_problems(owners: list[Json]) -> Iterator[Cause]:
    for owner in owners:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield wrong(f"metadata.ownerReferences.{name}", "Invalid value: must not be empty")
        if owner.get("apiVersion", "").count("/") > 1:
            message = "Invalid value: must be a version, or a group, '/' and a version"
            yield wrong("metadata.ownerReferences.apiVersion", message)
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            message = "Invalid value: /v1, Kind=Event is disallowed from being an owner"
            yield wrong("metadata.ownerReferences", message)
    if sum(1 for owner in owners if owner.get("controller")) > 1:
        message = "Invalid value: Only one reference can have Controller set to true"
        yield wrong("metadata.ownerReferences", message)


def _finalizer_problems(finalizers: list[str], kind: Kind) -> Iterator[Cause]:
    for place, finalizer in enumerate(finalizers):
        if problem := naming.label_key_problem(finalizer):
            yield wrong("metadata.finalizers", f"Invalid value: {problem}")
        if kind.built_in and "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            message = "name is neither a standard finalizer name nor is it fully qualified"
            yield wrong(f"metadata.finalizers[{place}]", f"Invalid value: {message}")
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        message = "finalizer orphan and foregroundDeletion cannot be both set"
        yield wrong("metadata.finalizers", f"Invalid value: {message}")
