"""Words for stories about where pods go and what volumes they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from contract.kubernetes.wire import Wire

HOST: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"

_PROBE: Final = "is-known"
_IN_NAMESPACES: Final = ("pods", "persistentvolumeclaims")
_CLUSTER_WIDE: Final = ("nodes", "persistentvolumes", "storageclasses")


def node(name: str, zone: str = "", *, taints: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """Return a node with four processors; ``more`` are labels or things that it has.

    A taint is written as kubectl takes it: ``key=value:Effect``.
    """
    labels = {HOST: name} | ({ZONE: zone} if zone else {}) | more.pop("labels", {})
    has = {"cpu": "4", "memory": "8Gi", "pods": "10", "ephemeral-storage": "20Gi"}
    has |= more.pop("has", {})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "it is"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [taint(it) for it in taints], **more},
        "status": {"allocatable": has, "capacity": has, "conditions": [ready]},
    }


def nobody(nodes: int, why: str, *, hopeless: int = 0, full: int = 0) -> str:
    """Return the sentence of a pod that none of so many nodes takes.

    To end other pods would not help on the hopeless ones; on the full ones it would, were there any
    of less importance.
    """
    helps = {
        "No preemption victims found for incoming pod": full,
        "Preemption is not helpful for scheduling": hopeless,
    }
    parts = sorted(f"{count} {text}" for text, count in helps.items() if count)
    return (
        f"0/{nodes} nodes are available: {why}. no new claims to deallocate, "
        f"preemption: 0/{nodes} nodes are available: {', '.join(parts)}."
    )


def never(nodes: int, why: str) -> str:
    """Return the sentence of a pod that no node at all could take."""
    return f"0/{nodes} nodes are available: {why}. not found"


def taint(words: str) -> dict[str, str]:
    """Read ``key=value:Effect``."""
    said, _, effect = words.rpartition(":")
    key, _, value = said.partition("=")
    return {"key": key, "value": value, "effect": effect}


def pod(name: str = "it", *, wants: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a pod that asks for so much; ``labels`` and ``app`` are its labels, the rest its spec."""
    labels = spec.pop("labels", {}) | ({"app": spec.pop("app")} if "app" in spec else {})
    main = {"name": "main", "image": "none", "resources": {"requests": wants or {}}}
    main |= spec.pop("main", {})
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [main], "terminationGracePeriodSeconds": 0, **spec},
    }


