"""What earlier clusters of a name left, and what this one lost, as the caches show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stateward.fdb.api import questions
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.decide.groups.leftovers import Left, LeftClaim, LeftConfig, Orphan
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
    claims = [it.metadata for it in caches.claims_of(key)]
    groups = caches.of_cluster(key)
    return Left(
        claims=tuple(_claims(claims, cluster, spec)),
        config=None if config is None else _config(config, uid),
        groups=tuple(it.metadata.name for it in groups if cluster_uid(it) not in ("", uid)),
        orphans=tuple(_orphans(caches, ownerless(groups, cluster))),
        lost=tuple(_lost(caches, claims, cluster, spec)),
    )


def ownerless(
    groups: Iterable[FoundationDBProcessGroup], cluster: FoundationDBCluster
) -> dict[str, FoundationDBProcessGroup]:
    """Return the process groups that say that they are of a cluster, and that nobody owns."""
    name = cluster.metadata.name
    ours = names.instance_labels(name).items()
    return {
        it.metadata.name: it
        for it in groups
        if not cluster_uid(it) and ours <= it.metadata.labels.items() and _is_called(it, name)
    }


def _orphans(
    caches: GroupCaches, found: Mapping[str, FoundationDBProcessGroup]
) -> Iterator[Orphan]:
    for name, it in found.items():
        claim = caches.claims.get(ObjectKey(it.metadata.namespace, names.claim_name(name)))
        labels = {} if claim is None else claim.metadata.labels
        yield Orphan(name, labels.get(names.CLUSTER_UID_LABEL, ""))


def _is_called(group: FoundationDBProcessGroup, cluster: str) -> bool:
    try:
        id_ = ProcessGroupID.parse(group.spec.process_group_id)
    except ValueError:
        return False
    return names.pod_name(cluster, id_) == group.metadata.name


def _lost(
    caches: GroupCaches,
    every: Iterable[ObjectMeta],
    cluster: FoundationDBCluster,
    spec: FoundationDBClusterSpec,
) -> Iterator[LeftClaim]:
    """Yield the claims of this very cluster that no process group has."""
    uid, name = cluster.metadata.uid, cluster.metadata.name
    for it in every:
        pod = names.pod_of_claim(it.name)
        if it.labels.get(names.CLUSTER_UID_LABEL) != uid or it.deleting or pod is None:
            continue
        if ObjectKey(it.namespace, pod) not in caches.groups and not _is_anothers(it):
            yield LeftClaim(it.name, uid, _group(it, name, spec))


def _claims(
    every: Iterable[ObjectMeta], cluster: FoundationDBCluster, spec: FoundationDBClusterSpec
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
