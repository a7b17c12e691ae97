"""More members, fewer, none: rows 7, 8 and 12 to 14 of the table. Pure."""

from __future__ import annotations

from collections.abc import Container

from stateward.etcd.decide import configs, doomed, guards
from stateward.etcd.decide.moves import (
    AddLearner,
    Await,
    DeleteClaim,
    DeletePod,
    Move,
    MoveLeader,
    OwnClaim,
    RecreateWorkload,
    Refuse,
    RemoveMember,
    WriteConfig,
    WriteWorkload,
)
from stateward.etcd.model.view import ClaimSeen, Replica, View


def next_to_join(view: View) -> Replica | None:
    """Return the replica that is wanted and not listed: the lowest one."""
    for it in view.replicas:
        if it.ordinal < max(view.wanted, 1) and it.listed is None:
            return it
    return None


# -------------------------------------------------------------------------- after what etcd says


def settle_config(view: View) -> Move | None:
    """Tell starting members of the list as it is; row 7. One that is about to join may be on it."""
    config = configs.of_the_list(view)
    joining = next_to_join(view)
    early = configs.of_the_list(view, joining.ordinal) if joining else config
    if view.config in {config, early}:
        return None
    return WriteConfig(config, "the members that etcd lists")


def settle_workload(view: View) -> Move | None:
    """Have a pod for every member and, but for gaps, for nobody else; row 8.

    Pods of nobody are let go at once: a member that is not listed serves nobody, and its volume
    stays until :func:`drop_claims` has the proof that nobody needs it.
    """
    if _is_falling_asleep(view):
        return None
    ordinals = [it.ordinal for it in view.roster if it.ordinal is not None]
    workload = view.workload
    top = max(ordinals) + 1
    start = start_of(view, min(ordinals))
    if workload is None:
        return WriteWorkload(top - start, "it is missing", start)
    if (workload.replicas, workload.start) != (top - start, start):
        more = {*range(start, top)} - {*workload.ordinals}
        if (refused := strange_claim(view, more)) is not None:
            return refused
        return WriteWorkload(top - start, f"the highest member is {top - 1}", start)
    if workload.differs:
        return WriteWorkload(workload.replicas, "it is not as it should be", start)
    return None


def adopt_workload(view: View) -> Move | None:
    """Make a workload anew that an earlier cluster left, before a member gets a claim from it."""
    workload = view.workload
    if workload is None or not workload.disowned:
        return None
    return RecreateWorkload(workload.uid, "its new volumes would go with an earlier cluster")


def start_of(view: View, lowest: int) -> int:
    """Return the lowest ordinal that may have a pod, where the lowest member is known.

    After a recovery from one survivor that is above 0, until the volumes of the others are gone: on
    them they would make the old cluster anew, beside the one that goes on.
    """
    workload = view.workload
    if workload is not None and workload.start == 0:
        return 0
    below = [it for it in view.replicas if it.ordinal < lowest]
    if workload is None:
        # Somebody deleted it. A pod that is there is one that was meant to be.
        below = [it for it in below if it.pod is None]
    return lowest if any(it.claim is not None or it.pod is not None for it in below) else 0


def drop_claims(view: View) -> Move | None:
    """Delete the claim of a replica that the quorum does not list and that has no pod."""
    covered = view.workload.ordinals if view.workload else range(0)
    for it in view.replicas:
        claim = it.claim
        if claim is None or claim.deleting or it.listed is not None or it.pod is not None:
            continue
        if it.ordinal not in covered and _is_ours(view, claim):
            return DeleteClaim(claim, f"{it.name} is no longer a member")
    return None


def own_claims(view: View) -> Move | None:
    """Tie the claims of members to the cluster, or untie them, as the spec says."""
    uid = view.cluster.metadata.uid
    owned = not view.cluster.spec.retain_volumes_on_delete
    for it in view.replicas:
        claim = it.claim
        if claim is None or claim.deleting or claim.strange or it.listed is None:
            continue
        if (claim.owner_uid == uid) != owned or claim.cluster_uid != uid or not claim.labelled:
            return OwnClaim(claim, owned)
    return None


def _is_dropped(view: View, replica: Replica) -> bool:
    return replica.claim is not None and _is_ours(view, replica.claim)


def _is_ours(view: View, claim: ClaimSeen) -> bool:
    return claim.cluster_uid == view.cluster.metadata.uid


# -------------------------------------------------------------------------- after what is wanted


