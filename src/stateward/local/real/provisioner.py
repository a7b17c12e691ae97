"""Volumes for a real control plane: its own controllers bind and release, we make and remove.

This is what an external provisioner does: it waits until a claim names it, creates a volume for
that claim, grows it when the claim does, and deletes it once it is released. The folder behind a
volume is the agent's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from stateward.core.outcome import DONE, Outcome
from stateward.core.quantity import Quantity
from stateward.kube.client import MergePatch
from stateward.kube.errors import AlreadyExists
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import VOLUME_CLAIMS, Resource
from stateward.local.catalog import STORAGE_CLASSES, VOLUMES
from stateward.local.controllers.cluster.claims import (
    LATE,
    LOCAL,
    PROVISIONED_BY,
    Claim,
    amount,
    belongs,
    beyond_us,
    claim_of,
    class_for,
    volume_of,
)
from stateward.local.controllers.cluster.volumes import new_volume
from stateward.local.controllers.desk import Desk
from stateward.local.documents import Document, StorageClass, loosely
from stateward.runtime.telling.recorder import EventType, ObjectReference
from stateward.runtime.triggers import itself

#: Where the volume controller says who is to make a claim's volume.
ASKED: Final = "volume.kubernetes.io/storage-provisioner"

#: What it looks at.
WATCHED: Final[tuple[Resource[Any], ...]] = (VOLUME_CLAIMS, VOLUMES, STORAGE_CLASSES)

_CLAIMS = loosely(VOLUME_CLAIMS)
_VOLUMES = loosely(VOLUMES)


class Makes:
    """Makes volumes for claims, and lets them grow."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Do what a claim needs, if it needs us."""
        document = self._desk.cache(VOLUME_CLAIMS).get(key)
        if document is None or document.metadata.deleting:
            return DONE
        claim = claim_of(document)
        if claim.volume:
            await self._grow(document, claim)
        elif document.metadata.annotations.get(ASKED) == LOCAL:
            await self._make(document, claim)
        return DONE

    async def _make(self, document: Document, claim: Claim) -> None:
        classes = cast("list[StorageClass]", list(self._desk.cache(STORAGE_CLASSES)))
        _, its_class = class_for(claim, classes)
        if its_class is None or its_class.provisioner != LOCAL:
            return
        if its_class.volume_binding_mode == LATE and not claim.selected_node:
            return
        if why := beyond_us(document.spec):
            about = ObjectReference.of(VOLUME_CLAIMS, document.metadata)
            await self._desk.recorder.tell(about, EventType.WARNING, "ProvisioningFailed", why)
            return
        try:
            await self._desk.client.create(_VOLUMES, new_volume(claim, its_class))
        except AlreadyExists:
            return

    async def _grow(self, document: Document, claim: Claim) -> None:
        found = self._desk.cache(VOLUMES).get(ObjectKey("", claim.volume))
        if found is None or not _is_ours(found) or not belongs(volume_of(found), claim):
            return
        size = {"storage": str(claim.storage)}
        if volume_of(found).storage < claim.storage:
            patch = MergePatch({"spec": {"capacity": size}})
            await self._desk.client.patch(_VOLUMES, found.metadata.key, patch)
        elif claim.phase == "Bound" and _told(document) < claim.storage:
            told = MergePatch({"status": {"capacity": size}})
            await self._desk.client.patch(_CLAIMS, claim.key, told, subresource="status")


class Removes:
    """Removes volumes that were released and are not to be kept."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Delete a volume of ours that nobody needs any more."""
        found = self._desk.cache(VOLUMES).get(key)
        if found is None or found.metadata.deleting or not _is_ours(found):
            return DONE
        volume = volume_of(found)
        if volume.phase == "Released" and volume.policy == "Delete":
            await self._desk.client.delete(_VOLUMES, key, uid=found.metadata.uid)
        return DONE


def employ(desk: Desk) -> None:
    """Have volumes made and removed for the claims of a real control plane."""

    def of_class(its_class: Object) -> Iterable[ObjectKey]:
        """Wake the claims that wait for a class."""
        name = its_class.metadata.name
        claims = (it for it in desk.cache(VOLUME_CLAIMS) if not it.spec.get("volumeName"))
        return [it.metadata.key for it in claims if it.spec.get("storageClassName") == name]

    sources = ((VOLUME_CLAIMS, itself), (VOLUMES, _its_claim), (STORAGE_CLASSES, of_class))
    desk.add("provisioner", Makes(desk), sources)
    desk.add("reclaimer", Removes(desk), ((VOLUMES, itself),))


def _its_claim(volume: Object) -> Iterable[ObjectKey]:
    to = volume.spec.get("claimRef") if isinstance(volume, Document) else None
    if to:
        yield ObjectKey(to.get("namespace", ""), to.get("name", ""))


def _told(claim: Document) -> Quantity:
    """Return how large a claim is said to be."""
    return amount((claim.status.get("capacity") or {}).get("storage"))


def _is_ours(volume: Document) -> bool:
    return volume.metadata.annotations.get(PROVISIONED_BY) == LOCAL