@dataclass(frozen=True, slots=True)
class Stage:
    """A cluster, and what a story may do there and see."""

    wire: Wire

    async def nodes(self, *nodes: dict[str, Any]) -> None:
        """Add nodes; they take pods, and the scheduler knows them."""
        for it in nodes:
            name = it["metadata"]["name"]
            (await self.wire.post("nodes", it)).made()
            await self.wire.until(lambda name=name: self._is_welcome(name))
        await self._known_to_scheduler(nodes[-1]["metadata"]["name"])

    async def _is_welcome(self, name: str) -> bool:
        """A new node is not ready until a controller has seen that it is."""
        taints = (await self.wire.get(f"nodes/{name}"))["spec.taints"] or []
        return all(it["key"] != "node.kubernetes.io/not-ready" for it in taints)

    async def _known_to_scheduler(self, name: str) -> None:
        """The scheduler hears of nodes in their order: it knows all when it uses the last one."""
        probe = pod(_PROBE, tolerations=[{"operator": "Exists"}], affinity=on_node(name))
        (await self.wire.post("elsewhere:pods", probe)).made()
        await self.wire.until(lambda: self._is_placed(f"elsewhere:pods/{_PROBE}"))
        await self.wire.delete(f"elsewhere:pods/{_PROBE}", gracePeriodSeconds=0)
        await self.wire.gone(f"elsewhere:pods/{_PROBE}")

    async def _is_placed(self, path: str) -> bool:
        return bool((await self.wire.get(path))["spec.nodeName"])

    async def pod(self, name: str = "it", **parts: Any) -> None:
        """Create a pod."""
        (await self.wire.post("pods", pod(name, **parts))).made()

    async def there(self, name: str, on: str, **parts: Any) -> None:
        """Create a pod that is on a node already."""
        await self.pod(name, nodeName=on, **parts)

    async def placed(self, name: str = "it") -> str:
        """Return the node of a pod once it has one."""

        async def node_of() -> Any:
            found = await self.wire.get(f"pods/{name}")
            return found["spec.nodeName"]

        return str(await self.wire.until(node_of))

    async def condition(self, name: str = "it", kind: str = "PodScheduled") -> dict[str, Any]:
        """Return what a pod says about something once it does."""

        async def said() -> Any:
            found = (await self.wire.get(f"pods/{name}"))["status.conditions"] or []
            return next((it for it in found if it["type"] == kind), None)

        found: dict[str, Any] = await self.wire.until(said)
        return found

    async def refusal(self, name: str = "it") -> str:
        """Return why a pod has no node."""
        said = await self.condition(name)
        assert (said["status"], said["reason"]) == ("False", "Unschedulable"), said
        return str(said["message"])

    async def says(self, name: str, message: str) -> None:
        """Wait until a pod says that it has no node for this reason."""
        last = ""

        async def said() -> bool:
            nonlocal last
            last = (await self.condition(name)).get("message", "")
            return last == message

        try:
            await self.wire.until(said)
        except TimeoutError:
            assert last == message, last

    async def tainted(self, name: str, *wanted: str) -> None:
        """Wait until a node has exactly these taints, written as ``key:Effect``."""
        last: list[str] = []

        async def same() -> bool:
            found = (await self.wire.get(f"nodes/{name}"))["spec.taints"] or []
            last[:] = sorted(f"{it['key']}:{it['effect']}" for it in found)
            return last == sorted(wanted)

        try:
            await self.wire.until(same)
        except TimeoutError:
            assert last == sorted(wanted), last

    async def is_going(self, name: str) -> bool:
        """Tell whether a pod is on its way out, or out."""
        found = await self.wire.get(f"pods/{name}")
        return found.code == 404 or bool(found["metadata.deletionTimestamp"])

    async def events(self, name: str, reason: str) -> list[str]:
        """Return what was told about an object for a reason, once something was."""

        seen: list[tuple[str, str]] = []

        async def told() -> list[str]:
            items = (await self.wire.get("events")).body["items"]
            about = [it for it in items if it["involvedObject"]["name"] == name]
            seen[:] = [(it["reason"], it["message"]) for it in about]
            return [message for why, message in seen if why == reason]

        try:
            found: list[str] = await self.wire.until(told)
        except TimeoutError:
            raise AssertionError(f"{name} must tell {reason}, and told {seen}") from None
        return found

    async def clear(self) -> None:
        """Leave a cluster without nodes, pods and volumes."""
        wire = self.wire
        await wire.delete("replicasets")
        elsewhere = (f"elsewhere:{it}" for it in _IN_NAMESPACES)
        for kind in (*_IN_NAMESPACES, *elsewhere, *_CLUSTER_WIDE):
            await wire.until(lambda kind=kind: self._none_left(kind))

    async def _none_left(self, kind: str) -> bool:
        return not (await self.wire.delete(kind, gracePeriodSeconds=0)).body["items"]


def on_node(name: str) -> dict[str, Any]:
    """Return the affinity of a pod for one node, by its name."""
    wanted = {"key": "metadata.name", "operator": "In", "values": [name]}
    return nodes_where(fields=[wanted])


def nodes_where(*expressions: dict[str, Any], fields: Any = ()) -> dict[str, Any]:
    """Return the affinity of a pod for nodes that meet all of these."""
    term: dict[str, Any] = {}
    if expressions:
        term["matchExpressions"] = list(expressions)
    if fields:
        term["matchFields"] = list(fields)
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
