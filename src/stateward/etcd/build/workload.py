"""The StatefulSet: as many pods as there are members, each with its name and its claim."""

from __future__ import annotations

from typing import Final

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings
from stateward.etcd.build.metadata import owned
from stateward.etcd.build.pod import Outside, pod_template
from stateward.etcd.build.volumes import claim_templates
from stateward.etcd.model.names import labels
from stateward.kube.codec import Json
from stateward.kube.resources import STATEFUL_SETS

#: How many former pod templates are kept, to look at.
_HISTORY: Final = 3


def workload(
    cluster: EtcdCluster,
    settings: Settings,
    outside: Outside,
    *,
    replicas: int,
    start: int = 0,
) -> Json:
    """Return the StatefulSet with pods for so many ordinals, beginning with ``start``.

    Pods are made at once and replaced only when they are deleted, which is our decision.
    """
    return owned(STATEFUL_SETS, cluster, cluster.metadata.name) | {
        "spec": {
            "replicas": replicas,
            **({"ordinals": {"start": start}} if start else {}),
            "serviceName": settings.headless_service,
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "revisionHistoryLimit": _HISTORY,
            # A claim is never to go with a pod or with this set: see claims.py.
            "persistentVolumeClaimRetentionPolicy": {
                "whenDeleted": "Retain",
                "whenScaled": "Retain",
            },
            "selector": {"matchLabels": labels(cluster.metadata.name)},
            "template": pod_template(cluster, settings, outside),
            **_claims(cluster, settings),
        }
    }


def _claims(cluster: EtcdCluster, settings: Settings) -> Json:
    templates = claim_templates(cluster, settings)
    return {"volumeClaimTemplates": templates} if templates else {}
