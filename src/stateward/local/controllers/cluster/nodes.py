"""The life of nodes: who stopped renewing its lease is lost, and its taints say so.

What counts is when we saw a lease change, not what is written in it: clocks differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stateward.core.moments import to_rfc3339
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import LEASES, NODES, PODS
from stateward.local.conditions import with_condition
from stateward.local.controllers.desk import Desk
from stateward.local.documents import Document, loosely
from stateward.runtime.triggers import itself

#: Where nodes renew their leases.
LEASE_NAMESPACE: Final = "kube-node-lease"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
NOT_READY: Final = "node.kubernetes.io/not-ready"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"

_OURS = {UNREACHABLE, NOT_READY, UNSCHEDULABLE}
_UNKNOWN = "NodeStatusUnknown"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_NODES = loosely(NODES)
_PODS = loosely(PODS)


def conditions_of(old: list[Json], *, lost: bool, now: float) -> list[Json]:
    """Return the conditions of a node: unknown while it is lost, and as before afterwards.

    A node that comes back need not have noticed that it was gone, so nobody else would say it.
    """
    new = old
    for name in ("Ready", *_PRESSURES):
        known = next((it for it in old if it["type"] == name), None)
        if lost and (known is not None or name == "Ready"):
            text = "Kubelet stopped posting node status."
            said = {"type": name, "status": "Unknown", "reason": _UNKNOWN, "message": text}
            new = with_condition(new, said, now)
        elif not lost and known is not None and known.get("reason") == _UNKNOWN:
            status = "True" if name == "Ready" else "False"
            text = "the node renews its lease again"
            said = {"type": name, "status": status, "reason": "NodeIsBack", "message": text}
            new = with_condition(new, said, now)
    return new


def taints_of(spec: Json, conditions: Iterable[Json], now: float) -> list[Json]:
    """Return the taints that a node should have: those of others, and what its state means."""
    there = spec.get("taints") or []
    ready = next((it["status"] for it in conditions if it["type"] == "Ready"), "True")
    wanted: list[Json] = []
    if spec.get("unschedulable"):
        wanted.append({"key": UNSCHEDULABLE, "effect": "NoSchedule"})
    if ready != "True":
        key = UNREACHABLE if ready == "Unknown" else NOT_READY
        wanted += [{"key": key, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    kept = [it for it in there if it["key"] not in _OURS or _is_in(it, wanted)]
    added = [it | {"timeAdded": to_rfc3339(now)} for it in wanted if not _is_in(it, there)]
    return [*kept, *added]


def _is_in(taint: Json, taints: Iterable[Json]) -> bool:
    return any((it["key"], it["effect"]) == (taint["key"], taint["effect"]) for it in taints)


@dataclass(slots=True)
class _Beat:
    """A lease as we saw it change last."""

    renewed: str
    at: float


class Nodes:
    """Watches over the leases of nodes."""

    def __init__(self, desk: Desk, lost_after: float) -> None:
        self._desk = desk
        self._lost_after = lost_after
        self._beats: dict[str, _Beat] = {}

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Say whether a node is lost, and mark it and its pods."""
        node = self._desk.cache(NODES).get(key)
        if node is None:
            self._beats.pop(key.name, None)
            return DONE
        left = self._lost_after - self._silence(key.name)
        lost = left <= 0
        await self._set_taints(await self._tell_conditions(node, lost=lost))
        if lost:
            await self._mark_pods(key.name)
            return DONE
        return Retry(left + 0.01, "Heartbeat", "the next renewal of the lease is due by then")

    def _silence(self, name: str) -> float:
        """Return for how many seconds a node has not renewed its lease, as we saw it."""
        lease = self._desk.cache(LEASES).get(ObjectKey(LEASE_NAMESPACE, name))
        renewed = (lease.spec.get("renewTime") or "") if lease is not None else ""
        now = self._desk.ports.clock.monotonic()
        beat = self._beats.get(name)
        if beat is None or beat.renewed != renewed:
            beat = self._beats[name] = _Beat(renewed, now)
        return now - beat.at

    async def _tell_conditions(self, node: Document, *, lost: bool) -> Document:
        """Say how a node is; return it as it is then."""
        old: list[Json] = node.status.get("conditions") or []
        new = conditions_of(old, lost=lost, now=self._desk.ports.clock.now())
        if new == old:
            return node
        patch = MergePatch({"metadata": _version(node), "status": {"conditions": new}})
        key = node.metadata.key
        return await self._desk.client.patch(_NODES, key, patch, subresource="status")

    async def _set_taints(self, node: Document) -> None:
        spec, conditions = node.spec, node.status.get("conditions") or ()
        taints = taints_of(spec, conditions, self._desk.ports.clock.now())
        if taints != (spec.get("taints") or []):
            patch = MergePatch({"metadata": _version(node), "spec": {"taints": taints or None}})
            await self._desk.client.patch(_NODES, node.metadata.key, patch)

    async def _mark_pods(self, name: str) -> None:
        """Say of the pods of a lost node that they are not ready: nobody can ask them."""
        for pod in self._desk.cache(PODS).find("node", name):
            old = pod.status.get("conditions") or []
            ready = next((it for it in old if it["type"] == "Ready"), None)
            if ready is None or ready["status"] != "True":
                continue
            said = {"type": "Ready", "status": "False", "reason": "NodeLost"}
            new = with_condition(old, said, self._desk.ports.clock.now())
            patch = MergePatch({"metadata": _version(pod), "status": {"conditions": new}})
            key = pod.metadata.key
            await self._desk.client.patch(_PODS, key, patch, subresource="status")


def _version(document: Document) -> Json:
    return {"resourceVersion": document.metadata.resource_version}


def _node_of_lease(lease: Object) -> Iterable[ObjectKey]:
    if lease.metadata.namespace == LEASE_NAMESPACE:
        yield ObjectKey("", lease.metadata.name)


def employ(desk: Desk, *, lost_after: float = 20.0) -> None:
    """Have nodes that fall silent be marked as lost, and those that come back be welcomed."""
    nodes = Nodes(desk, lost_after)
    desk.add(
        "nodes",
        nodes,
        ((NODES, itself), (LEASES, _node_of_lease), (PODS, lambda _: ())),
    )
