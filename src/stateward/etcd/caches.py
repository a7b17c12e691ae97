"""What the operator keeps in mind of Kubernetes: its clusters and what they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.model.names import labels
from stateward.etcd.objects import Whole, Workload
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.runtime.cache import Cache, Index, by_label

T = TypeVar("T", bound=Object)

INSTANCE = "app.kubernetes.io/instance"
#: Selects what belongs to any cluster of this operator.
OURS = ",".join(f"{name}={value}" for name, value in labels("").items() if value)
_INDEX = by_label(INSTANCE)


def indexes() -> tuple[Index[Any], ...]:
    """Return how objects are found by the cluster that they belong to."""
    return (_INDEX,)


@dataclass(frozen=True, slots=True)
class Caches:
    """Everything that is watched."""

    clusters: Cache[EtcdCluster]
    pods: Cache[Pod]
    claims: Cache[PersistentVolumeClaim]
    workloads: Cache[Workload]
    configs: Cache[Whole]
    services: Cache[Whole]
    budgets: Cache[Whole]


def of_cluster(cache: Cache[T], cluster: ObjectKey) -> Iterable[T]:
    """Return the objects of one cluster."""
    found = cache.find(_INDEX.name, cluster.name)
    return [it for it in found if it.metadata.namespace == cluster.namespace]
