"""Volumes for claims: found among those that are there, or made; kept or removed afterwards.

All nodes are on one machine, so a volume made here is a folder that every node can use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from stateward.core.outcome import DONE, Outcome, Wait
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import NODES, PODS, VOLUME_CLAIMS, Resource
from stateward.local.catalog import STORAGE_CLASSES, VOLUMES
from stateward.local.controllers.cluster.claims import (
    BOUND,
    BOUND_BY_US,
    IS_DEFAULT,
    LATE,
    LOCAL,
    PROVISIONED_BY,
    Claim,
    Volume,
    belongs,
    beyond_us,
    candidates,
    claim_of,
    claims_of,
    class_for,
    reaches,
    unfit,
    volume_of,
)
from stateward.local.controllers.desk import Desk
from stateward.local.documents import Document, StorageClass, loosely
from stateward.runtime.telling.recorder import EventType, ObjectReference
from stateward.runtime.triggers import itself

CLAIM_HOLD: Final = "kubernetes.io/pvc-protection"
VOLUME_HOLD: Final = "kubernetes.io/pv-protection"
DEFAULT_CLASS: Final = "standard"

_CLAIMS = loosely(VOLUME_CLAIMS)
_VOLUMES = loosely(VOLUMES)


@dataclass(frozen=True, slots=True)
class _Waits:
    """A claim has no volume yet, and why."""

    kind: EventType
    reason: str
    message: str


_FIRST_CONSUMER = _Waits(
    EventType.NORMAL,
    "WaitForFirstConsumer",
    "waiting for first consumer to be created before binding",
)
_NO_CLASS = _Waits(
    EventType.NORMAL,
    "FailedBinding",
    "no persistent volumes available for this claim and no storage class is set",
)
_LOST = _Waits(
    EventType.WARNING,
    "ClaimLost",
    "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
)


class Claims:
    """Gives claims their volumes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Bring one claim closer to its volume."""
        document = self._desk.cache(VOLUME_CLAIMS).get(key)
        if document is None:
            return await self._create_for_pod(key)
        if document.metadata.deleting:
            return await self._release(document)
        if await _hold(self._desk, _CLAIMS, document, CLAIM_HOLD):
            return DONE
        claim = claim_of(document)
        if claim.volume:
            return await self._settle(document, claim)
        return await self._find(document, claim)

    async def _create_for_pod(self, key: ObjectKey) -> Outcome:
        """Create a claim that is part of a pod and lives as long as it."""
        for pod in self._desk.cache(PODS):
            if (body := part_of(pod, key)) is not None:
                await self._desk.client.create(_CLAIMS, body)
        return DONE

    async def _release(self, document: Document) -> Outcome:
        """Let a claim go when no pod on a node uses it any more."""
        if CLAIM_HOLD not in document.metadata.finalizers:
            return DONE
        key = document.metadata.key
        if any(key in used_by(pod) for pod in self._desk.cache(PODS)):
            return Wait("InUse", "a pod uses the claim")
        await _let_go(self._desk, _CLAIMS, document, CLAIM_HOLD)
        return DONE

    async def _settle(self, document: Document, claim: Claim) -> Outcome:
        """Make a claim that names its volume bound to it, or lost."""
        found = self._desk.cache(VOLUMES).get(ObjectKey("", claim.volume))
        if found is None or not _takes(volume_of(found), claim):
            return await self._without(document, claim, there=found is not None)
        if why := unfit(volume_of(found), claim):
            text = f'Cannot bind to requested volume "{claim.volume}": {why}'
            return await self._wait(document, _Waits(EventType.WARNING, "VolumeMismatch", text))
        await self._bind_volume(found, claim)
        if not claim.was_bound:
            await self._desk.client.patch(
                _CLAIMS, claim.key, MergePatch({"metadata": {"annotations": {BOUND: "yes"}}})
            )
            return DONE  # our own write wakes us
        await self._grow(document, claim, volume_of(found))
        return DONE

    async def _without(self, document: Document, claim: Claim, *, there: bool) -> Outcome:
        """Say of a claim that its volume is not there, or is another one's."""
        if claim.was_bound:
            await self._tell(document, _LOST)
            await self._tell_phase(document, {"phase": "Lost"})
        elif there:
            text = f'volume "{claim.volume}" already bound to a different claim.'
            return await self._wait(document, _Waits(EventType.WARNING, "FailedBinding", text))
        else:
            await self._tell_phase(document, {"phase": "Pending"})
        return Wait("VolumeMissing", f"{claim.volume} is not there or not for this claim")

    async def _grow(self, document: Document, claim: Claim, volume: Volume) -> None:
        """Make a volume as large as its claim asks for, and say how large it is."""
        size = volume.storage
        if claim.storage > size and self._may_grow(volume):
            size = claim.storage
            capacity = {"spec": {"capacity": {"storage": str(size)}}}
            await self._desk.client.patch(
                _VOLUMES, ObjectKey("", volume.name), MergePatch(capacity)
            )
        status: Json = {
            "phase": "Bound",
            "accessModes": list(volume.modes),
            "capacity": {"storage": str(size)},
        }
        await self._tell_phase(document, status)

    def _may_grow(self, volume: Volume) -> bool:
        """Tell whether a volume is of a class that lets volumes grow."""
        its_class = self._desk.cache(STORAGE_CLASSES).get(ObjectKey("", volume.class_name))
        return isinstance(its_class, StorageClass) and its_class.allow_volume_expansion

    async def _find(self, document: Document, claim: Claim) -> Outcome:
        """Choose a volume that is there, or make one, or say why not."""
        classes = cast("list[StorageClass]", list(self._desk.cache(STORAGE_CLASSES)))
        class_name, its_class = class_for(claim, classes)
        if claim.class_name is None and its_class is not None:
            chosen = MergePatch({"spec": {"storageClassName": class_name}})
            await self._desk.client.patch(_CLAIMS, claim.key, chosen)
            return DONE  # our own write wakes us
        late = its_class is not None and its_class.volume_binding_mode == LATE
        if late and not claim.selected_node:
            return await self._wait(document, _FIRST_CONSUMER)
        volumes = [volume_of(it) for it in self._desk.cache(VOLUMES)]
        free = [it for it in candidates(claim, class_name, volumes) if self._reaches(it, claim)]
        if free:
            name = await self._take(free[0].name, claim)
        elif its_class and its_class.provisioner == LOCAL and not beyond_us(document.spec):
            name = await self._make(claim, its_class)
        else:
            return await self._wait(document, _why_not(class_name, its_class, document.spec))
        bound = {"metadata": {"annotations": {BOUND_BY_US: "yes"}}, "spec": {"volumeName": name}}
        await self._desk.client.patch(_CLAIMS, claim.key, MergePatch(bound))
        return DONE

    def _reaches(self, volume: Volume, claim: Claim) -> bool:
        """Tell whether a volume can be used on the node that was chosen for a claim, if any."""
        key = ObjectKey("", claim.selected_node)
        node = self._desk.cache(NODES).get(key) if claim.selected_node else None
        return node is None or reaches(volume, node.metadata.name, node.metadata.labels)

    async def _take(self, name: str, claim: Claim) -> str:
        """Write the claim into a volume first: of two claims that want it, one is refused."""
        if (found := self._desk.cache(VOLUMES).get(ObjectKey("", name))) is not None:
            await self._bind_volume(found, claim)
        return name

    async def _make(self, claim: Claim, its_class: StorageClass) -> str:
        body = new_volume(claim, its_class)
        name: str = body["metadata"]["name"]
        try:
            await self._desk.client.create(_VOLUMES, body)
        except AlreadyExists:
            return name  # made in a pass that did not get to its end
        text = f"Successfully provisioned volume {name}"
        found = self._desk.cache(VOLUME_CLAIMS).get(claim.key)
        if found is not None:
            about = ObjectReference.of(VOLUME_CLAIMS, found.metadata)
            tell = self._desk.recorder.tell
            await tell(about, EventType.NORMAL, "ProvisioningSucceeded", text)
        return name

    async def _wait(self, document: Document, why: _Waits) -> Outcome:
        await self._tell_phase(document, {"phase": "Pending"})
        await self._tell(document, why)
        return Wait(why.reason, why.message)

    async def _tell(self, document: Document, why: _Waits) -> None:
        about = ObjectReference.of(VOLUME_CLAIMS, document.metadata)
        await self._desk.recorder.tell(about, why.kind, why.reason, why.message)

    async def _bind_volume(self, document: Document, claim: Claim) -> None:
        old = document.spec.get("claimRef") or {}
        if old.get("uid") == claim.uid:
            return
        to = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim.key.namespace,
            "name": claim.key.name,
            "uid": claim.uid,
        }
        noted: Json = {"resourceVersion": document.metadata.resource_version}
        if not old:
            noted["annotations"] = {BOUND_BY_US: "yes"}
        patch = MergePatch({"metadata": noted, "spec": {"claimRef": to}})
        await self._desk.client.patch(_VOLUMES, document.metadata.key, patch)

    async def _tell_phase(self, document: Document, status: Json) -> None:
        old = document.status
        if any(old.get(name) != value for name, value in status.items()):
            key = document.metadata.key
            patch = MergePatch({"status": status})
            await self._desk.client.patch(_CLAIMS, key, patch, subresource="status")


