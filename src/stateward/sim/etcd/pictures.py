"""What people are told of etcd and of its kinds, while a life is told to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.resources import STATEFUL_SETS
from stateward.sim.etcd.world import EtcdWorld


def pictures(it: EtcdWorld) -> Iterator[tuple[str, str]]:
    """Yield who are members of each cluster, and who leads."""
    universe = it.universe
    for number, (cluster_id, history) in enumerate(universe.histories.items()):
        state = history.states[-1]
        names = ", ".join(
            (m.name or "(not started)") + (" (learner)" if m.learner else "")
            for m in state.members.values()
        )
        leader = universe.leader_of(history)
        led = f"led by {leader.start.name}" if leader is not None else "leaderless"
        yield str(cluster_id), f"cluster {number}: {names}; {led}"


def _tell_cluster(it: dict[str, Any]) -> str:
    status = it.get("status", {})
    # Of what does not hold only readiness says why.
    conditions = ", ".join(
        f"{'' if c['status'] == 'True' else 'not '}{c['type']} ({c.get('reason', '')})"
        for c in status.get("conditions", ())
        if c["status"] == "True" or c["type"] == "Ready"
    )
    asked = f"asks for {it['spec'].get('replicas', 3)}"
    leaving = ", deleted" if it["metadata"].get("deletionTimestamp") else ""
    return f"{asked}{leaving}; {conditions}" if conditions else f"{asked}{leaving}"


def _tell_set(it: dict[str, Any]) -> str:
    return f"asks for {it['spec'].get('replicas', 1)} pods"


TELLERS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    ETCD_CLUSTERS.name: _tell_cluster,
    STATEFUL_SETS.name: _tell_set,
}
