"""Does the user still want this? Asked past the cache, right before something is taken away."""

from __future__ import annotations

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.objects import Getter
from stateward.kube.errors import NotFound


async def is_unchanged(client: Getter, cluster: EtcdCluster) -> bool:
    """Tell whether the cluster is the one we looked at, with the spec that we judged by."""
    live = await _live(client, cluster)
    return live is not None and live.spec == cluster.spec


async def is_as_seen(client: Getter, cluster: EtcdCluster) -> bool:
    """Tell whether it is unchanged, and what is on record of its members is what we judged by."""
    live = await _live(client, cluster)
    return live is not None and live.spec == cluster.spec and _record(live) == _record(cluster)


async def is_newest(client: Getter, cluster: EtcdCluster) -> bool:
    """Tell whether nothing at all has changed: what is noted next in the status will be there."""
    live = await _live(client, cluster)
    version = cluster.metadata.resource_version
    return live is not None and live.metadata.resource_version == version


def _record(cluster: EtcdCluster) -> tuple[object, ...]:
    status = cluster.status
    return status.cluster_id, status.beginning, status.last_known_members


async def _live(client: Getter, cluster: EtcdCluster) -> EtcdCluster | None:
    """Return the cluster as it is now; None: it goes, or is gone, or another one has its name."""
    try:
        live = await client.get(ETCD_CLUSTERS, cluster.metadata.key)
    except NotFound:
        return None
    same = live.metadata.uid == cluster.metadata.uid
    return live if same and not live.metadata.deleting else None
