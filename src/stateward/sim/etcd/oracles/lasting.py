"""L0': what never ends is told, and the rest goes on as far as it can without it."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import cluster_of


def never_told(scene: Scene, *, alone: bool) -> Iterator[str]:
    """Yield what a status does not say of pods that something strikes which never ends.

    Where nothing else befell (``alone``), a cluster that has begun must serve as well.
    """
    for pod in sorted(scene.it.lasting):
        for stored in scene.it.world.api.store.all(ETCD_CLUSTERS.name):
            key = stored.key
            if cluster_of(ObjectKey(key.namespace, pod)) != key:
                continue
            cluster = decode(stored.text, EtcdCluster)
            if not _speaks_of(cluster, pod):
                yield f"{pod} is struck for good, and the status of {key} does not say so"
            begun = alone and cluster.status.cluster_id
            if begun and not scene.truth.standing(key).stands:
                yield f"{pod} is struck for good, and {key} has no quorum without it"


def _speaks_of(cluster: EtcdCluster, pod: str) -> bool:
    """Tell whether somebody who reads a status learns that something is wrong with a pod."""
    status = cluster.status
    if pod not in {it.name for it in status.members}:
        return True  # it is no member any more, or none yet
    said = [*(it.message for it in status.conditions), *(it.message for it in status.blockers)]
    if any(pod in it for it in (*said, status.doing)):
        return True
    return any(it.message for it in status.members if it.name == pod)
