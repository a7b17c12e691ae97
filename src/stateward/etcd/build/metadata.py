"""What every object of a cluster has: its name, its labels and whose it is."""

from __future__ import annotations

from typing import Any

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.model.names import CLUSTER_UID_LABEL, labels
from stateward.kube.codec import Json
from stateward.kube.resources import Resource


def owned(
    resource: Resource[Any], cluster: EtcdCluster, name: str, template: Json | None = None
) -> Json:
    """Return the beginning of a document that goes with its cluster.

    Labels and annotations of a template are taken over, but ours stand.
    """
    given = template or {}
    annotations = given.get("annotations") or {}
    own = labels(cluster.metadata.name) | {CLUSTER_UID_LABEL: cluster.metadata.uid}
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {
            "name": name,
            "namespace": cluster.metadata.namespace,
            "labels": (given.get("labels") or {}) | own,
            **({"annotations": dict(annotations)} if annotations else {}),
            "ownerReferences": [owner(cluster) | {"controller": True}],
        },
    }


def owner(cluster: EtcdCluster) -> Json:
    """Return a reference to the cluster: what has it goes when the cluster goes."""
    return {
        "apiVersion": ETCD_CLUSTERS.api_version,
        "kind": ETCD_CLUSTERS.kind,
        "name": cluster.metadata.name,
        "uid": cluster.metadata.uid,
        "blockOwnerDeletion": True,
    }
