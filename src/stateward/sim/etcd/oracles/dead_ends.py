"""L0: where a goal is out of reach until a person acts: by what is true, and by what is told.

Only where both agree nothing is asked of an operator: one that gives up without need is found out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.store import Stored
from stateward.sim.etcd import mistakes
from stateward.sim.etcd.laws.truth import Truth, claim_of
from stateward.sim.etcd.world import EtcdWorld


def is_dead_end(it: EtcdWorld) -> bool:
    """Tell whether only a person can help a cluster, and whoever reads its status knows that."""
    if it.lost and not all(_is_on_record(stored) for stored in _all(it)):
        return True  # its status was emptied before its majority was lost: nobody can know of it
    return any(
        mistakes.is_told(it, guard) and is_so(it, stored)
        for stored in _all(it)
        for guard, is_so in _TOLD.items()
    )


def _all(it: EtcdWorld) -> list[Stored]:
    return list(it.world.api.store.all(ETCD_CLUSTERS.name))


def _is_on_record(cluster: Stored) -> bool:
    return bool(decode(cluster.text, EtcdCluster).status.cluster_id)


def _nobody_can_be_saved(it: EtcdWorld, cluster: Stored) -> bool:
    """A member that started without a majority answers nobody, so its data cannot be saved."""
    servers = [server for _, server in Truth(it).lodgers(cluster.key) if server is not None]
    return not any(one.speaks and not one.ended for one in servers)


def _kept_is_in_the_way(it: EtcdWorld, cluster: Stored) -> bool:
    """A volume that was to outlive an earlier cluster has a name that is needed."""
    return any(
        claim.labels.get(CLUSTER_UID_LABEL) not in {None, cluster.uid} and not claim.owners
        for claim in _claims(it, cluster.key)
    )


def _has_no_template(it: EtcdWorld, cluster: Stored) -> bool:
    """Members run, and somebody deleted the StatefulSet while a wrong version was asked for."""
    runs = any(server is not None for _, server in Truth(it).lodgers(cluster.key))
    return runs and it.world.api.store.get(STATEFUL_SETS.name, cluster.key) is None


def _claims(it: EtcdWorld, cluster: ObjectKey) -> list[Stored]:
    every = it.world.api.store.all(VOLUME_CLAIMS.name, cluster.namespace)
    return [claim for claim in every if claim_of(cluster, claim.key.name) is not None]


_TOLD: Final[Mapping[str, Callable[[EtcdWorld, Stored], bool]]] = {
    "SurvivorMissing": _nobody_can_be_saved,
    "VolumeTaken": _kept_is_in_the_way,
    "UpgradeRefused": _has_no_template,
}
