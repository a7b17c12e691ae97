"""The scheduler's picture of the cluster, kept up to date by what changes.

Reading every pod for every decision would cost more than deciding. So each version is read once,
and what the pods of a node use is added up once per change. A pod that was just placed counts at
once, long before the cache shows it, and so does one whose volumes are still made for its node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES, NODES, PODS, VOLUME_CLAIMS
from stateward.local.catalog import STORAGE_CLASSES, VOLUMES
from stateward.local.controllers.desk import Desk
from stateward.local.documents import Document
from stateward.local.scheduler.picture import Picture, Station
from stateward.local.scheduler.views import NodeView, PodView, node_view, pod_view
from stateward.local.scheduler.volumes import Wish
from stateward.runtime.cache import Delta


class Board:
    """Nodes, the pods on them, and the labels of namespaces."""

    def __init__(self, desk: Desk) -> None:
        #: Grows whenever something changed that another decision may depend on.
        self.version = 0
        self._nodes: dict[str, NodeView] = {}
        self._pods: dict[ObjectKey, PodView] = {}
        self._on: dict[str, dict[ObjectKey, PodView]] = {}
        self._stations: dict[str, Station] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._assumed: set[ObjectKey] = set()
        #: The nodes of pods whose volumes are made there.
        self._reserved: dict[ObjectKey, str] = {}
        desk.informer(PODS).listen(self._take_pod)
        desk.informer(NODES).listen(self._take_node)
        desk.informer(NAMESPACES).listen(self._take_namespace)
        for resource in (VOLUME_CLAIMS, VOLUMES, STORAGE_CLASSES):
            desk.informer(resource).listen(self._notice)

    def picture(self, wishes: tuple[Wish, ...] = ()) -> Picture:
        """Return the cluster as it is now."""
        stations = tuple(self._station(name) for name in sorted(self._nodes))
        return Picture(stations, self._namespaces, wishes)

    def pod(self, key: ObjectKey) -> PodView | None:
        """Return a pod as last seen, or as assumed."""
        return self._pods.get(key)

    def assume(self, pod: PodView, node: str) -> None:
        """Count a pod as placed from now on."""
        self._assumed.add(pod.key)
        self._put(pod.key, replace(pod, node=node))

    def reserve(self, pod: PodView, node: str) -> None:
        """Count a pod on a node that makes its volumes, whatever becomes of the pod until then."""
        self._reserved[pod.key] = node
        self._put(pod.key, replace(pod, node=node))

    def doubt(self, key: ObjectKey) -> None:
        """Believe no longer that a pod was placed, unless it was seen."""
        known = key in self._assumed or key in self._reserved
        if known and (pod := self._pods.get(key)) is not None:
            self._put(key, replace(pod, node=""))
        self._assumed.discard(key)
        self._reserved.pop(key, None)

    def _station(self, name: str) -> Station:
        if name not in self._stations:
            pods = self._on.get(name, {})
            ordered = (pods[key] for key in sorted(pods))
            self._stations[name] = Station(self._nodes[name], ordered)
        return self._stations[name]

    def _take_pod(self, delta: Delta[Document]) -> None:
        key = delta.key
        now = pod_view(delta.now) if delta.now is not None else None
        if now is not None and now.pending and self._is_assumed(now):
            return  # an older version than the one that we wrote
        self._assumed.discard(key)
        node = self._reserved.pop(key, "")
        if now is not None and now.pending and node and self._is_same(now):
            self.reserve(now, node)
            return
        self._put(key, now)

    def _is_assumed(self, pod: PodView) -> bool:
        return pod.key in self._assumed and self._is_same(pod)

    def _is_same(self, pod: PodView) -> bool:
        known = self._pods.get(pod.key)
        return known is not None and known.uid == pod.uid

    def _put(self, key: ObjectKey, now: PodView | None) -> None:
        before = self._pods.pop(key, None)
        if now is not None:
            self._pods[key] = now
        if before == now:
            return
        self.version += 1
        if before is not None and before.node:
            self._on[before.node].pop(key, None)
            self._stations.pop(before.node, None)
        if now is not None and now.node:
            self._on.setdefault(now.node, {})[key] = now
            self._stations.pop(now.node, None)

    def _take_node(self, delta: Delta[Document]) -> None:
        name = delta.key.name
        before = self._nodes.pop(name, None)
        if delta.now is not None:
            self._nodes[name] = node_view(delta.now)
        if before != self._nodes.get(name):
            self.version += 1
            self._stations.pop(name, None)

    def _take_namespace(self, delta: Delta[Document]) -> None:
        self._namespaces.pop(delta.key.name, None)
        if delta.now is not None:
            self._namespaces[delta.key.name] = delta.now.metadata.labels

    def _notice(self, _delta: Delta[Document]) -> None:
        self.version += 1
