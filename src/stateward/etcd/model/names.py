"""What the parts of a cluster are called: as the compatible operator calls them."""

from __future__ import annotations

import re

from stateward.kube.meta import ObjectKey

PEER_PORT = 2380
CLIENT_PORT = 2379
METRICS_PORT = 2381

GROUP = "etcd.aenix.io"
#: In whose name fields are applied.
FIELD_MANAGER = "stateward-etcd"
#: Of which EtcdCluster (its UID) a claim holds data; a claim of an earlier one has another.
CLUSTER_UID_LABEL = "stateward.dev/cluster-uid"
#: On a claim: the id of the member whose data it holds and that is about to be removed.
LEFT_BY = "stateward.dev/left-by"

#: Ordinals from here on are nobody's: twice as many members are not allowed.
MOST_ORDINALS = 64

_ORDINAL = re.compile(r"(?P<name>.+)-(?P<ordinal>0|[1-9][0-9]{0,5})")


def pod_name(cluster: str, ordinal: int) -> str:
    """Return what the pod, and so the member, with an ordinal is called."""
    return f"{cluster}-{ordinal}"


def ordinal_of(cluster: str, name: str) -> int | None:
    """Return the ordinal of a pod or member of a cluster; None when it is not one of its names.

    >>> ordinal_of("shop", "shop-2"), ordinal_of("shop", "shop-02"), ordinal_of("shop", "cafe-2")
    (2, None, None)
    """
    found = _ORDINAL.fullmatch(name)
    return int(found["ordinal"]) if found and found["name"] == cluster else None


def labels(cluster: str) -> dict[str, str]:
    """Return the labels of everything that belongs to a cluster, by which its pods are selected."""
    return {
        "app.kubernetes.io/name": "etcd",
        "app.kubernetes.io/instance": cluster,
        "app.kubernetes.io/managed-by": "etcd-operator",
    }


def config_key(cluster: ObjectKey) -> ObjectKey:
    """Return where the variables are that members start with."""
    return ObjectKey(cluster.namespace, f"{cluster.name}-cluster-state")
