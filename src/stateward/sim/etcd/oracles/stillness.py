"""E-S9, E-S13, K5 and K9 at rest: what must be so when nothing happens, however it came about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build.budget import budget_key
from stateward.etcd.model.members import quorum
from stateward.kube import conditions
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DISRUPTION_BUDGETS
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import ordinal
from stateward.sim.laws.rates import Rates

#: Calls for one cluster in the last minute of a life: all members are asked about every 30 s.
MOST_CALLS: Final = 60
#: What keeps an operator from writing a budget.
_HELD_UP: Final = frozenset({"NameTaken", "ObjectRefused"})
_WORTHWHILE: Final = 3


def at_rest(scene: Scene, rates: Rates) -> Iterator[tuple[str, str]]:
    """Yield what is not as it should be, each with its law."""
    content = set()
    for stored in scene.it.world.api.store.all(ETCD_CLUSTERS.name):
        cluster = decode(stored.text, EtcdCluster)
        if _is_ready(cluster) and not cluster.status.blockers and not scene.it.lasting:
            content.add(stored.key)
        for sentence in _split(scene, stored.key, cluster):
            yield "E-S9", sentence
        for sentence in _budget(scene, stored.key, cluster):
            yield "E-S13", sentence
        for sentence in _words(scene, stored.key, cluster):
            yield "K5", sentence
    for who, about, calls in rates.of_late():
        if about in content and calls > MOST_CALLS:
            yield "K9", f"{who} is at rest and makes {calls} calls in a minute for {about}"


def _split(scene: Scene, key: ObjectKey, cluster: EtcdCluster) -> Iterator[str]:
    """Two that lead are told of, whatever else is."""
    told = {it.guard for it in cluster.status.blockers}
    if scene.truth.standing(key).led > 1 and "SplitBrain" not in told:
        yield f"two lead in {key}, and its status does not say so"


def _budget(scene: Scene, key: ObjectKey, cluster: EtcdCluster) -> Iterator[str]:
    """As many pods must stay as make a quorum, now and at the size that is wanted."""
    told = {it.guard for it in cluster.status.blockers}
    if cluster.spec.pod_disruption_budget_template is not None or told & _HELD_UP:
        return
    size = max(len(scene.truth.standing(key).voters), cluster.spec.replicas)
    stored = scene.it.world.api.store.get(DISRUPTION_BUDGETS.name, budget_key(cluster))
    floor = stored.document()["spec"].get("minAvailable", 0) if stored is not None else 0
    needed = quorum(size) if size >= _WORTHWHILE else 0
    if floor < needed or (stored is not None and not needed):
        yield f"{floor} pods of {key} must stay, and {needed} should"


def _words(scene: Scene, key: ObjectKey, cluster: EtcdCluster) -> Iterator[str]:
    """Who is called ready has all its voters, and nobody beside them."""
    if not _is_ready(cluster) or cluster.spec.replicas == 0:
        return
    standing, roster = scene.truth.standing(key), scene.truth.roster(key)
    alive = len(standing.alive & standing.voters)
    if alive < cluster.spec.replicas or len(roster) > cluster.spec.replicas:
        yield f"{key} is called ready with {alive} of {cluster.spec.replicas} voters"
    there = {f"{key.name}-{ordinal(it)}" for it in roster.values()}
    if there != {it.name for it in cluster.status.members}:
        yield f"the status of {key} speaks of others than its members"


def _is_ready(cluster: EtcdCluster) -> bool:
    return conditions.is_true(cluster.status.conditions, "Ready")
