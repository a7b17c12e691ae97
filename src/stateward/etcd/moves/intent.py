"""Does the user still want this? Asked past the cache, right before something is taken away."""

from __future__ import annotations

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.objects import Getter
from stateward.kube.errors import NotFound


async def is_unchanged(client: Getter, cluster: EtcdCluster) -> bool:
    """Tell whether the cluster is the one we looked at, with the spec that we judged by."""
    try:
        live = await client.get(ETCD_CLUSTERS, cluster.metadata.key)
    except NotFound:
        return False
    same = live.metadata.uid == cluster.metadata.uid
    return same and live.spec == cluster.spec and not live.metadata.deleting
