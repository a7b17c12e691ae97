"""A cluster that goes in the moment in which its pods are parted from their StatefulSet.

Kubernetes then leaves the pods to nobody, on volumes that are on their way out. No operator may end
them: that would end the data. It says so, and only a person can help.
"""

from __future__ import annotations

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.client import Change
from stateward.kube.resources import STATEFUL_SETS
from stateward.local.store import Stored, StoreEvent
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.laws.watchman import leaves

#: The finalizer of what is deleted without what it owns.
_ORPHAN = b'"orphan"'


class Orphans:
    """Notes that there is nothing to hope for, when both come together."""

    def __init__(self, it: EtcdWorld) -> None:
        self._it = it
        self._store = it.world.api.store
        self._store.listen(self._cluster_changed, ETCD_CLUSTERS.name)
        self._store.listen(self._workload_changed, STATEFUL_SETS.name)

    def _cluster_changed(self, event: StoreEvent) -> None:
        if event.change is Change.DELETED:
            every = self._store.all(STATEFUL_SETS.name)
            self._judge([it for it in every if event.now.uid in it.owners])

    def _workload_changed(self, event: StoreEvent) -> None:
        there = {it.uid for it in self._store.all(ETCD_CLUSTERS.name)}
        if event.change is Change.MODIFIED and event.now.owners and not there & {*event.now.owners}:
            self._judge([event.now])

    def _judge(self, workloads: list[Stored]) -> None:
        if any(leaves(it) and _ORPHAN in it.text for it in workloads):
            self._it.hopeless = True
