"""The writes of the controllers of workloads, each about exactly the object that was looked at."""

from __future__ import annotations

from typing import Any

from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import Resource
from stateward.local.controllers.desk import Workplace
from stateward.local.controllers.workloads.custody import (
    Custody,
    owners_of,
    without_owner,
)
from stateward.local.controllers.workloads.pods import owner_reference
from stateward.local.documents import Document, loosely
from stateward.runtime.telling.recorder import EventType, ObjectReference


class Hands:
    """Writes on behalf of the workloads of one resource, and tells about it on them."""

    def __init__(self, desk: Workplace, resource: Resource[Any]) -> None:
        self._client = desk.client
        self._recorder = desk.recorder
        self._resource = resource

    async def tell(
        self, about: Document, reason: str, message: str, *, warning: bool = False
    ) -> None:
        """Tell an event about a workload."""
        kind = EventType.WARNING if warning else EventType.NORMAL
        reference = ObjectReference.of(self._resource, about.metadata)
        await self._recorder.tell(reference, kind, reason, message)

    async def create(self, resource: Resource[Any], body: Json) -> Document:
        """Create an object."""
        return await self._client.create(loosely(resource), body)

    async def get(self, resource: Resource[Any], metadata: ObjectMeta) -> Document:
        """Return an object as it is now."""
        return await self._client.get(loosely(resource), metadata.key)

    async def delete(
        self,
        resource: Resource[Any],
        metadata: ObjectMeta,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        """Ask for the end of an object; one that is gone already is fine."""
        try:
            await self._client.delete(
                loosely(resource), metadata.key, uid=metadata.uid, propagation=propagation
            )
        except NotFound:
            return

    async def change(self, resource: Resource[Any], metadata: ObjectMeta, part: Json) -> Document:
        """Change part of exactly the version that was looked at."""
        return await self._client.patch(
            loosely(resource), metadata.key, MergePatch(_guarded(metadata, part))
        )

    async def drop_finalizer(
        self, resource: Resource[Any], metadata: ObjectMeta, finalizer: str
    ) -> None:
        """Let an object go as far as one finalizer held it; one that is gone is fine."""
        rest = [it for it in metadata.finalizers if it != finalizer]
        try:
            await self.change(resource, metadata, {"metadata": {"finalizers": rest}})
        except NotFound:
            return

    async def report(
        self, document: Document, status: Json, annotations: Json | None = None
    ) -> Document:
        """Write what differs in the status; None takes a field away."""
        body: Json = {}
        if changed := _changes(document.status, status):
            body["status"] = changed
        noted = document.metadata.annotations
        if told := {k: it for k, it in (annotations or {}).items() if noted.get(k) != it}:
            body["metadata"] = {"annotations": told}
        if not body:
            return document
        return await self._client.patch(
            loosely(self._resource),
            document.metadata.key,
            MergePatch(_guarded(document.metadata, body)),
            subresource="status",
        )

    async def take_care(self, child: Resource[Any], owner: Document, custody: Custody) -> bool:
        """Take in and let go whom it says; return False when nothing was to do."""
        if custody.adopted and await self._is_alive(owner):
            mine = owner_reference(self._resource, owner.metadata)
            for one in custody.adopted:
                owners = [*owners_of(one.metadata), mine]
                await self.change(child, one.metadata, _owned_by(owners))
        for one in custody.released:
            owners = without_owner(one.metadata, owner.metadata.uid)
            await self.change(child, one.metadata, _owned_by(owners))
        return bool(custody.adopted or custody.released)

    async def _is_alive(self, owner: Document) -> bool:
        """Ask the server itself: an owner that is gone must not take anybody in."""
        try:
            found = await self.get(self._resource, owner.metadata)
        except NotFound:
            return False
        return found.metadata.uid == owner.metadata.uid and not found.metadata.deleting


def _changes(old: Json, wanted: Json) -> Json:
    """Return the merge patch that brings the named fields to what is wanted."""
    changed: Json = {}
    for name, value in wanted.items():
        was = old.get(name)
        if isinstance(value, dict) and isinstance(was, dict):
            missing = dict.fromkeys(was.keys() - value.keys())
            if inner := {**missing, **{k: it for k, it in value.items() if was.get(k) != it}}:
                changed[name] = inner
        elif was != value:
            changed[name] = value
    return changed


def _owned_by(owners: list[Json]) -> Json:
    return {"metadata": {"ownerReferences": owners}}


def _guarded(metadata: ObjectMeta, part: Json) -> Json:
    seen = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
    return {**part, "metadata": {**part.get("metadata", {}), **seen}}
