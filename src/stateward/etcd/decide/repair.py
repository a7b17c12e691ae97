"""Members that are not well: rows 6, 9 and 10 of the table. Pure."""

from __future__ import annotations

from stateward.core import moments
from stateward.core.duration import parse_seconds
from stateward.etcd.decide import doomed, guards
from stateward.etcd.decide.moves import (
    Await,
    DeleteClaim,
    DeletePod,
    LeaveClaim,
    Move,
    Refuse,
    RemoveMember,
)
from stateward.etcd.model.lastwords import speaks_of_its_disk
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.trouble import is_held_up, trouble_of
from stateward.etcd.model.view import PodSeen, Replica, View
from stateward.kube import conditions

#: Seconds after which a learner that cannot start on its volume gets another one.
_FRESH = 30.0
#: Seconds that a learner may be silent at least: one whose first words were lost on the way speaks
#: again only after seven, and nobody depends on it.
_LEARNER = 30.0
#: Seconds after which a learner that went away joins anew, however often that came to nothing.
_LONGEST = 600.0
_LOOK_AGAIN = 1.0
#: Seconds that an etcd may take at least from when it could start until it answers, however short
#: the grace is: otherwise whoever is restarted would be replaced, again and again.
_START = 10.0
#: Seconds in which a node says what it makes of a pod; from one that is gone Kubernetes takes the
#: volume back after six minutes.
_HEARD = 600.0
#: What Kubernetes says of a container that it is about to start.
_STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
#: Seconds by which our clock may differ from that of Kubernetes.
_SKEW = 10.0


def grace(view: View) -> float:
    """Return how many seconds a member may be away until it is replaced."""
    return parse_seconds(view.cluster.spec.unhealthy_member_grace_period)


def unhealthy_since(view: View, replica: Replica) -> float | None:
    """Return since when a member is recorded as unhealthy."""
    for report in view.cluster.status.members:
        if report.name == replica.name and report.unhealthy_since:
            # A clock that was set back must not make it wait for as long as that.
            return min(moments.from_rfc3339(report.unhealthy_since), view.now)
    return None


def is_over(view: View, replica: Replica, patience: float) -> bool:
    """Tell whether a member is unhealthy for longer than patience lasts.

    Only time in which it could have come back counts: one that waited for a node, an image or a
    secret, or that nobody watched, has had no chance yet.
    """
    since, pod = unhealthy_since(view, replica), replica.pod
    if since is None:
        return False
    chance = pod.chance_since if pod is not None else 0.0
    return view.now - max(since, chance) > patience and view.now - chance > _START


def keeps_data(view: View) -> bool:
    """Tell whether data outlives pods."""
    return view.cluster.spec.storage.empty_dir is None


# -------------------------------------------------------------------------- learners


def revert_learner(view: View) -> Move | None:
    """Remove a learner that is no longer wanted, even if it never started."""
    for it in view.learners:
        if it.ordinal >= max(view.wanted, 1) and it.listed is not None:
            member = it.listed.member
            return RemoveMember(member.id, it.name, "it is no longer wanted")
    return None


def free_learner(view: View) -> Move | None:
    """Give a learner that cannot start another volume: on a removed member's it never will.

    The quorum lists it as never started, so no volume holds data of it. One that starts after all,
    just when its volume was deleted, joins anew: with an empty volume it could not go on.
    """
    for it in view.learners:
        pod, listed = it.pod, it.listed
        if listed is None or pod is None or pod.deleting:
            continue
        if not listed.member.started and (move := _freed(view, it, pod)):
            return move
        if listed.member.started and doomed.is_doomed(it):
            why = "its volume goes; it joins anew"
            return RemoveMember(listed.member.id, it.name, why, off=it.claim)
    return None


def _freed(view: View, replica: Replica, pod: PodSeen) -> Move | None:
    """Return how a learner that never started gets off its volume, if it must."""
    claim = replica.claim
    if claim is not None and claim.deleting:
        return DeletePod(pod, "its volume is on its way out", off=claim)
    if view.is_outdated(replica):
        return DeletePod(pod, "it is to start from the new template")
    if not _is_older(view, replica) or not _cannot_start(view, replica):
        return None
    if claim is not None:
        return DeleteClaim(claim, f"{replica.name} cannot start on old data", under=pod)
    return DeletePod(pod, "it starts anew and cannot on old data")


