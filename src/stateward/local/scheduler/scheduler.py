"""The scheduler: gives pods that have no node one, and says why when it cannot.

A pod that nobody takes waits until something changes that may matter. Pods are placed one at a
time, and what was just placed is counted by the next decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from stateward.core.outcome import DONE, Outcome, Wait
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import NAMESPACES, NODES, PODS, VOLUME_CLAIMS
from stateward.local.catalog import STORAGE_CLASSES, VOLUMES
from stateward.local.conditions import with_condition
from stateward.local.controllers.cluster.claims import SELECTED_NODE, claim_of, volume_of
from stateward.local.controllers.desk import Desk
from stateward.local.documents import (
    Document,
    StorageClass,
    loosely,
)
from stateward.local.scheduler.board import Board
from stateward.local.scheduler.decision import Place, Prepare, Refuse, decide
from stateward.local.scheduler.views import PodView
from stateward.local.scheduler.volumes import Impossible, Late, Wish, wish_of
from stateward.runtime.controller import Habits
from stateward.runtime.telling.recorder import EventType, ObjectReference
from stateward.runtime.triggers import itself

_PODS = loosely(PODS)
_CLAIMS = loosely(VOLUME_CLAIMS)
_UNREADABLE = "the pod must say where it may run in the way that Kubernetes reads, and does not"


class Scheduler:
    """Places one pod a pass."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._board = Board(desk)
        #: Who waits, and what the board was like when there was no place.
        self._waiting: dict[ObjectKey, int] = {}
        #: For whom volumes are made, and on which node.
        self._prepared: dict[ObjectKey, tuple[str, str]] = {}

    def waiting(self, _item: Object) -> Iterable[ObjectKey]:
        """Wake all pods that have no place."""
        return tuple(self._waiting)

    def beside(self, pod: Object) -> Iterable[ObjectKey]:
        """Wake all pods that have no place when one on a node may have made room for them."""
        placed = isinstance(pod, Document) and pod.spec.get("nodeName")
        return self.waiting(pod) if placed else ()

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Give a pod a node, if it has none and there is one."""
        self._board.doubt(key)
        pod, view = self._desk.cache(PODS).get(key), self._board.pod(key)
        if pod is not None and view is None and not pod.spec.get("nodeName"):
            return await self._refuse(pod, _UNREADABLE)
        if pod is None or view is None or not view.pending:
            self._forget(key)
            return DONE
        if view.gated:
            why = "Scheduling is blocked due to non-empty scheduling gates"
            await self._say(pod, _refused("SchedulingGated", why))
            return Wait("SchedulingGated", why)
        if self._waiting.get(key) == self._board.version:
            return Wait("Unschedulable", "nothing has changed since it was tried last")
        return await self._place(pod, view)

    async def _place(self, pod: Document, view: PodView) -> Outcome:
        wishes = tuple(self._wish(view, name) for name in view.claims)
        version = self._board.version
        uid, prepared = self._prepared.get(view.key, ("", ""))
        if uid != pod.metadata.uid:
            prepared = ""
        match decide(view, self._board.picture(wishes), prepared):
            case Place(node=node):
                await self._bind(pod, view, node)
                return DONE
            case Prepare() as preparation:
                self._waiting[view.key] = version
                self._prepared[view.key] = pod.metadata.uid, preparation.node
                self._board.reserve(view, preparation.node)
                await self._prepare(preparation, wishes)
                return Wait("WaitForVolumes", f"volumes are made for {preparation.node}")
            case Refuse(message=message):
                self._waiting[view.key] = version
                return await self._refuse(pod, message)

    def _forget(self, key: ObjectKey) -> None:
        self._waiting.pop(key, None)
        self._prepared.pop(key, None)

    async def _refuse(self, pod: Document, message: str) -> Outcome:
        """Say why a pod goes nowhere, unless that is known."""
        if await self._say(pod, _refused("Unschedulable", message)):
            about = ObjectReference.of(PODS, pod.metadata)
            tell = self._desk.recorder.tell
            await tell(about, EventType.WARNING, "FailedScheduling", message)
        return Wait("Unschedulable", message)

    def _wish(self, pod: PodView, name: str) -> Wish:
        """Return what a claim of a pod means for it."""
        found = self._desk.cache(VOLUME_CLAIMS).get(ObjectKey(pod.key.namespace, name))
        volumes = [volume_of(it) for it in self._desk.cache(VOLUMES)]
        classes = cast("list[StorageClass]", list(self._desk.cache(STORAGE_CLASSES)))
        if found is not None and found.metadata.deleting:
            return Impossible(f'persistentvolumeclaim "{name}" is being deleted')
        claim = claim_of(found) if found is not None else None
        return wish_of(name, claim, volumes, classes)

    async def _prepare(self, it: Prepare, wishes: tuple[Wish, ...]) -> None:
        for wish in wishes:
            if isinstance(wish, Late) and wish.selected_node != it.node:
                note = {"metadata": {"annotations": {SELECTED_NODE: it.node}}}
                await self._desk.client.patch(_CLAIMS, wish.claim, MergePatch(note))

    async def _bind(self, pod: Document, view: PodView, node: str) -> None:
        """Put the very pod that was looked at on its node."""
        self._forget(view.key)
        self._board.assume(view, node)
        await self._desk.client.bind(view.key, node, uid=pod.metadata.uid)
        about = ObjectReference.of(PODS, pod.metadata)
        text = f"Successfully assigned {view.key} to {node}"
        await self._desk.recorder.tell(about, EventType.NORMAL, "Scheduled", text)

    async def _say(self, pod: Document, condition: Json) -> bool:
        """Set a condition of a pod; return whether that was news."""
        old = pod.status.get("conditions") or []
        new = with_condition(old, condition, self._desk.ports.clock.now())
        if new == old:
            return False
        patch = MergePatch({"metadata": _exactly(pod), "status": {"conditions": new}})
        await self._desk.client.patch(_PODS, pod.metadata.key, patch, subresource="status")
        return True


def _refused(reason: str, message: str) -> Json:
    return {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}


def _exactly(pod: Document) -> Json:
    """Return what makes a patch hit this version of this pod, or nothing."""
    return {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version}


def employ(desk: Desk) -> None:
    """Have pods placed."""
    scheduler = Scheduler(desk)
    desk.add(
        "scheduler",
        scheduler,
        (
            (PODS, itself),
            (PODS, scheduler.beside),
            (NODES, scheduler.waiting),
            (NAMESPACES, lambda _: ()),
            (VOLUME_CLAIMS, scheduler.waiting),
            (VOLUMES, scheduler.waiting),
            (STORAGE_CLASSES, scheduler.waiting),
        ),
        Habits(workers=1, probe_every=300.0),
    )
