"""The rules of metadata: what the server sets, what nobody may change, what counts as a change.

Pure functions over documents; each raises the error that Kubernetes would answer with.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Cause, Conflict, Invalid
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import Resource

#: Set by the server; whatever a writer sends is replaced by what is stored.
_SERVER_OWNED = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
)


def checked(document: Json, resource: Resource[Any]) -> Json:
    """Return the document if its shape is one that can be stored; raise BadRequest when it is not."""
    for name, wanted in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        if document.setdefault(name, wanted) != wanted:
            raise BadRequest(f"{name} must be {wanted!r} at this endpoint, got {document[name]!r}")
    metadata = document.setdefault("metadata", {})
    if isinstance(metadata, dict):
        for name in [name for name, value in metadata.items() if value is None]:
            del metadata[name]  # kubectl writes creationTimestamp: null
    try:
        msgspec.convert(metadata, ObjectMeta)
    except msgspec.ValidationError as error:
        raise BadRequest(f"metadata cannot be read: {error}") from error
    return document


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
            "the namespace of the object must be that of the request"
            f" ({namespace!r}), got {written!r}"
        )


def carry_over(old: Json, new: Json) -> None:
    """Keep what writers may not change; raise Conflict when they mean another object."""
    was, now = old["metadata"], new["metadata"]
    if now.get("uid", was["uid"]) != was["uid"]:
        raise Conflict(
            f"Precondition failed: UID in precondition: {now['uid']}, UID in object meta: {was['uid']}"
        )
    for name in _SERVER_OWNED:
        if name in was:
            now[name] = was[name]
        else:
            now.pop(name, None)


def check_revision(old: Json, new: Json, *, unconditional: bool, resource: Resource[Any]) -> None:
    """Raise Conflict when the writer has not seen the newest version."""
    sent = new["metadata"].get("resourceVersion", "")
    if not sent:
        if unconditional:
            return
        message = "must be specified for an update"
        raise Invalid(
            f"{resource.kind} {name_of(old)!r} is invalid: metadata.resourceVersion: {message}",
            causes=(
                Cause(
                    reason="FieldValueInvalid", message=message, field="metadata.resourceVersion"
                ),
            ),
        )
    if sent != old["metadata"]["resourceVersion"]:
        raise stale(resource, name_of(old))


def check_finalizers(old: Json, new: Json, resource: Resource[Any]) -> None:
    """Raise Invalid when somebody adds a finalizer to an object that is on its way out."""
    if "deletionTimestamp" not in old["metadata"]:
        return
    added = set(new["metadata"].get("finalizers") or ()) - set(
        old["metadata"].get("finalizers") or ()
    )
    if added:
        message = f"no new finalizers can be added if the object is being deleted, found new finalizers {sorted(added)}"
        raise Invalid(
            f"{resource.kind} {name_of(old)!r} is invalid: metadata.finalizers: Forbidden: {message}",
            causes=(
                Cause(reason="FieldValueForbidden", message=message, field="metadata.finalizers"),
            ),
        )


def asks_for_the_same(old: Json, new: Json) -> bool:
    """Tell whether two versions ask for the same: everything but metadata and status is equal."""
    return _request(old) == _request(new)


def says_the_same(old: Json, new: Json) -> bool:
    """Tell whether two versions differ in nothing but who wrote them when."""
    return _content(old) == _content(new)


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


def _request(document: Json) -> Json:
    return {
        k: v for k, v in document.items() if k not in {"metadata", "status", "apiVersion", "kind"}
    }


def _content(document: Json) -> tuple[Json, Json, list[Json]]:
    metadata = {
        k: v
        for k, v in document["metadata"].items()
        if k not in {"managedFields", "resourceVersion"}
    }
    fields = [
        {k: v for k, v in entry.items() if k != "time"}
        for entry in document["metadata"].get("managedFields") or ()
    ]
    return metadata, {k: v for k, v in document.items() if k != "metadata"}, fields
