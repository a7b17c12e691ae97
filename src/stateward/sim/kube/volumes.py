"""Claims and what is on their volumes: bound soon, kept while a pod uses them, then gone.

A claim that asks for more gets it in two steps, as with a real driver: the volume is made larger,
and then its file system, by the node of a pod that uses it. Only then the status says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from stateward.core.chance import Chance
from stateward.core.quantity import Quantity
from stateward.kube.client import Change, MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.catalog import STORAGE_CLASSES
from stateward.local.rules.writes import Author
from stateward.local.store import StoreEvent
from stateward.sim.loop import SimLoop

_SELF = Author("kube-controller-manager")
_HOLD = "kubernetes.io/pvc-protection"
_BINDING = (0.02, 0.5)
_LETTING_GO = (0.02, 0.5)
_EXPANDING = (0.1, 3.0)
_RESIZING = (0.1, 2.0)
_HALF_GROWN = {"type": "FileSystemResizePending", "status": "True"}

D = TypeVar("D")


class Volumes(Generic[D]):
    """The volumes of a cluster; ``blank`` makes what is on a new one."""

    def __init__(self, loop: SimLoop, api: Api, chance: Chance, blank: Callable[[], D]) -> None:
        self._loop = loop
        self._api = api
        self._chance = chance
        self._blank = blank
        #: What is on the volume of a claim, by the claim's UID.
        self.content: dict[str, D] = {}
        #: Claims that cannot end before a moment, whoever asks for it.
        self.stuck: dict[ObjectKey, float] = {}
        self._lives: dict[ObjectKey, int] = {}
        #: The luck of every claim, by UID.
        self._luck: dict[str, Chance] = {}
        #: How large volumes are whose file systems are smaller still, by the claim's UID.
        self._half_grown: dict[str, str] = {}
        api.store.listen(self._on_claim, VOLUME_CLAIMS.name)
        api.store.listen(self._on_pod, PODS.name)

    def of(self, key: ObjectKey) -> D | None:
        """Return what is on the volume of a claim."""
        stored = self._api.store.get(VOLUME_CLAIMS.name, key)
        return self.content.get(stored.uid) if stored is not None else None

    def _on_claim(self, event: StoreEvent) -> None:
        key, uid = event.now.key, event.now.uid
        if event.change is Change.ADDED:
            life = self._lives[key] = self._lives.get(key, 0) + 1
            self._luck[uid] = self._chance.stream(f"{key} {life}")
            self._later(uid, _BINDING, lambda: self._bind(key, uid))
        elif event.change is Change.DELETED:
            self.content.pop(uid, None)
            self._luck.pop(uid, None)
            self._half_grown.pop(uid, None)
        elif b'"deletionTimestamp"' in event.now.text:
            self._let_go_soon(key, uid)
        elif uid in self.content and _asks_for_more(event.now.document()):
            self._later(uid, _EXPANDING, lambda: self._expand(key, uid))

    def _on_pod(self, event: StoreEvent) -> None:
        gone = event.change is Change.DELETED
        if not gone and not self._half_grown:
            return
        for name in claims_of(event.now.document()):
            key = ObjectKey(event.now.key.namespace, name)
            stored = self._api.store.get(VOLUME_CLAIMS.name, key)
            if stored is None:
                continue
            if gone and b'"deletionTimestamp"' in stored.text:
                self._let_go_soon(key, stored.uid)
            elif stored.uid in self._half_grown:
                self._resize_soon(key, stored.uid)

    def _let_go_soon(self, key: ObjectKey, uid: str) -> None:
        self._later(uid, _LETTING_GO, lambda: self._let_go(key, uid))

    def _bind(self, key: ObjectKey, uid: str) -> None:
        claim = self._claim(key, uid)
        if claim is None:
            return
        self.content[uid] = self._blank()
        held = [*(claim["metadata"].get("finalizers") or ()), _HOLD]
        hold = MergePatch({"metadata": {"finalizers": held}})
        if _HOLD not in held[:-1]:
            self._api.patch(VOLUME_CLAIMS, key, hold, _SELF)
        size = claim["spec"].get("resources", {}).get("requests", {})
        self._tell(key, {"phase": "Bound", "capacity": size})

    def _expand(self, key: ObjectKey, uid: str) -> None:
        """Make a volume as large as its claim asks for, if its class allows that."""
        claim = self._claim(key, uid)
        if claim is None or not _asks_for_more(claim) or not self._may_grow(claim):
            return
        size = claim["spec"]["resources"]["requests"]["storage"]
        if self._half_grown.get(uid) != size:
            self._half_grown[uid] = size
            self._tell(key, {"conditions": [_HALF_GROWN]})
        self._resize_soon(key, uid)

    def _may_grow(self, claim: Json) -> bool:
        """Tell whether volumes of a class may grow; where nobody made the class, they may."""
        name = claim["spec"].get("storageClassName", "")
        found = self._api.store.get(STORAGE_CLASSES.name, ObjectKey("", name))
        return found is None or bool(found.document().get("allowVolumeExpansion"))

    def _resize_soon(self, key: ObjectKey, uid: str) -> None:
        self._later(uid, _RESIZING, lambda: self._resize(key, uid))

    def _resize(self, key: ObjectKey, uid: str) -> None:
        """Make a file system as large as its volume, where a pod has it on a node."""
        if uid in self._half_grown and self._claim(key, uid) is not None and self._is_used(key):
            size = self._half_grown.pop(uid)
            self._tell(key, {"capacity": {"storage": size}, "conditions": None})

    def _tell(self, key: ObjectKey, status: Json) -> None:
        patch = MergePatch({"status": status})
        self._api.patch(VOLUME_CLAIMS, key, patch, _SELF, subresource="status")

    def _is_used(self, key: ObjectKey) -> bool:
        """Tell whether a pod uses a claim; one without a node gets none while its claim goes."""
        pods = (it.document() for it in self._api.store.all(PODS.name, key.namespace))
        return any(key.name in claims_of(it) and it["spec"].get("nodeName") for it in pods)

    def _let_go(self, key: ObjectKey, uid: str) -> None:
        claim = self._claim(key, uid)
        if claim is None or self._is_used(key):
            return
        left = self.stuck.get(key, 0.0) - self._loop.time()
        if left > 0:
            self._later(uid, (left, left + 0.5), lambda: self._let_go(key, uid))
            return
        rest = [it for it in claim["metadata"].get("finalizers") or () if it != _HOLD]
        self._api.patch(VOLUME_CLAIMS, key, MergePatch({"metadata": {"finalizers": rest}}), _SELF)

    def _claim(self, key: ObjectKey, uid: str) -> Json | None:
        stored = self._api.store.get(VOLUME_CLAIMS.name, key)
        return stored.document() if stored is not None and stored.uid == uid else None

    def _later(self, uid: str, within: tuple[float, float], act: Callable[[], None]) -> None:
        chance = self._luck.get(uid)
        if chance is not None:  # else the claim is gone
            self._loop.call_outside(chance.between(*within), act)


def _asks_for_more(claim: Json) -> bool:
    asked = claim["spec"].get("resources", {}).get("requests", {})
    has = claim.get("status", {}).get("capacity", {})
    return _amount(asked) > _amount(has)


def _amount(of: Json) -> Quantity:
    return Quantity.parse(str(of.get("storage", 0)))


def claims_of(pod: Json) -> tuple[str, ...]:
    """Return the names of the claims that a pod uses."""
    volumes = pod["spec"].get("volumes") or ()
    found = (it.get("persistentVolumeClaim") for it in volumes)
    return tuple(it["claimName"] for it in found if it)
