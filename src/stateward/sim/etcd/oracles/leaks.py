"""LEAK: when all is at rest, nothing is left that nobody needs."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build.claims import FINALIZER
from stateward.etcd.build.config import FORCE
from stateward.etcd.model.names import config_key
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, VOLUME_CLAIMS
from stateward.local.store import Stored
from stateward.sim.etcd import mistakes
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import claim_of, ordinal
from stateward.sim.kube.volumes import claims_of
from stateward.sim.laws.custom import Family
from stateward.sim.laws.watchman import leaves

_QUIET = frozenset({"events", "leases.coordination.k8s.io"})


def leaks(scene: Scene, family: Family) -> Iterator[str]:
    """Yield what is left over."""
    store = scene.it.world.api.store
    clusters = {it.key: it for it in store.all(ETCD_CLUSTERS.name)}
    yield from _orphans(scene, family, {it.uid for it in clusters.values()})
    for key, stored in clusters.items():
        yield from _of_cluster(scene, key, decode(stored.text, EtcdCluster))


def _orphans(scene: Scene, family: Family, living: set[str]) -> Iterator[str]:
    for resource, stored in scene.it.world.api.store:
        if resource in _QUIET or resource == ETCD_CLUSTERS.name:
            continue
        roots = family.roots(stored)
        if not roots or roots & living or _is_held(scene, resource, stored):
            continue
        if not _is_kept(resource, stored, family):
            yield f"{resource} {stored.key} is left of a cluster that is gone"


def _is_held(scene: Scene, resource: str, stored: Stored) -> bool:
    """Tell whether a claim is on its way out, a pod has it, and whoever reads the status knows."""
    if resource != VOLUME_CLAIMS.name or not leaves(stored):
        return False
    if not mistakes.is_told(scene.it, "VolumeLeaving"):
        return False
    pods = scene.it.world.api.store.all(PODS.name, stored.key.namespace)
    return any(stored.key.name in claims_of(it.document()) for it in pods)


def _is_kept(resource: str, stored: Stored, family: Family) -> bool:
    """Tell whether a claim was told to outlive its cluster: then nobody owns it."""
    if resource != VOLUME_CLAIMS.name or stored.owners:
        return False
    clusters = (decode(family.last[it].text, EtcdCluster) for it in family.roots(stored))
    return any(it.spec.retain_volumes_on_delete for it in clusters)


def _of_cluster(scene: Scene, key: ObjectKey, cluster: EtcdCluster) -> Iterator[str]:
    store, name = scene.it.world.api.store, key.name
    config = store.get(CONFIG_MAPS.name, config_key(key))
    if config is not None and (config.document().get("data") or {}).get(FORCE) == "true":
        yield f"{config.key} is left with force-new-cluster"
    roster = scene.truth.roster(key)
    for member in roster.values():
        if member.learner:
            yield f"{name}-{ordinal(member)} is left as a learner"
    places = {ordinal(it) for it in roster.values()}
    for stored in store.all(VOLUME_CLAIMS.name, key.namespace):
        place = claim_of(key, stored.key.name)
        if place is not None and roster and place not in places:
            yield f"{stored.key} is left without a member"
    if FINALIZER in cluster.metadata.finalizers and not _is_tied(
        store.all(VOLUME_CLAIMS.name), cluster
    ):
        yield f"{name} is left with a finalizer"


def _is_tied(claims: list[Stored], cluster: EtcdCluster) -> bool:
    return any(cluster.metadata.uid in it.owners for it in claims)