def _has_failed(replica: Replica) -> bool:
    pod = replica.pod
    return pod is not None and (pod.restarts > 0 or bool(pod.last_end))


def _is_older(view: View, replica: Replica) -> bool:
    """Tell whether what a learner shall start on may have been there before it.

    On one that is surely younger a crash has another cause, and wiping it would mend nothing: so
    each learner costs few volumes, however often it crashes, and never waits on a removed member's.
    """
    source, since = replica.claim or replica.pod, unhealthy_since(view, replica)
    return source is not None and since is not None and source.created - since < _SKEW


def _cannot_start(view: View, replica: Replica) -> bool:
    """Tell whether the etcd of a removed member ends, or hangs, where a learner shall start.

    One that ended before it was listed starts again soon, unless its volume says whose it was.
    """
    pod, claim = replica.pod, replica.claim
    if pod is None or replica.said is not None:
        return False
    if _has_failed(replica):
        known = claim is None or bool(claim.left_by)
        return known or is_over(view, replica, _FRESH)
    if not pod.running and not (claim is not None and claim.lost):
        return False  # it waits for a node or an image, and a new volume would too
    return is_over(view, replica, min(_FRESH, grace(view)))


def await_learner(view: View) -> Move | None:
    """Wait for a learner; one that started and then went away is replaced like any member."""
    for it in view.learners:
        listed = it.listed
        if listed is None:
            continue
        if listed.member.started and is_over(view, it, _patience_with_learners(view)):
            why = "the learner went away; it joins anew"
            return _left(it) or _removal(it, why, it.pod)
        # What exactly it does changes every moment, and is told in the status, not in events.
        why = f": {trouble_of(view, it)}" if it.pod is not None and _finds_no_node(it.pod) else ""
        return Await("LearnerJoining", f"waiting for {it.name} to join{why}", _quick(it))
    return None


def _patience_with_learners(view: View) -> float:
    """Return how many seconds a learner may be away until it joins anew.

    Each time costs a volume and all data once more, and one that only we cannot reach would come
    to nothing again and again: so the longer the cluster is not as it should be, the longer.
    """
    told = conditions.find(view.cluster.status.conditions, "Ready")
    since = told.last_transition_time if told is not None and told.status != "True" else None
    waited = view.now - moments.from_rfc3339(since) if since else 0.0
    return max(grace(view), _LEARNER, min(waited / 3, _LONGEST))


def _finds_no_node(pod: PodSeen) -> bool:
    return pod.trouble == "Unschedulable"


def _quick(replica: Replica) -> float:
    """Look often at a learner whose etcd runs: only it could tell, and it does not."""
    return 0.5 if replica.pod is not None and replica.pod.running else _LOOK_AGAIN


# -------------------------------------------------------------------------- voters


def refresh_broken_pod(view: View) -> Move | None:
    """Restart a pod that does not work and is to start from another template anyway.

    One that runs and says nothing may only be slow, until its time is over; then a restart costs
    less than another volume. Without a quorum every member counts, so one that ended just now may
    start again first.
    """
    for it in view.replicas:
        pod = it.pod
        if pod is None or pod.deleting or it.said is not None:
            continue
        if pod.running and (pod.ready or not view.has_quorum or not _is_due(view, it)):
            continue
        if not doomed.may_stop(view, it) or (not view.has_quorum and _starts_again(view, it)):
            continue
        if view.is_outdated(it) and (keeps_data(view) or not view.cluster.status.cluster_id):
            why = "it does not run, and the new template may mend that"
            return DeletePod(pod, why, as_seen=True)
    return None


def _starts_again(view: View, replica: Replica) -> bool:
    """Tell whether an etcd ended just now and nothing keeps Kubernetes from starting it again.

    One that is about to start for long waits for what only another template may give it.
    """
    pod = replica.pod
    if pod is None or not _has_failed(replica) or is_over(view, replica, _START):
        return False
    return pod.trouble in _STARTING


