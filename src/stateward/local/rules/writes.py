"""Create, update and patch: what a write may do to an object, by the rules of Kubernetes.

Synchronous: a write is checked and kept in one go, so two writers can never interleave. Deletion
has rules of its own (``deletion.py``); who owns which field is remembered in ``managed.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    NotFound,
    ServerFailed,
    WrongType,
)
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import PatchError, json_patch, overlaid
from stateward.kube.resources import NAMESPACES, Resource
from stateward.kube.strategic import StrategicPatch, Unretainable, strategic_patch
from stateward.local.apply import managed
from stateward.local.kinds import Kind, Kinds
from stateward.local.rules import advice, metadata, validity
from stateward.local.rules.admission import Admission, Anything, Author, Strictness
from stateward.local.store import Store, Stored, rehearsed, stamped

__all__ = ["AnyPatch", "Author", "Strictness", "Writes", "held"]

#: All ways to say what should change.
AnyPatch: TypeAlias = MergePatch | JsonPatch | StrategicPatch | Apply

#: How often a generated name may be taken before we give up.
_NAME_TRIES = 8
#: What is generated is no longer than a label, so that the name can be the value of one.
_PREFIX_LIMIT = 58
#: What a writer may send about a new object and the server decides.
_IGNORED_IN_NEW = (
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "resourceVersion",
)


class Writes:
    """The verbs that make and change objects."""

    def __init__(
        self,
        store: Store,
        kinds: Kinds,
        *,
        now: Callable[[], float],
        chance: Chance,
        admission: Admission | None = None,
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._admission = admission or Anything()
        self._now = now
        self._chance = chance

    def create(
        self, resource: Resource[Any], namespace: str, document: Json, author: Author
    ) -> Stored:
        """Keep a new object."""
        kind = self._kinds.of(resource)
        author.warnings.extend(advice.on_owners(document))
        meta = metadata.checked(document, resource)["metadata"]
        metadata.settle_namespace(meta, resource, namespace)
        if (sent := meta.get("resourceVersion", "")).isdecimal() and sent.strip("0"):
            raise ServerFailed("resourceVersion should not be set on objects to be created")
        return self._create(kind, document, author)

    def update(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        document: Json,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Replace an object, or with a subresource that part of it."""
        kind = self._kinds.of(resource)
        author.warnings.extend(advice.on_owners(document))
        meta = metadata.checked(document, resource)["metadata"]
        metadata.check_address(document, resource, key)
        stored = self._store.get(resource.name, key)
        found = stored.uid if stored is not None else ""
        if stored is None and not (kind.created_by_update and not subresource):
            raise self._missing(resource, key)
        metadata.check_uid(resource, key.name, meant=meta.get("uid", ""), found=found)
        if stored is None:
            return self._create(kind, document, author)
        old = _loaded(kind, stored)
        metadata.check_revision(
            old, document, unconditional=kind.unconditional_update, resource=resource
        )
        self._admission.read(kind, document, author)
        author.warnings.extend(advice.on_finalizers(kind, document, old))
        writer = managed.Writer(author.manager, to_rfc3339(self._now()), subresource)
        return self._replace(kind, old, document, writer, dry_run=author.dry_run)

    def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: AnyPatch,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Change part of an object; an applied object that does not exist is created."""
        kind = self._kinds.of(resource)
        if isinstance(patch, Apply):
            return self._apply(kind, key, patch, subresource, dry_run=author.dry_run)
        old = _loaded(kind, self.existing(resource, key))
        new = _patched(old, patch, kind, key)
        refusal = partial(validity.unpatchable, resource, key.name)
        author.warnings.extend(advice.on_owners(new, patched=True))
        _check_type(kind, new, key.name)
        metadata.checked(new, resource, refusal)
        metadata.check_address(new, resource, key)
        metadata.check_revision(old, new, unconditional=True, resource=resource)
        self._admission.read(kind, new, author, refusal)
        author.warnings.extend(advice.on_finalizers(kind, new, old))
        writer = managed.Writer(author.manager, to_rfc3339(self._now()), subresource)
        return self._replace(kind, old, new, writer, dry_run=author.dry_run)

    def existing(self, resource: Resource[Any], key: ObjectKey) -> Stored:
        """Return the newest version of an object; raise NotFound when there is none."""
        stored = self._store.get(resource.name, key)
        if stored is None:
            raise self._missing(resource, key)
        return stored

    def finish(self, resource: Resource[Any], old: Json, new: Json, *, dry_run: bool) -> Stored:
        """Keep a changed object, or let it go if nothing holds it; a change of nothing is none."""
        key = ObjectKey(new["metadata"].get("namespace", ""), new["metadata"]["name"])
        new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        if dry_run:
            return rehearsed(new)
        if _is_released(resource, old, new):
            return stamped(new, self._store.remove(resource.name, key).revision)
        if metadata.says_the_same(old, new):
            return self.existing(resource, key)
        return self._store.put(resource.name, _as_stored(self._kinds.of(resource), new))

    def _missing(self, resource: Resource[Any], key: ObjectKey) -> NotFound:
        return NotFound(f'{resource} "{key.name}" not found')

    def _create(self, kind: Kind, document: Json, author: Author) -> Stored:
        self._admission.read(kind, document, author)
        _settle_name(kind.resource, document["metadata"], self._store, self._chance)
        self._stamp_new(kind, document)
        author.warnings.extend(advice.on_name(kind, document["metadata"]["name"]))
        author.warnings.extend(advice.on_finalizers(kind, document))
        writer = managed.Writer(author.manager, to_rfc3339(self._now()))
        managed.record(None, document, writer, kind)
        return self._keep_new(kind, document, dry_run=author.dry_run)

    def _keep_new(self, kind: Kind, document: Json, *, dry_run: bool) -> Stored:
        meta = document["metadata"]
        self._admission.admit_new(kind, document)
        validity.check_new(meta, kind, self._admission.problems(kind, document, None, ""))
        key = ObjectKey(meta.get("namespace", ""), meta["name"])
        if self._store.get(kind.resource.name, key) is not None:
            raise AlreadyExists(f'{kind.resource} "{key.name}" already exists')
        if dry_run:
            return rehearsed(document)
        return self._store.put(kind.resource.name, _as_stored(kind, document))

    def _stamp_new(self, kind: Kind, document: Json) -> None:
        meta = document["metadata"]
        for name in _IGNORED_IN_NEW:
            meta.pop(name, None)
        meta["uid"] = self._chance.uuid()
        meta["creationTimestamp"] = to_rfc3339(self._now())
        if kind.counts_generation:
            meta["generation"] = 1
        if kind.resource.has_status and kind.first_status is not None:
            document.pop("status", None)
            if kind.first_status:
                document["status"] = dict(kind.first_status)

    def _replace(
        self, kind: Kind, old: Json, new: Json, writer: managed.Writer, *, dry_run: bool
    ) -> Stored:
        _keep_to_endpoint(kind, old, new, writer.subresource)
        metadata.carry_over(old, new, kind)
        self._admission.admit_changed(kind, old, new)
        found = self._admission.problems(kind, new, old, writer.subresource)
        validity.check_changed(old, new, kind, found)
        if _counts(kind, writer) and not metadata.asks_for_the_same(old, new, kind):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if not writer.applies:
            managed.record(old, new, writer, kind)
        return self.finish(kind.resource, old, new, dry_run=dry_run)

    def _apply(
        self, kind: Kind, key: ObjectKey, patch: Apply, subresource: str, *, dry_run: bool
    ) -> Stored:
        resource = kind.resource
        stored = self._store.get(resource.name, key)
        body = managed.fresh(patch.body)
        self._admission.read_applied(kind, body)
        meta = metadata.checked(body, resource)["metadata"]
        if stored is not None:
            meta.setdefault("name", key.name)
        metadata.check_address(body, resource, key)
        if "managedFields" in meta:
            raise BadRequest("metadata.managedFields must be nil")
        writer = managed.Writer(patch.manager, to_rfc3339(self._now()), subresource, applies=True)
        if stored is None:
            return self._apply_new(kind, key, body, writer, dry_run=dry_run)
        old = _loaded(kind, stored)
        metadata.check_revision(old, body, unconditional=True, resource=resource)
        new = managed.applied(old, body, writer, kind, force=patch.force)
        new["metadata"]["uid"] = meta.get("uid", stored.uid)
        self._admission.fill(kind, new)
        return self._replace(kind, old, new, writer, dry_run=dry_run)

    def _apply_new(
        self, kind: Kind, key: ObjectKey, body: Json, writer: managed.Writer, *, dry_run: bool
    ) -> Stored:
        if writer.subresource:
            raise self._missing(kind.resource, key)
        if uid := body["metadata"].get("uid"):
            raise Conflict(
                f'Operation cannot be fulfilled on {kind.resource} "{key.name}": uid mismatch:'
                f" the provided object specified uid {uid}, and no existing object was found"
            )
        applied = managed.fresh(body)
        self._admission.fill(kind, body)
        self._stamp_new(kind, body)
        managed.own(body, applied, writer, kind)
        return self._keep_new(kind, body, dry_run=dry_run)


def _settle_name(resource: Resource[Any], meta: Json, store: Store, chance: Chance) -> None:
    if meta.get("name"):
        return
    prefix = meta.get("generateName", "")[:_PREFIX_LIMIT]
    if not prefix:
        message = "Required value: name or generateName is required"
        cause = validity.wrong("metadata.name", message, reason="FieldValueRequired")
        raise validity.invalid(resource, "", cause)
    for _ in range(_NAME_TRIES):
        meta["name"] = f"{prefix}{chance.suffix()}"
        key = ObjectKey(meta.get("namespace", ""), meta["name"])
        if store.get(resource.name, key) is None:
            return


def held(resource: Resource[Any], document: Json) -> bool:
    """Tell whether something has to happen before an object may go."""
    if resource.name == NAMESPACES.name and (document.get("spec") or {}).get("finalizers"):
        return True
    return bool(document["metadata"].get("finalizers"))


def _is_released(resource: Resource[Any], old: Json, new: Json) -> bool:
    """Tell whether an object that was on its way out is held by nothing any more."""
    was = old["metadata"]
    is_leaving = "deletionTimestamp" in was and not was.get("deletionGracePeriodSeconds")
    return is_leaving and not held(resource, new)


def _loaded(kind: Kind, stored: Stored) -> Json:
    """Return an object in the version that was asked for."""
    document = stored.document()
    if kind.stored_as:
        document["apiVersion"] = kind.resource.api_version
    return document


def _as_stored(kind: Kind, document: Json) -> Json:
    """Return an object in the version of the store; what it is comes first, where lists cut it."""
    if kind.stored_as:
        document["apiVersion"] = kind.stored_as
    return {name: document[name] for name in ("apiVersion", "kind")} | document


def _keep_to_endpoint(kind: Kind, old: Json, new: Json, subresource: str) -> None:
    """Let each endpoint change only its own part of the object."""
    if subresource and not _has_endpoint(kind, subresource):
        raise NotFound(
            f"the server could not find the requested resource: {kind.resource}/{subresource}"
        )
    if subresource == "status":
        status, meta = new.get("status"), new["metadata"]
        new.clear()
        new.update(managed.fresh(old))
        _set_or_drop(new, "status", status)
        _keep_metadata(new, meta, kind)
        return
    if kind.resource.has_status:
        _set_or_drop(new, "status", old.get("status"))
    if kind.resource.name == NAMESPACES.name and old.get("spec"):
        _keep_namespace(old, new, subresource)


def _counts(kind: Kind, writer: managed.Writer) -> bool:
    """Tell whether a write may be a new generation: what comes by the status endpoint is none."""
    return kind.counts_generation and writer.subresource != "status"


def _has_endpoint(kind: Kind, subresource: str) -> bool:
    if subresource == "status":
        return kind.resource.has_status
    if subresource == "scale":
        return kind.scale is not None
    return subresource == "finalize" and kind.resource.name == NAMESPACES.name


def _keep_namespace(old: Json, new: Json, subresource: str) -> None:
    """Let nobody but the one who empties a namespace say that it may go."""
    if subresource == "finalize":
        left = (new.get("spec") or {}).get("finalizers")
        new["spec"] = {"finalizers": left} if left else {}
    else:
        new["spec"] = managed.fresh(old["spec"])


def _keep_metadata(new: Json, sent: Json, kind: Kind) -> None:
    """Let the status endpoint change the metadata that it may: of a custom kind, none."""
    kept = kind.kept_by_status
    mine = {"managedFields"} if kept is None else sent.keys() | new["metadata"].keys()
    for name in mine - (kept or set()):
        _set_or_drop(new["metadata"], name, sent.get(name))


def _check_type(kind: Kind, document: Json, name: str) -> None:
    """Raise when a patch makes another kind of an object, or leaves open what it is."""
    if document.get("apiVersion") in (None, ""):
        if kind.built_in:
            what = f"the name of the object ({name} based on URL) was undeterminable"
            raise BadRequest(f"{what}: an object without apiVersion cannot be read")
        why = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        raise ServerFailed(f"Internal error occurred: {why}")
    if document.get("kind") in (None, ""):
        document["kind"] = kind.resource.kind
        if not kind.built_in:
            raise validity.unpatchable(kind.resource, name, "Object 'Kind' is missing")
    for field, wanted in (("apiVersion", kind.resource.api_version), ("kind", kind.resource.kind)):
        sent = document[field]
        if not kind.built_in and isinstance(sent, str) and sent != wanted:
            raise validity.unfitting(kind, name, field, sent)


def _set_or_drop(document: Json, name: str, value: object) -> None:
    if value is None:
        document.pop(name, None)
    else:
        document[name] = value


def _patched(
    old: Json, patch: MergePatch | JsonPatch | StrategicPatch, kind: Kind, key: ObjectKey
) -> Json:
    try:
        if isinstance(patch, MergePatch):
            new = overlaid(old, patch.body)
        elif isinstance(patch, StrategicPatch):
            new = _strategically_patched(old, patch, kind)
        else:
            new = json_patch(old, patch.operations)
    except Unretainable as error:
        raise BadRequest(str(error)) from error
    except PatchError as error:
        if isinstance(patch, StrategicPatch):
            raise ServerFailed(str(error)) from error  # as a real server does
        raise validity.unpatchable(kind.resource, key.name, str(error)) from error
    if not isinstance(new, dict):
        why = "a patched object must still be an object"
        raise validity.unpatchable(kind.resource, key.name, why)
    return managed.fresh(new)


def _strategically_patched(old: Json, patch: StrategicPatch, kind: Kind) -> Json:
    if not kind.built_in:
        raise WrongType(
            "a custom kind takes no strategic merge patch: send application/merge-patch+json,"
            " application/json-patch+json or application/apply-patch+yaml"
        )
    types = {name: old[name] for name in ("apiVersion", "kind")}  # no such patch changes them
    return strategic_patch(old, patch.body, kind.structure()) | types
