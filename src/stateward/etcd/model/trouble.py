"""What is wrong with one member, in words for the person who is woken up by it."""

from __future__ import annotations

from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.view import ClaimSeen, PodSeen, Replica, View

#: Kubernetes' words for why a pod does not run, in ours.
_TROUBLE = {
    "Unschedulable": "its pod finds no node",
    "CrashLoopBackOff": "its container crashes again and again",
    "ImagePullBackOff": "its image cannot be pulled",
    "ErrImagePull": "its image cannot be pulled",
    "InvalidImageName": "its image has a name that cannot be",
    "CreateContainerConfigError": "its container lacks a secret or a config map",
}


#: Trouble of a pod that is not its etcd's: it had no chance to run yet.
_HELD_UP = frozenset(
    {
        "ContainerCreating",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "PodInitializing",
        "RunContainerError",
        "Unschedulable",
    }
)


def is_held_up(pod: PodSeen) -> bool:
    """Tell whether a pod waits for a node, an image or a secret, and no volume would mend it."""
    return not pod.node or pod.trouble in _HELD_UP


def trouble_of(view: View, replica: Replica) -> str:
    """Return what is wrong with a member, or what is about to be; empty when nothing is."""
    for found in (_strange(view, replica), _alarmed(view, replica)):
        if found:
            return found
    if view.is_healthy(replica):
        return _leaving(replica.pod) or _claim_trouble(replica.claim)
    if replica.said is not None:
        return _idle(view, replica)
    return _silent(replica)


def _strange(view: View, replica: Replica) -> str:
    """Say when a member answers as somebody else."""
    said, kept = replica.said, view.cluster.status.cluster_id
    if said is None:
        return ""
    if kept and f"{said.cluster_id:x}" != kept:
        return f"answers as a member of another cluster, {said.cluster_id:x}"
    if replica.listed is not None and said.member_id != replica.listed.member.id:
        return f"answers as another member, {said.member_id:x}"
    return ""


def _alarmed(view: View, replica: Replica) -> str:
    if replica.said is None:
        return ""
    if view.alarms_of(AlarmKind.CORRUPT, replica.said.member_id):
        return "its data differs from that of the others"
    full = view.alarms_of(AlarmKind.NO_SPACE, replica.said.member_id)
    return "its database is full" if full else ""


def _idle(view: View, replica: Replica) -> str:
    """Say why a member that answers as itself is not healthy."""
    if view.has_quorum and replica.listed is None:
        return "answers, but is not in the member list"
    if replica.said is not None and replica.said.leader == 0:
        return "answers, but knows no leader"
    return "answers, but a majority could not be asked"


def _silent(replica: Replica) -> str:
    """Say why a member does not answer; the volume comes first, since a pod waits for it."""
    pod = replica.pod
    lost = _claim_trouble(replica.claim)
    if lost and (pod is None or not pod.running):
        return lost
    if pod is None:
        return "its pod is missing"
    if replica.listed is not None and not replica.listed.member.started and pod.running:
        return "has not joined yet"
    return _leaving(pod) or _pod_trouble(pod)


def _leaving(pod: PodSeen | None) -> str:
    return "its pod is being deleted" if pod is not None and pod.deleting else ""


def _claim_trouble(claim: ClaimSeen | None) -> str:
    if claim is None:
        return ""
    if claim.lost:
        return "its volume is lost"
    return "its volume claim is being deleted" if claim.deleting else ""


def _pod_trouble(pod: PodSeen) -> str:
    if pod.trouble:
        words = _TROUBLE.get(pod.trouble, f"its pod is held up: {pod.trouble}")
        how = pod.last_words or pod.last_end
        return f"{words} ({how})" if how else words
    return "does not answer" if pod.running else "its pod is starting"