def shrink(view: View) -> Move | None:
    """Remove the highest member when fewer are wanted; row 13. The last one stays: it sleeps."""
    highest = max((it for it in view.voters), key=lambda it: it.ordinal, default=None)
    if highest is None or highest.listed is None or highest.ordinal < max(view.wanted, 1):
        return None
    if len(view.voters) == 1:
        return None  # it is all there is, and hands over to the first one before it goes
    if not guards.keeps_quorum_without(view, highest):
        return Await("QuorumAtRisk", f"removing {highest.name} would leave no quorum", 1.0)
    threatened = [it for it in view.voters if it is not highest and doomed.is_doomed(it)]
    if threatened and not doomed.others_hold(view, highest):
        return doomed.refuse(view, threatened[0])
    if view.leader is highest:
        heir = next(it for it in guards.steady_voters(view) if it is not highest)
        return MoveLeader(highest, heir, "it is about to be removed")
    return RemoveMember(highest.listed.member.id, highest.name, "fewer members are wanted")


def fall_asleep(view: View) -> Move | None:
    """Take the last pod away when no members are wanted; row 14. Its volume stays."""
    if view.wanted > 0:
        return None
    if [it.ordinal for it in view.roster] != [0]:
        return None
    if _is_falling_asleep(view):
        return Await("PodsLeaving", "waiting for the last member to fall asleep", 1.0)
    if not all(doomed.may_stop(view, it) for it in view.voters):
        return doomed.refuse(view, view.voters[0])
    others = [it for it in view.replicas if it.ordinal and (it.pod or it.claim) is not None]
    if any(it.pod is not None or _is_dropped(view, it) for it in others):
        # Asleep nobody can prove that a volume is not needed, so what is left goes before.
        return Await("PodsLeaving", "waiting for what is left of former members to go", 1.0)
    return WriteWorkload(0, "no members are wanted: the last one sleeps on its volume")


def _is_falling_asleep(view: View) -> bool:
    """Tell whether the last pod was let go and still answers: it must not be called back."""
    asked = view.wanted == 0 and [it.ordinal for it in view.roster] == [0]
    return asked and view.workload is not None and view.workload.replicas == 0


def grow(view: View) -> Move | None:
    """Add the next member as a learner, after its config and on no old volume; rows 10 and 12."""
    joining = next_to_join(view)
    if joining is None:
        return None
    covered = view.workload is not None and joining.ordinal in view.workload.ordinals
    claim = joining.claim
    if joining.pod is not None and not covered:
        return Await("PodsLeaving", f"waiting for the old pod {joining.name} to leave")
    if claim is not None and not covered:
        return _free_claim(view, claim)
    config = configs.of_the_list(view, joining.ordinal)
    if view.config != config:
        return WriteConfig(config, f"{joining.name} is about to join")
    return _vacated(view, joining) or AddLearner(joining.ordinal, joining.name, joining.peer_url)


def _vacated(view: View, joining: Replica) -> Move | None:
    """Let the volume of a removed member go, and its pod, before another one has its place.

    A pod that leaves starts nothing any more. Listed sooner, the new member could yet start on the
    volume that goes, and would have to join once more.
    """
    claim, pod = joining.claim, joining.pod
    if claim is None:
        return None
    is_left = bool(claim.left_by) and _is_ours(view, claim)
    if not claim.deleting and is_left and claim.left_by not in _listed_ids(view):
        return DeleteClaim(claim, "a new member must not start on old data", under=pod)
    if claim.deleting and pod is not None and not pod.deleting:
        return DeletePod(pod, "its volume is on its way out", off=claim)
    return None


def _listed_ids(view: View) -> frozenset[str]:
    return frozenset(f"{it.member.id:x}" for it in view.roster)


def strange_claim(view: View, ordinals: Container[int]) -> Move | None:
    """Refuse to have pods start on volumes that are nobody's, or somebody's whom we do not know."""
    there = [it.claim for it in view.replicas if it.ordinal in ordinals and it.claim is not None]
    names = " ".join(it.name for it in there if it.strange)
    if not names:
        return None
    return Refuse(
        "VolumeTaken",
        f"volume claims are there and not of this cluster: {names}; new members need these names",
        f"look at what is on them, then delete them: kubectl delete pvc {names}",
    )


def _free_claim(view: View, claim: ClaimSeen) -> Move:
    if claim.deleting:
        return Await("OldVolumeLeaving", f"waiting for the old volume claim {claim.name} to go")
    if _is_ours(view, claim):
        return DeleteClaim(claim, "a new member must not start on old data")
    return Refuse(
        "VolumeTaken",
        f"volume claim {claim.name} is there and not of this cluster: a new member needs its name",
        f"look at what is on it, then delete it: kubectl delete pvc {claim.name}",
    )