class Volumes:
    """Says how volumes stand, and removes those that nobody needs any more."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Bring one volume to the phase that its claim gives it."""
        document = self._desk.cache(VOLUMES).get(key)
        if document is None:
            return DONE
        phase = self._phase(volume_of(document))
        if document.metadata.deleting:
            if phase != "Bound":
                await _let_go(self._desk, _VOLUMES, document, VOLUME_HOLD)
            return DONE
        if await _hold(self._desk, _VOLUMES, document, VOLUME_HOLD):
            return DONE
        if document.status.get("phase") != phase:
            patch = MergePatch({"status": {"phase": phase}})
            await self._desk.client.patch(_VOLUMES, key, patch, subresource="status")
        elif phase == "Released" and volume_of(document).policy == "Delete":
            await self._desk.client.delete(_VOLUMES, key, uid=document.metadata.uid)
        return DONE

    def _phase(self, volume: Volume) -> str:
        to = volume.claim
        if to is None or not to.get("uid"):
            return "Available"
        where = ObjectKey(to.get("namespace", ""), to.get("name", ""))
        claim = self._desk.cache(VOLUME_CLAIMS).get(where)
        return "Bound" if claim is not None and claim.metadata.uid == to["uid"] else "Released"


def new_volume(claim: Claim, its_class: StorageClass) -> Json:
    """Return the volume that is made for a claim."""
    name = f"pvc-{claim.uid}"
    return {
        "metadata": {
            "name": name,
            "annotations": {PROVISIONED_BY: LOCAL},
            "finalizers": [VOLUME_HOLD],
        },
        "spec": {
            "capacity": {"storage": str(claim.storage)},
            "accessModes": list(claim.modes),
            "volumeMode": claim.volume_mode,
            "storageClassName": its_class.metadata.name,
            "persistentVolumeReclaimPolicy": its_class.reclaim_policy,
            "hostPath": {"path": f"/volumes/{name}", "type": "DirectoryOrCreate"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim.key.namespace,
                "name": claim.key.name,
                "uid": claim.uid,
            },
        },
    }


