"""The rules of metadata: what the server sets, what nobody may change, what counts as a change.

Functions over documents; each raises the error that Kubernetes would answer with.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from stateward.kube.codec import Json, Part, encode
from stateward.kube.errors import BadRequest, Conflict, Details, ServerFailed
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.patch import same
from stateward.kube.resources import DISRUPTION_BUDGETS, PODS, Resource
from stateward.kube.selector import LabelSelector
from stateward.local.kinds import Kind
from stateward.local.rules.admission import Refusal
from stateward.local.rules.validity import invalid, wrong

#: Seconds: a hundred years is as good as for ever, and still a moment that can be written down.
LONGEST_GRACE = 100 * 365 * 86_400

#: Set by the server; whatever a writer sends is replaced by what is stored.
_SERVER_OWNED = ("name", "namespace", "creationTimestamp", "generation")
#: Once there, they stay; before, nobody may write them.
_OF_THE_END = ("deletionTimestamp", "deletionGracePeriodSeconds")


def checked(document: Json, resource: Resource[Any], refusal: Refusal = BadRequest) -> Json:
    """Return the document, tidied; raise the refusal when its shape is none that can be stored."""
    for name, wanted in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        if document.setdefault(name, wanted) != wanted:
            raise refusal(f"{name} must be {wanted!r} at this endpoint, got {document[name]!r}")
    metadata = document.setdefault("metadata", {})
    if metadata is None:
        metadata = document["metadata"] = {}
    if isinstance(metadata, dict):
        _tidy(metadata)
    for name in [name for name, value in document.items() if value is None]:
        del document[name]
    try:
        msgspec.convert(metadata, ObjectMeta)
        if (shape := _SHAPES.get(resource.name)) is not None:
            _selector_of(msgspec.convert(document, shape))
    except ValueError as error:  # what msgspec raises is one, too
        raise refusal(f"the {resource.kind} cannot be read: {error}") from error
    return document


def check_type(document: Json, resource: Resource[Any]) -> None:
    """Raise BadRequest when an applied object does not say what it is, or is something else."""
    version, kind = (document.get(name) or "" for name in ("apiVersion", "kind"))
    if (version, kind) != (resource.api_version, resource.kind):
        place = version if "/" in str(version) else f"/{version}"
        raise BadRequest(f"invalid object type: {place}, Kind={kind}")


class _PodSpec(Part):
    node_name: str | None = None
    termination_grace_period_seconds: Annotated[int, msgspec.Meta(le=LONGEST_GRACE)] | None = None


class _Condition(Part):
    type: str
    status: str


class _PodStatus(Part):
    phase: str | None = None
    conditions: tuple[_Condition, ...] | None = None


class _Pod(Part):
    """What the server itself reads of a pod."""

    spec: _PodSpec | None = None
    status: _PodStatus | None = None


class _BudgetSpec(Part):
    selector: dict[str, Any] | None = None
    unhealthy_pod_eviction_policy: str | None = None


class _BudgetStatus(Part):
    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    disrupted_pods: dict[str, str] | None = None


class _Budget(Part):
    """What the server itself reads of a disruption budget."""

    spec: _BudgetSpec | None = None
    status: _BudgetStatus | None = None


_SHAPES: dict[str, type[_Pod | _Budget]] = {PODS.name: _Pod, DISRUPTION_BUDGETS.name: _Budget}


def _selector_of(shape: _Pod | _Budget) -> LabelSelector | None:
    """Return whom a budget selects; raise ValueError when that makes no sense."""
    if isinstance(shape, _Pod) or shape.spec is None:
        return None
    return LabelSelector.from_document(shape.spec.selector)


#: What may say nothing by being empty; anything else that is empty is of the wrong type.
_EMPTY: dict[str, Any] = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}


def _tidy(metadata: Json) -> None:
    """Leave out what says nothing: nulls, and empty lists and objects where they may be."""
    if isinstance(metadata.get("selfLink"), str):
        del metadata["selfLink"]  # once there was such a thing
    for name, value in tuple(metadata.items()):
        if name != "managedFields" and (value is None or value == _EMPTY.get(name)):
            del metadata[name]
    for name in ("labels", "annotations"):
        if isinstance(texts := metadata.get(name), dict):
            metadata[name] = {key: "" if it is None else it for key, it in texts.items()}
    if isinstance(owners := metadata.get("ownerReferences"), list):
        told = [_without_nulls(owner) for owner in owners]
        metadata["ownerReferences"] = [
            owner for place, owner in enumerate(told) if owner not in told[:place]
        ]


def _without_nulls(owner: Any) -> Any:
    if not isinstance(owner, dict | None):
        return owner
    return {name: value for name, value in (owner or {}).items() if value is not None}


def settle_namespace(metadata: Json, resource: Resource[Any], namespace: str) -> None:
    """Make the object's namespace the one of the request; raise BadRequest when they differ."""
    if not resource.namespaced:
        metadata.pop("namespace", None)
        return
    written = metadata.setdefault("namespace", namespace)
    if not written:
        raise BadRequest(f"a namespace must be given for {resource}")
    if namespace and written != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
            f" ({namespace!r}), got {written!r}"
        )


