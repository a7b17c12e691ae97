"""Create, update and patch: what a write may do to an object, by the rules of Kubernetes.

Synchronous: a write is checked and kept in one go, so two writers can never interleave. Deletion has rules of
its own (``deletion.py``); who owns which field is remembered in ``managed.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.kube.client import Apply, JsonPatch, MergePatch, Patch
from stateward.kube.codec import Json
from stateward.kube.errors import (
    AlreadyExists,
    BadRequest,
    Cause,
    Conflict,
    Invalid,
    NotFound,
    ServerFailed,
)
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import PatchError, json_patch, merge_patch
from stateward.kube.resources import Resource
from stateward.local import managed, metadata
from stateward.local.kinds import Kind, Kinds
from stateward.local.store import Store, Stored, stamped

#: How often a generated name may be taken before we give up.
_NAME_TRIES = 8


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, for the record of field owners, and whether it is only a rehearsal."""

    manager: str = "unknown"
    dry_run: bool = False


class Writes:
    """The verbs that make and change objects."""

    def __init__(
        self, store: Store, kinds: Kinds, *, now: Callable[[], float], chance: Chance
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._now = now
        self._chance = chance

    def create(
        self, resource: Resource[Any], namespace: str, document: Json, author: Author
    ) -> Stored:
        """Keep a new object."""
        kind = self._kinds.of(resource)
        meta = metadata.checked(document, resource)["metadata"]
        metadata.settle_namespace(meta, resource, namespace)
        if meta.get("resourceVersion"):
            raise BadRequest("resourceVersion should not be set on objects to be created")
        self._settle_name(resource, meta)
        key = ObjectKey(meta.get("namespace", ""), meta["name"])
        if self._store.get(resource.name, key) is not None:
            raise AlreadyExists(f'{resource} "{key.name}" already exists')
        self._stamp_new(kind, document)
        managed.record(
            None, document, managed.Writer(author.manager, to_rfc3339(self._now())), kind
        )
        return self._keep(resource, document, author)

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
        old = self.existing(resource, key).document()
        metadata.checked(document, resource)
        if document["metadata"].get("name", key.name) != key.name:
            raise BadRequest(f"the name of the object must be that of the request ({key.name!r})")
        metadata.check_revision(
            old, document, unconditional=kind.unconditional_update, resource=resource
        )
        return self._replace(kind, old, document, author, subresource)

    def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: Patch,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Change part of an object; an applied object that does not exist is created."""
        kind = self._kinds.of(resource)
        if isinstance(patch, Apply):
            return self._apply(kind, key, patch, author, subresource)
        old = self.existing(resource, key).document()
        new = _patched(old, patch, resource, key)
        metadata.checked(new, resource)
        metadata.check_revision(old, new, unconditional=True, resource=resource)
        return self._replace(kind, old, new, author, subresource)

    def existing(self, resource: Resource[Any], key: ObjectKey) -> Stored:
        """Return the newest version of an object; raise NotFound when there is none."""
        stored = self._store.get(resource.name, key)
        if stored is None:
            raise NotFound(f'{resource} "{key.name}" not found')
        return stored

    def finish(self, resource: Resource[Any], old: Json, new: Json, *, dry_run: bool) -> Stored:
        """Keep a changed object, or let it go if nothing holds it any more; a change of nothing writes nothing."""
        key = ObjectKey(new["metadata"].get("namespace", ""), new["metadata"]["name"])
        if is_released(new):
            if dry_run:
                return stamped(new, self._store.revision)
            return self._store.remove(resource.name, key)
        if metadata.says_the_same(old, new):
            return self.existing(resource, key)
        return self._keep(resource, new, Author(dry_run=dry_run))

    def _settle_name(self, resource: Resource[Any], meta: Json) -> None:
        if meta.get("name"):
            return
        prefix = meta.get("generateName", "")
        if not prefix:
            raise Invalid(
                f"{resource.kind} is invalid: metadata.name: Required value: name or generateName is required",
                causes=(
                    Cause(
                        reason="FieldValueRequired",
                        message="name or generateName is required",
                        field="metadata.name",
                    ),
                ),
            )
        for _ in range(_NAME_TRIES):
            meta["name"] = f"{prefix}{self._chance.suffix()}"
            if (
                self._store.get(resource.name, ObjectKey(meta.get("namespace", ""), meta["name"]))
                is None
            ):
                return
        raise ServerFailed(f"no free name was found for {prefix!r}; try again")

    def _stamp_new(self, kind: Kind, document: Json) -> None:
        meta = document["metadata"]
        for name in (
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "managedFields",
        ):
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
        self, kind: Kind, old: Json, new: Json, author: Author, subresource: str
    ) -> Stored:
        metadata.carry_over(old, new)
        metadata.check_finalizers(old, new, kind.resource)
        _keep_to_endpoint(kind.resource, old, new, subresource)
        if kind.counts_generation and not metadata.asks_for_the_same(old, new):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        writer = managed.Writer(author.manager, to_rfc3339(self._now()), subresource)
        managed.record(old, new, writer, kind)
        return self.finish(kind.resource, old, new, dry_run=author.dry_run)

    def _apply(
        self,
        kind: Kind,
        key: ObjectKey,
        patch: Apply,
        author: Author,
        subresource: str,
    ) -> Stored:
        resource = kind.resource
        stored = self._store.get(resource.name, key)
        body = metadata.checked(managed.fresh(patch.body), resource)
        metadata.settle_namespace(body["metadata"], resource, key.namespace)
        if body["metadata"].setdefault("name", key.name) != key.name:
            raise BadRequest(f"the name of the object must be that of the request ({key.name!r})")
        if "managedFields" in body["metadata"]:
            raise BadRequest("metadata.managedFields must be nil in an applied object")
        writer = managed.Writer(patch.manager, to_rfc3339(self._now()), subresource, applies=True)
        if stored is None:
            if (
                subresource
                or body["metadata"].get("uid")
                or body["metadata"].get("resourceVersion")
            ):
                raise self._missing(resource, key, body)
            self._stamp_new(kind, body)
            managed.own(body, patch.body, writer, kind)
            return self._keep(resource, body, author)
        old = stored.document()
        metadata.check_revision(old, body, unconditional=True, resource=resource)
        new = managed.applied(old, body, writer, kind, force=patch.force)
        metadata.carry_over(old, new)
        metadata.check_finalizers(old, new, resource)
        _keep_to_endpoint(resource, old, new, subresource)
        if kind.counts_generation and not metadata.asks_for_the_same(old, new):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        return self.finish(resource, old, new, dry_run=author.dry_run)

    def _missing(self, resource: Resource[Any], key: ObjectKey, body: Json) -> Exception:
        if body["metadata"].get("uid"):
            return Conflict(
                f"Precondition failed: UID in precondition: {body['metadata']['uid']}, UID in object meta: "
            )
        return NotFound(f'{resource} "{key.name}" not found')

    def _keep(self, resource: Resource[Any], document: Json, author: Author) -> Stored:
        if author.dry_run:
            return stamped(document, self._store.revision)
        return self._store.put(resource.name, document)


def is_released(document: Json) -> bool:
    """Tell whether an object on its way out is held by nothing any more."""
    meta = document["metadata"]
    return (
        "deletionTimestamp" in meta
        and not meta.get("finalizers")
        and not meta.get("deletionGracePeriodSeconds")
    )


def _keep_to_endpoint(resource: Resource[Any], old: Json, new: Json, subresource: str) -> None:
    """Let each endpoint change only its own part of the object."""
    if subresource == "status":
        if not resource.has_status:
            raise NotFound(f"the server could not find the requested resource: {resource}/status")
        status = new.get("status")
        owners = new["metadata"].get("managedFields")
        revision = new["metadata"].get("resourceVersion")
        new.clear()
        new.update(managed.fresh(old))
        if owners is not None:
            new["metadata"]["managedFields"] = owners
        if revision:
            new["metadata"]["resourceVersion"] = revision
        _set_or_drop(new, "status", status)
    elif subresource:
        raise NotFound(
            f"the server could not find the requested resource: {resource}/{subresource}"
        )
    elif resource.has_status:
        _set_or_drop(new, "status", old.get("status"))


def _set_or_drop(document: Json, name: str, value: object) -> None:
    if value is None:
        document.pop(name, None)
    else:
        document[name] = value


def _patched(
    old: Json, patch: MergePatch | JsonPatch, resource: Resource[Any], key: ObjectKey
) -> Json:
    try:
        if isinstance(patch, MergePatch):
            new = merge_patch(old, patch.body)
        else:
            new = json_patch(old, patch.operations)
    except PatchError as error:
        raise Invalid(
            f'the server rejected the patch of {resource} "{key.name}": {error}'
        ) from error
    if not isinstance(new, dict):
        raise BadRequest("a patched object must still be an object")
    return managed.fresh(new)