def part_of(pod: Document, key: ObjectKey) -> Json | None:
    """Return the claim of that key, if it is part of the pod."""
    meta = pod.metadata
    if key not in _parts(pod):
        return None
    volume = next(it for it in pod.spec["volumes"] if f"{meta.name}-{it['name']}" == key.name)
    template = volume["ephemeral"].get("volumeClaimTemplate") or {}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid}
    metadata = {
        **(template.get("metadata") or {}),
        "namespace": key.namespace,
        "name": key.name,
        "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
    }
    return {"metadata": metadata, "spec": template.get("spec") or {}}


def _parts(pod: Object) -> list[ObjectKey]:
    """Return the claims that are part of a pod that is to stay."""
    meta = pod.metadata
    if not isinstance(pod, Document) or meta.deleting or b"ephemeral" not in bytes(pod.spec_text):
        return []
    volumes = (it for it in pod.spec.get("volumes") or () if it.get("ephemeral"))
    return [ObjectKey(meta.namespace, f"{meta.name}-{it['name']}") for it in volumes]


def used_by(pod: Object) -> list[ObjectKey]:
    """Return the claims that a pod on a node uses; one that has no node uses nothing yet."""
    if not isinstance(pod, Document) or not (spec := pod.spec).get("nodeName"):
        return []
    meta = pod.metadata
    return [ObjectKey(meta.namespace, name) for name in claims_of(meta.name, spec)]


