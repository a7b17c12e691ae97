"""Nodes as objects of Kubernetes: how they are called, where they are, and who is heard of."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from stateward.core.moments import to_rfc3339
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NODES
from stateward.local.api import Api
from stateward.local.rules.writes import Author
from stateward.sim.kube.lodgers import Node
from stateward.sim.kube.spreading import labels_of
from stateward.sim.loop import SimClock, SimLoop

_SELF: Final = Author("kube-controller-manager")
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"


class Machines:
    """Keeps an object for every node."""

    def __init__(self, loop: SimLoop, api: Api, nodes: Iterable[Node]) -> None:
        self._loop = loop
        self._clock = SimClock(loop)
        self._api = api
        self._nodes = {it.name: it for it in nodes}
        for it in self._nodes.values():
            body: Json = {
                "metadata": {"name": it.name, "labels": labels_of(it)},
                "status": {"conditions": [self._condition(it)]},
            }
            api.create(NODES, "", body, _SELF)
            self._tell(it)

    def heard(self, node: Node) -> None:
        """Say whether Kubernetes hears of a node, and how people have tainted it, as it is now."""
        effects = ("NoSchedule", "NoExecute") if node.lost else ()
        taints = [{"key": _UNREACHABLE, "effect": it} for it in effects]
        taints += [{"key": it, "effect": "NoSchedule"} for it in node.taints]
        with suppress(NotFound):  # somebody took it away
            key, patch = ObjectKey("", node.name), MergePatch({"spec": {"taints": taints or None}})
            self._api.patch(NODES, key, patch, _SELF)
            self._tell(node)

    def taint(self, name: str, *keys: str) -> None:
        """Give a node taints, as people do, in the place of those that it has."""
        node = self._nodes[name]
        node.taints, node.tainted_at = keys, self._loop.time()
        self.heard(node)

    def _tell(self, node: Node) -> None:
        patch = MergePatch({"status": {"conditions": [self._condition(node)]}})
        self._api.patch(NODES, ObjectKey("", node.name), patch, _SELF, subresource="status")

    def _condition(self, node: Node) -> Json:
        return {
            "type": "Ready",
            "status": "Unknown" if node.lost else "True",
            "lastTransitionTime": to_rfc3339(self._clock.now()),
        }
