"""The disruption budget: how many members must stay when nodes are emptied."""

from __future__ import annotations

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.metadata import owned
from stateward.etcd.model.members import quorum
from stateward.etcd.model.names import labels
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DISRUPTION_BUDGETS

#: With fewer members a budget would only forbid every drain; who wants that says so.
_WORTHWHILE = 3


def budget_key(cluster: EtcdCluster) -> ObjectKey:
    """Return where the budget is, or would be."""
    return cluster.metadata.key


def budget(cluster: EtcdCluster, voters: int, members: int) -> Json | None:
    """Return the budget of a cluster with so many voters among so many members; None: have none."""
    template, wanted = cluster.spec.pod_disruption_budget_template, cluster.spec.replicas
    if not (wanted or voters) or (template is None and max(wanted, voters) < _WORTHWHILE):
        return None
    return owned(
        DISRUPTION_BUDGETS,
        cluster,
        budget_key(cluster).name,
        template.metadata if template else None,
    ) | {
        "spec": _share(cluster, voters, members)
        | {
            "selector": {"matchLabels": labels(cluster.metadata.name)},
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
        }
    }


def staying(replicas: int, voters: int, members: int) -> int:
    """Return how many pods must stay so that a quorum does, now and at the size that is wanted.

    A budget counts pods, whether they vote or not: of all that are there, no more may go than
    voters can be spared.

    >>> staying(3, voters=3, members=3), staying(5, voters=3, members=4), staying(3, 5, 5)
    (2, 3, 3)
    """
    return max(quorum(max(voters, replicas)), members - (voters - quorum(voters)))


def _share(cluster: EtcdCluster, voters: int, members: int) -> Json:
    template = cluster.spec.pod_disruption_budget_template
    if template is not None and template.spec.min_available is not None:
        return {"minAvailable": template.spec.min_available}
    if template is not None and template.spec.max_unavailable is not None:
        return {"maxUnavailable": template.spec.max_unavailable}
    return {"minAvailable": staying(cluster.spec.replicas, voters, members)}
