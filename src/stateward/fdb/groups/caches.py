"""What is kept in mind of Kubernetes for process groups, and whom its changes concern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.groups.board import Listener
from stateward.fdb.model import names
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.network import Service
from stateward.kube.objects.pods import Pod
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.runtime.cache import Cache, Index
from stateward.runtime.triggers import Trigger

_CLUSTER: Final = "cluster"
_INSTANCE: Final = "instance"
_CONFIG: Final = names.config_map_name("")


def by_cluster() -> Index[FoundationDBProcessGroup]:
    """File process groups under their cluster; the cache of groups must have this index."""
    return Index(_CLUSTER, lambda it: (f"{it.metadata.namespace}/{it.spec.cluster_name}",))


def by_instance() -> Index[PersistentVolumeClaim]:
    """File claims under the name of their cluster, whichever of that name it was."""
    return Index(_INSTANCE, _instance, by_metadata=True)


def _instance(item: PersistentVolumeClaim) -> Iterator[str]:
    metadata = item.metadata
    if names.INSTANCE_LABEL in metadata.labels:
        yield f"{metadata.namespace}/{metadata.labels[names.INSTANCE_LABEL]}"


@dataclass(frozen=True, slots=True)
class GroupCaches:
    """Everything that is watched for process groups."""

    groups: Cache[FoundationDBProcessGroup]
    clusters: Cache[FoundationDBCluster]
    pods: Cache[Pod]
    claims: Cache[PersistentVolumeClaim]
    services: Cache[Service]
    configs: Cache[ConfigMap]

    def of_cluster(self, cluster: ObjectKey) -> list[FoundationDBProcessGroup]:
        """Return the process groups of a cluster, ordered by name."""
        return self.groups.find(_CLUSTER, str(cluster))

    def claims_of(self, cluster: ObjectKey) -> list[PersistentVolumeClaim]:
        """Return the claims of all clusters that ever had a name, ordered by name."""
        return self.claims.find(_INSTANCE, str(cluster))


# ------------------------------------------------------------------ triggers
def same_name(item: Object) -> Iterable[ObjectKey]:
    """Wake the group that is called as its pod and its service are."""
    yield item.metadata.key


def group_of_claim(item: Object) -> Iterable[ObjectKey]:
    """Wake the group whose data a claim holds."""
    if (pod := names.pod_of_claim(item.metadata.name)) is not None:
        yield ObjectKey(item.metadata.namespace, pod)


def groups_of_config(groups: Cache[FoundationDBProcessGroup]) -> Trigger:
    """Wake the groups of a config map's cluster.

    Sidecars must be told of it; a monitor of a unified image reads it by itself, once its node
    shows it, which may have to be woken for that.
    """

    def wake(item: Object) -> Iterator[ObjectKey]:
        if not item.metadata.name.endswith(_CONFIG):
            return
        cluster = ObjectKey(item.metadata.namespace, item.metadata.name.removesuffix(_CONFIG))
        for it in groups.find(_CLUSTER, str(cluster)):
            yield it.metadata.key

    return wake


def wake_groups(caches: GroupCaches, wake: Callable[[ObjectKey], None]) -> Listener:
    """Return who wakes the groups that a database said something new of; for a board to tell."""

    def heard(cluster: ObjectKey, ids: frozenset[str] | None) -> None:
        for it in caches.of_cluster(cluster):
            if ids is None or it.spec.process_group_id in ids:
                wake(it.metadata.key)

    return heard


def nobody(_item: Object) -> Iterable[ObjectKey]:
    """Wake nobody: a cluster's status changes all the time, and its groups do not follow it."""
    return ()