def replace_unhealthy(view: View) -> Move | None:
    """Remove a voter that is broken for longer than the grace time, or not wanted any more."""
    sick = [it for it in view.voters if not view.is_healthy(it)]
    for it in sick:
        if it.ordinal >= max(view.wanted, 1) and guards.keeps_quorum_without(view, it):
            return _removal(it, "it is unhealthy, and no longer wanted", it.pod)
    due = [it for it in sick if _is_due(view, it) and (is_replaceable(it) or _is_corrupt(view, it))]
    for it in due:
        if _is_unheard(view, it) or _fails_by_template(view, it):
            continue
        if guards.keeps_quorum_without(view, it):
            silent = it.pod if not _is_corrupt(view, it) else None
            why = f"unhealthy for more than {grace(view):g} s; it joins anew"
            return _left(it) or _removal(it, why, silent)
    return None


def _is_unheard(view: View, replica: Replica) -> bool:
    """Tell whether its node has yet to say what it makes of a pod, whose volume is not lost."""
    pod, claim = replica.pod, replica.claim
    if pod is None or pod.running or _has_failed(replica) or (claim is not None and claim.lost):
        return False
    return not pod.trouble and view.now - pod.created <= _HEARD


def await_healthy(view: View) -> Move | None:
    """Wait for members that are not well, or leave: nothing else is changed meanwhile."""
    sick = [it for it in view.voters if not guards.is_steady(view, it)]
    fewer = len(view.voters) > max(view.wanted, 1)
    if not sick or (fewer and all(_is_due(view, it) for it in sick)):
        # Fewer members may be just what lets a member that waits for room come back.
        return None
    for it in sick:
        if _fails_by_template(view, it):
            return _stuck_rollout(view, it)
    words = ", ".join(it.name for it in sick)
    return Await("MembersUnhealthy", f"waiting for {words} to be healthy", _LOOK_AGAIN)


def _fails_by_template(view: View, replica: Replica) -> bool:
    """Tell whether one of the first who got the new template crashes with it, or was never well.

    Then its volume is not the trouble: wiping it would cost a copy of the data and mend nothing.
    """
    pod = replica.pod
    if pod is None or view.is_outdated(replica) or _is_corrupt(view, replica):
        return False
    if not _has_failed(replica) and not _was_never_well(view, replica):
        return False
    if speaks_of_its_disk(pod.last_words):
        return False
    return any(view.is_outdated(it) for it in view.voters)


def _was_never_well(view: View, replica: Replica) -> bool:
    """Tell whether a member is unhealthy since before its pod could run, and had time since."""
    since, pod = unhealthy_since(view, replica), replica.pod
    if since is None or pod is None or since - pod.created >= _SKEW:
        return False
    return _is_due(view, replica)


def _stuck_rollout(view: View, replica: Replica) -> Refuse:
    return Refuse(
        "RolloutStuck",
        f"{replica.name} does not run with the new settings: {trouble_of(view, replica)};"
        " the others keep the old ones",
        f"see kubectl logs {replica.name} --previous, then mend or take back the last change",
    )


def _left(replica: Replica) -> LeaveClaim | None:
    """Have a claim say whose data it holds before that member goes: its successor needs another."""
    claim, listed = replica.claim, replica.listed
    if claim is None or claim.deleting or listed is None:
        return None
    member = listed.member.id
    return LeaveClaim(claim, member) if claim.left_by != f"{member:x}" else None


def _removal(replica: Replica, why: str, silent: PodSeen | None = None) -> RemoveMember | None:
    listed = replica.listed
    if listed is None:
        return None
    return RemoveMember(listed.member.id, replica.name, why, silent=silent)


def _is_due(view: View, replica: Replica) -> bool:
    return is_over(view, replica, grace(view))


def is_replaceable(replica: Replica) -> bool:
    """Tell whether a new volume may mend a member.

    Not while its pod serves others (then we are the ones who cannot reach it), waits for a node or
    an image, was killed for its memory, or cannot leave its node. A volume that is lost is the
    trouble itself, whatever its pod waits for.
    """
    pod, claim = replica.pod, replica.claim
    if pod is None or pod.deleting or pod.ready:
        return False
    if claim is not None and claim.lost:
        return True
    return not is_held_up(pod) and pod.last_end != "OOMKilled"


def _is_corrupt(view: View, replica: Replica) -> bool:
    listed = replica.listed
    return listed is not None and bool(view.alarms_of(AlarmKind.CORRUPT, listed.member.id))
