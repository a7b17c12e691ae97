"""Volumes that somebody deleted, and that stay only while their pods run. Pure.

Kubernetes keeps such a claim for its pod, and there is no way back: as soon as the pod stops, the
data on it is gone. So a pod on such a volume counts as one whose data goes with it, and nobody
else's data goes while the only other copy is on such a volume.
"""

from __future__ import annotations

from stateward.etcd.decide import guards
from stateward.etcd.decide.moves import Refuse
from stateward.etcd.model.members import quorum
from stateward.etcd.model.view import Replica, View


def is_doomed(replica: Replica) -> bool:
    """Tell whether a pod holds a volume that goes as soon as it stops."""
    claim = replica.claim
    return replica.pod is not None and claim is not None and claim.deleting


def may_stop(view: View, replica: Replica) -> bool:
    """Tell whether a pod may stop: its volume stays, or a quorum of others holds the data."""
    return not is_doomed(replica) or others_hold(view, replica)


def others_hold(view: View, replica: Replica) -> bool:
    """Tell whether the others are a healthy quorum of what is left, on volumes that stay."""
    others = [it for it in view.voters if it.ordinal != replica.ordinal]
    lasting = sum(guards.is_steady(view, it) and not is_doomed(it) for it in others)
    return bool(others) and lasting >= quorum(len(others))


def tell(view: View) -> Refuse | None:
    """Say which volumes are about to go; row 8c. Nothing else waits for that.

    Learners do not count: we ourselves give them another volume where theirs is old.
    """
    found = next(filter(is_doomed, view.voters), None)
    return refuse(view, found) if found is not None else None


def refuse(view: View, replica: Replica) -> Refuse:
    """Say that a member must run on, and how it can get another volume."""
    claim = replica.claim.name if replica.claim is not None else "its volume claim"
    message = (
        f"somebody deleted volume claim {claim}: the data of {replica.name} goes as soon as its pod"
        " stops, which nobody can take back; it is not stopped while others do not hold the data"
    )
    if others_hold(view, replica):
        hint = f"let it join anew on another volume: kubectl delete pod {replica.name}"
    else:
        enough = 2 * sum(map(is_doomed, view.voters)) + 1
        hint = f"scale to {enough}, and when all are healthy: kubectl delete pod {replica.name}"
    return Refuse("VolumeLeaving", message, hint)
