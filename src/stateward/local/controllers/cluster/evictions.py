"""Pods whose node will not have them, is gone, or has finished with them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from stateward.core.moments import from_rfc3339
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import NODES, PODS
from stateward.local.conditions import with_condition
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.matching import covers
from stateward.local.documents import Document, loosely
from stateward.runtime.telling.recorder import EventType, ObjectReference
from stateward.runtime.triggers import itself

#: The key of the pass over all finished pods.
_ALL: Final = ObjectKey("", "")
#: Seconds for which admission has every pod bear a node that is lost.
_BY_DEFAULT: Final = 300
#: Seconds after which a pod that changed under our eyes is looked at again.
_AGAIN: Final = 0.2
_FINISHED = {"Succeeded", "Failed"}
_PODS = loosely(PODS)
_NODES = loosely(NODES)


def leaves_at(
    tolerations: Iterable[Json], taints: Iterable[Json], evict_after: float | None
) -> float | None:
    """Return the moment at which a pod must leave a node with NoExecute taints; None: never.

    ``evict_after`` shortens what every pod bears by default, and nothing that its author chose.
    """
    moments: list[float] = []
    for taint in taints:
        since = from_rfc3339(taint["timeAdded"]) if taint.get("timeAdded") else 0.0
        borne = [it for it in tolerations if covers(it, taint)]
        if not borne:
            moments.append(since)
        said = [it.get("tolerationSeconds") for it in borne]
        limits = [max(seconds, 0) for seconds in said if seconds is not None]
        if limits:
            patience = min(limits)
            hurried = evict_after is not None and patience == _BY_DEFAULT
            moments.append(since + (evict_after or 0.0 if hurried else patience))
    return min(moments, default=None)


class Evictions:
    """Makes pods leave nodes that will not have them any more."""

    def __init__(self, desk: Desk, evict_after: float | None) -> None:
        self._desk = desk
        self._evict_after = evict_after

    def below(self, pod: Object) -> Iterable[ObjectKey]:
        """Wake the node of a pod, if it wants somebody to leave."""
        key = _node_of(pod)
        node = self._desk.cache(NODES).peek(key)
        if node is not None and _no_execute(node):
            yield key

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Make the pods leave a node whose time has come."""
        node = self._desk.cache(NODES).get(key)
        taints = _no_execute(node) if node is not None else []
        if not taints:
            return DONE
        waits: list[float] = []
        for pod in self._desk.cache(PODS).find("node", key.name):
            if pod.metadata.deleting or pod.status.get("phase") in _FINISHED:
                continue
            due = leaves_at(pod.spec.get("tolerations") or (), taints, self._evict_after)
            left = due - self._desk.ports.clock.now() if due is not None else None
            if left is not None and (left > 0 or not await self._evict(pod)):
                waits.append(max(left, _AGAIN))
        if not waits:
            return DONE
        return Retry(min(waits), "Tolerating", "pods bear the taints of the node for a while")

    async def _evict(self, pod: Document) -> bool:
        """Make a pod leave; return False when it changed under our eyes."""
        about = ObjectReference.of(PODS, pod.metadata)
        text = f"Marking for deletion Pod {pod.metadata.key}"
        await self._desk.recorder.tell(about, EventType.NORMAL, "TaintManagerEviction", text)
        why = "Taint manager: deleting due to NoExecute taint"
        return await _remove(self._desk, pod, "DeletionByTaintManager", why, grace=None)


class Leftovers:
    """Removes pods whose node is gone, and the oldest finished ones when there are too many."""

    def __init__(self, desk: Desk, orphaned_after: float, keep_finished: int) -> None:
        self._desk = desk
        self._orphaned_after = orphaned_after
        self._keep_finished = keep_finished
        self._missed: dict[ObjectKey, float] = {}

    def below(self, pod: Object) -> Iterable[ObjectKey]:
        """Wake the node of a pod, if it is gone."""
        key = _node_of(pod)
        if key.name and key not in self._desk.cache(NODES):
            yield key

    def finished(self, pod: Object) -> Iterable[ObjectKey]:
        """Wake the pass over all finished pods when there is one more."""
        if isinstance(pod, Document) and pod.status.get("phase") in _FINISHED:
            yield _ALL

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Remove the pods of a node that is gone, or too many finished ones."""
        if key == _ALL:
            return await self._remove_oldest()
        pods = self._desk.cache(PODS).find("node", key.name)
        if key in self._desk.cache(NODES) or not pods:
            self._missed.pop(key, None)
            return DONE
        now = self._desk.ports.clock.monotonic()
        left = self._missed.setdefault(key, now) + self._orphaned_after - now
        if left > 0:
            return Retry(left, "NodeGone", f"the node {key.name} is gone, and may come back")
        return await self._remove_all(pods, key)

    async def _remove_all(self, pods: list[Document], node: ObjectKey) -> Outcome:
        with suppress(NotFound):
            # Ask the server and not the cache: to end a pod that still runs would be bad.
            await self._desk.client.get(_NODES, node)
            return DONE
        why = "PodGC: node no longer exists"
        ends = [await _remove(self._desk, it, "DeletionByPodGC", why, grace=0) for it in pods]
        return DONE if all(ends) else Retry(_AGAIN, "PodChanged", "a pod changed meanwhile")

    async def _remove_oldest(self) -> Outcome:
        pods = self._desk.cache(PODS)
        done = [pod for pod in pods if pod.status.get("phase") in _FINISHED]
        surplus = len(done) - self._keep_finished
        done.sort(key=lambda it: (it.metadata.creation_timestamp, it.metadata.key))
        for pod in done[: max(surplus, 0)]:
            key, uid = pod.metadata.key, pod.metadata.uid
            with suppress(NotFound):
                await self._desk.client.delete(_PODS, key, uid=uid, grace_seconds=0)
        return DONE


async def _remove(
    desk: Desk, pod: Document, reason: str, message: str, *, grace: int | None
) -> bool:
    """Leave a condition on a pod that says why it goes, and delete it; False: look again."""
    said = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
    old = pod.status.get("conditions") or []
    new = with_condition(old, said, desk.ports.clock.now())
    version = {"resourceVersion": pod.metadata.resource_version}
    patch = MergePatch({"metadata": version, "status": {"conditions": new}})
    key, uid = pod.metadata.key, pod.metadata.uid
    try:
        await desk.client.patch(_PODS, key, patch, subresource="status")
        await desk.client.delete(_PODS, key, uid=uid, grace_seconds=grace)
    except NotFound:
        return True
    except Conflict:
        return False
    return True


def _node_of(pod: Object) -> ObjectKey:
    name = pod.spec.get("nodeName") if isinstance(pod, Document) else None
    return ObjectKey("", name or "")


def _no_execute(node: Document) -> list[Json]:
    taints = node.spec.get("taints") or ()
    return [taint for taint in taints if taint["effect"] == "NoExecute"]


def employ(
    desk: Desk,
    *,
    evict_after: float | None = None,
    orphaned_after: float = 5.0,
    keep_finished: int = 500,
) -> None:
    """Have pods leave nodes that will not have them, and those of no node be removed."""
    evictions = Evictions(desk, evict_after)
    leftovers = Leftovers(desk, orphaned_after, keep_finished)
    desk.add("taint-eviction", evictions, ((NODES, itself), (PODS, evictions.below)))
    desk.add(
        "pod-garbage",
        leftovers,
        ((NODES, itself), (PODS, leftovers.below), (PODS, leftovers.finished)),
    )
