"""Claims and what is on their volumes: bound soon, kept while a pod uses them, then gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from stateward.core.chance import Chance
from stateward.kube.client import Change, MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.rules.writes import Author
from stateward.local.store import StoreEvent
from stateward.sim.loop import SimLoop

_SELF = Author("kube-controller-manager")
_HOLD = "kubernetes.io/pvc-protection"
_BINDING = (0.02, 0.5)
_LETTING_GO = (0.02, 0.5)

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
        elif b'"deletionTimestamp"' in event.now.text:
            self._let_go_soon(key, uid)

    def _on_pod(self, event: StoreEvent) -> None:
        if event.change is not Change.DELETED:
            return
        for name in claims_of(event.now.document()):
            key = ObjectKey(event.now.key.namespace, name)
            stored = self._api.store.get(VOLUME_CLAIMS.name, key)
            if stored is not None and b'"deletionTimestamp"' in stored.text:
                self._let_go_soon(key, stored.uid)

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
        bound = MergePatch({"status": {"phase": "Bound", "capacity": size}})
        self._api.patch(VOLUME_CLAIMS, key, bound, _SELF, subresource="status")

    def _let_go(self, key: ObjectKey, uid: str) -> None:
        claim = self._claim(key, uid)
        pods = (it.document() for it in self._api.store.all(PODS.name, key.namespace))
        # A pod without a node does not count: it gets none while its claim is on its way out.
        if claim is None or any(
            key.name in claims_of(it) and it["spec"].get("nodeName") for it in pods
        ):
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


def claims_of(pod: Json) -> tuple[str, ...]:
    """Return the names of the claims that a pod uses."""
    volumes = pod["spec"].get("volumes") or ()
    found = (it.get("persistentVolumeClaim") for it in volumes)
    return tuple(it["claimName"] for it in found if it)
