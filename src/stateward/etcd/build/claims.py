"""What becomes of a claim when its cluster goes, as patches of its owners.

A claim must never go with its StatefulSet, which is made anew now and then, so the set keeps it
(Retain) and the claim names the cluster as its owner itself, unless its data shall stay. The set's
template says so from a claim's first moment on; the patches are for those who changed their mind.
"""

from __future__ import annotations

from typing import Any, Final

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.metadata import owner
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import VOLUME_CLAIMS, Resource

#: Its own name: applying a claim's owners must not touch what else is applied to claims.
CLAIM_MANAGER: Final = "stateward-etcd-claims"
#: On a cluster only while its volumes shall outlive it and one of them is still tied to it.
FINALIZER: Final = "etcd.aenix.io/volumes"


def going_with(
    cluster: EtcdCluster, metadata: ObjectMeta, resource: Resource[Any] = VOLUME_CLAIMS
) -> Json:
    """Return what to apply, as CLAIM_MANAGER, so that a claim, or a pod, goes with the cluster."""
    body = staying(metadata, resource)
    body["metadata"]["ownerReferences"] = [owner(cluster)]
    return body


def staying(metadata: ObjectMeta, resource: Resource[Any] = VOLUME_CLAIMS) -> Json:
    """Return what to apply, as CLAIM_MANAGER, so that a claim outlives the cluster.

    Other owners keep theirs. The UID makes it fail on another object of that name (Invalid), and
    where there is none any more (Conflict): applying must not make one.
    """
    names = {"name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": names}


def untied(claim: ObjectMeta, place: int, owner_uid: str) -> tuple[Json, ...]:
    """Return the operations that take an owner off that is at a place of the claim's list."""
    path = f"/metadata/ownerReferences/{place}"
    return (
        {"op": "test", "path": "/metadata/uid", "value": claim.uid},
        {"op": "test", "path": f"{path}/uid", "value": owner_uid},
        {"op": "remove", "path": path},
    )
