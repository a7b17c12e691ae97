"""What earlier clusters of a name left, as the caches show it."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.fdb.api import questions
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.decide.groups.leftovers import Left, LeftClaim, LeftConfig
from stateward.fdb.groups.caches import GroupCaches
from stateward.fdb.groups.seen import cluster_uid
from stateward.fdb.model import names
from stateward.fdb.model.names import ProcessGroupID
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.objects.configs import ConfigMap


def left_of(
    caches: GroupCaches, cluster: FoundationDBCluster, spec: FoundationDBClusterSpec
) -> Left:
    """Return what is there of clusters that had the name before, and belongs to nobody else."""
    key, uid = cluster.metadata.key, cluster.metadata.uid
    config = caches.configs.get(ObjectKey(key.namespace, names.config_map_name(key.name)))
    metadata = (it.metadata for it in caches.claims_of(key))
    groups = (it for it in caches.of_cluster(key) if cluster_uid(it) not in ("", uid))
    return Left(
        claims=tuple(_claims(metadata, cluster, spec)),
        config=None if config is None else _config(config, uid),
        groups=tuple(it.metadata.name for it in groups),
    )


def _claims(
    every: Iterator[ObjectMeta], cluster: FoundationDBCluster, spec: FoundationDBClusterSpec
) -> Iterator[LeftClaim]:
    uid, name = cluster.metadata.uid, cluster.metadata.name
    for it in every:
        former = it.labels.get(names.CLUSTER_UID_LABEL, uid)
        if former == uid or _is_anothers(it):
            continue
        yield LeftClaim(it.name, former, _group(it, name, spec), leaving=_goes(it))


def _config(live: ConfigMap, uid: str) -> LeftConfig | None:
    """Return what a config map says that is not of this very cluster."""
    metadata, data = live.metadata, live.data
    former = metadata.labels.get(names.CLUSTER_UID_LABEL, "")
    if former == uid or _is_anothers(metadata):
        return None
    if any(it.uid == uid for it in metadata.owner_references):
        return None
    return LeftConfig(
        former,
        data.get(names.CLUSTER_FILE_KEY, ""),
        data.get(names.RUNNING_VERSION_KEY, ""),
        leaving=_goes(metadata),
    )


def _is_anothers(metadata: ObjectMeta) -> bool:
    """Tell whether an object has an owner that is no cluster: it is not ours to judge."""
    return any(it.kind != CLUSTERS.kind for it in metadata.owner_references)


def _goes(metadata: ObjectMeta) -> bool:
    """Tell whether an object is on its way out, or has an owner that is."""
    return metadata.deleting or bool(metadata.owner_references)


def _group(
    metadata: ObjectMeta, cluster: str, spec: FoundationDBClusterSpec
) -> ProcessGroupID | None:
    """Return whose data a claim holds: by its label, if its name does not belie it."""
    pod = names.pod_of_claim(metadata.name)
    if pod is None:
        return None
    try:
        said = ProcessGroupID.parse(questions.group_id_of(spec, dict(metadata.labels)) or "")
    except ValueError:
        said = None
    if said is not None and names.pod_name(cluster, said) == pod:
        return said
    return names.group_of_pod(cluster, pod, spec.process_group_id_prefix)