async def ensure_defaults(client: Client) -> None:
    """Create the class of volumes that claims get which name none, unless it is there."""
    body = {
        "metadata": {"name": DEFAULT_CLASS, "annotations": {IS_DEFAULT: "true"}},
        "provisioner": LOCAL,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": LATE,
        "allowVolumeExpansion": True,
    }
    try:
        await client.create(STORAGE_CLASSES, body)
    except AlreadyExists:
        return


def employ(desk: Desk) -> None:
    """Have claims bound and volumes made, kept and removed."""
    claims, volumes = Claims(desk), Volumes(desk)

    def naming(volume: Object) -> Iterable[ObjectKey]:
        """Wake the claims that ask for a volume by its name."""
        name = volume.metadata.name
        found = desk.cache(VOLUME_CLAIMS)
        return [it.metadata.key for it in found if it.spec.get("volumeName") == name]

    def without_volume(_item: Object) -> Iterable[ObjectKey]:
        """Wake the claims that look for a volume, when there is a new one or another class."""
        found = (it for it in desk.cache(VOLUME_CLAIMS) if not it.spec.get("volumeName"))
        return [it.metadata.key for it in found]

    desk.add(
        "volume-claims",
        claims,
        (
            (VOLUME_CLAIMS, itself),
            (VOLUMES, _claim_of_volume),
            (VOLUMES, naming),
            (VOLUMES, lambda it: without_volume(it) if _is_free(it) else ()),
            (STORAGE_CLASSES, without_volume),
            (NODES, lambda _: ()),
            (PODS, used_by),
            (PODS, _parts),
        ),
    )
    desk.add("volumes", volumes, ((VOLUMES, itself), (VOLUME_CLAIMS, _volume_of_claim)))


def _claim_of_volume(volume: Object) -> Iterable[ObjectKey]:
    to = volume.spec.get("claimRef") if isinstance(volume, Document) else None
    if to:
        yield ObjectKey(to.get("namespace", ""), to.get("name", ""))


def _is_free(volume: Object) -> bool:
    return isinstance(volume, Document) and not volume.spec.get("claimRef")


def _volume_of_claim(claim: Object) -> Iterable[ObjectKey]:
    name = claim.spec.get("volumeName") if isinstance(claim, Document) else None
    if name:
        yield ObjectKey("", name)


def _takes(volume: Volume, claim: Claim) -> bool:
    return belongs(volume, claim) or (volume.claim is None and not volume.deleting)


def _why_not(class_name: str, its_class: StorageClass | None, spec: Json) -> _Waits:
    if not class_name:
        return _NO_CLASS
    if its_class is None:
        text = f'storageclass.storage.k8s.io "{class_name}" not found'
        return _Waits(EventType.WARNING, "ProvisioningFailed", text)
    if its_class.provisioner == LOCAL:
        return _Waits(EventType.WARNING, "ProvisioningFailed", beyond_us(spec))
    if its_class.provisioner.startswith("kubernetes.io/"):
        text = f"no volume plugin matched name: {its_class.provisioner}"
        return _Waits(EventType.WARNING, "ProvisioningFailed", text)
    text = (
        f"no volume is free, and nobody here makes volumes of {its_class.provisioner!r}:"
        f" the provisioner must be {LOCAL!r}"
    )
    return _Waits(EventType.NORMAL, "ExternalProvisioning", text)


async def _hold(desk: Desk, resource: Resource[Any], document: Document, name: str) -> bool:
    """Give an object the finalizer that keeps it while it is needed; False when it has it."""
    meta = document.metadata
    if name in meta.finalizers:
        return False
    finalizers = [*meta.finalizers, name]
    await _set_finalizers(desk, resource, document, finalizers)
    return True


async def _let_go(desk: Desk, resource: Resource[Any], document: Document, name: str) -> None:
    rest = [it for it in document.metadata.finalizers if it != name]
    if len(rest) < len(document.metadata.finalizers):
        await _set_finalizers(desk, resource, document, rest)


async def _set_finalizers(
    desk: Desk, resource: Resource[Any], document: Document, finalizers: list[str]
) -> None:
    meta = document.metadata
    body = {"metadata": {"resourceVersion": meta.resource_version, "finalizers": finalizers}}
    await desk.client.patch(resource, meta.key, MergePatch(body))