def check_address(document: Json, resource: Resource[Any], key: ObjectKey) -> None:
    """Raise BadRequest when an object is not the one that the request is about."""
    metadata = document["metadata"]
    if not metadata.get("name"):
        raise BadRequest(f"the name of the object must be given, as in the request ({key.name!r})")
    if metadata["name"] != key.name:
        raise BadRequest(
            f"the name of the object ({metadata['name']})"
            f" does not match the name on the URL ({key.name})"
        )
    settle_namespace(metadata, resource, key.namespace)


def carry_over(old: Json, new: Json, kind: Kind) -> None:
    """Keep what writers cannot change; raise Invalid when they try what they may not."""
    was, now = old["metadata"], new["metadata"]
    for name in _SERVER_OWNED:
        _set_or_drop(now, name, was.get(name))
    if "deletionTimestamp" in was:
        now["deletionTimestamp"] = was["deletionTimestamp"]
        if "deletionGracePeriodSeconds" in was:
            now.setdefault("deletionGracePeriodSeconds", was["deletionGracePeriodSeconds"])
    now.setdefault("uid", was["uid"])
    causes = [
        wrong(f"metadata.{name}", f"Invalid value: {now[name]!r}: field is immutable")
        for name in ("uid", *_OF_THE_END)
        if now.get(name) != was.get(name)
    ]
    if causes:
        raise invalid(kind.resource, name_of(old), *causes)
    _check_finalizers(was, now, kind)


def _check_finalizers(was: Json, now: Json, kind: Kind) -> None:
    added = set(now.get("finalizers") or ()) - set(was.get("finalizers") or ())
    if added and "deletionTimestamp" in was:
        listed = ", ".join(f'"{it}"' for it in sorted(added))
        message = (
            "Forbidden: no new finalizers can be added if the object is being deleted,"
            f" found new finalizers []string{{{listed}}}"
        )
        cause = wrong("metadata.finalizers", message, reason="FieldValueForbidden")
        raise invalid(kind.resource, was["name"], cause)


def check_uid(resource: Resource[Any], name: str, *, meant: str, found: str) -> None:
    """Raise Conflict when a writer means another object than the one that is there."""
    if meant and meant != found:
        raise Conflict(
            f'Operation cannot be fulfilled on {resource} "{name}": Precondition failed:'
            f" UID in precondition: {meant}, UID in object meta: {found}"
        )


def check_insisted(resource: Resource[Any], old: Json, uid: str, revision: str) -> None:
    """Raise Conflict when a write insists on another object, or version, than is there."""
    check_uid(resource, name_of(old), meant=uid, found=old["metadata"]["uid"])
    found = old["metadata"]["resourceVersion"]
    if revision and revision != found:
        raise Conflict(
            f'Operation cannot be fulfilled on {resource} "{name_of(old)}": Precondition failed:'
            f" ResourceVersion in precondition: {revision}, ResourceVersion in object meta: {found}"
        )


def check_revision(old: Json, new: Json, *, unconditional: bool, resource: Resource[Any]) -> None:
    """Raise Conflict when the writer has seen another version, Invalid when it had to see one."""
    sent = new["metadata"].get("resourceVersion", "")
    if sent and not sent.isdecimal():
        raise ServerFailed(f"resourceVersion must be a number, got {sent!r}")
    if sent.strip("0"):
        if sent != old["metadata"]["resourceVersion"]:
            raise stale(resource, name_of(old))
    elif not unconditional:
        message = "Invalid value: 0: must be specified for an update"
        refusal = invalid(resource, name_of(old), wrong("metadata.resourceVersion", message))
        # Said before the object is looked at, so it speaks of the resource and not of the kind.
        refusal.about = Details(name=name_of(old), group=resource.group, kind=resource.plural)
        raise refusal


def asks_for_the_same(old: Json, new: Json, kind: Kind) -> bool:
    """Tell whether two versions ask for the same: everything but metadata and status is equal."""
    if kind.counted_metadata:
        was, now = (it["metadata"].get(kind.counted_metadata, {}) for it in (old, new))
        if was != now:
            return False
    return _equal(_request(old, kind), _request(new, kind))


def says_the_same(old: Json, new: Json) -> bool:
    """Tell whether two versions differ in nothing but who wrote them when."""
    return _equal(_content(old), _content(new))


def name_of(document: Json) -> str:
    """Return the name of an object."""
    name: str = document["metadata"].get("name", "")
    return name


def stale(resource: Resource[Any], name: str) -> Conflict:
    """Return the error for a writer who has not seen the newest version."""
    return Conflict(
        f'Operation cannot be fulfilled on {resource} "{name}": the object has been modified;'
        " please apply your changes to the latest version and try again"
    )


def _equal(a: Json, b: Json) -> bool:
    """Tell whether two values are the same as JSON: mostly to the letter, or not at all."""
    return a == b and (encode(a) == encode(b) or same(a, b))


def _request(document: Json, kind: Kind) -> Json:
    aside = {"metadata", "apiVersion", "kind"} | ({"status"} if kind.resource.has_status else set())
    return {k: v for k, v in document.items() if k not in aside}


def _content(document: Json) -> Json:
    metadata = {k: v for k, v in document["metadata"].items() if k != "resourceVersion"}
    if "managedFields" in metadata:
        metadata["managedFields"] = [
            {k: v for k, v in entry.items() if k != "time"} for entry in metadata["managedFields"]
        ]
    return {**document, "metadata": metadata}


def _set_or_drop(document: Json, name: str, value: object) -> None:
    if value is None:
        document.pop(name, None)
    else:
        document[name] = value
