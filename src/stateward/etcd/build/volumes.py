"""Where a member keeps its data: a claim of its own, or a folder that goes with its pod."""

from __future__ import annotations

from typing import Final

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings
from stateward.etcd.build.metadata import owner
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.kube.codec import Json
from stateward.kube.resources import VOLUME_CLAIMS

HOME: Final = "/var/run/etcd"
DATA_DIR: Final = f"{HOME}/default.etcd"


def data_mount(settings: Settings) -> Json:
    """Return where a container finds its data."""
    return {"name": settings.claim_name, "mountPath": HOME}


def data_volumes(settings: Settings) -> list[Json]:
    """Return the volume for data that a pod names itself; those on claims the StatefulSet adds."""
    if settings.empty_dir is None:
        return []
    return [{"name": settings.claim_name, "emptyDir": dict(settings.empty_dir)}]


def claim_templates(cluster: EtcdCluster, settings: Settings) -> list[Json]:
    """Return the claim that every member gets, marked as this cluster's; none with emptyDir."""
    if settings.claim_spec is None:
        return []
    template = cluster.spec.storage.volume_claim_template
    given: Json = template.metadata if template is not None else {}
    metadata: Json = {
        "name": settings.claim_name,
        "labels": (given.get("labels") or {}) | {CLUSTER_UID_LABEL: cluster.metadata.uid},
    }
    if annotations := given.get("annotations"):
        metadata["annotations"] = annotations
    if not settings.retain_volumes:
        # From its first moment on, or one would be left behind by a cluster that goes early. Not
        # with blockOwnerDeletion: the StatefulSet's controller need not be allowed to say that.
        metadata["ownerReferences"] = [owner(cluster) | {"blockOwnerDeletion": False}]
    return [
        {
            "apiVersion": VOLUME_CLAIMS.api_version,
            "kind": VOLUME_CLAIMS.kind,
            "metadata": metadata,
            "spec": settings.claim_spec,
        }
    ]
