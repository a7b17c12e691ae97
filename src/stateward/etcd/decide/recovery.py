"""A majority is lost for good, and a person said: go on from one survivor. Pure.

Its data is saved first. Then it is left alone (the others' pods go, so that they cannot meet
without it), started once with force-new-cluster, and the cluster grows from it as from any one
member. An approval is good for one loss: it is used up when the cluster has a quorum, before or
after, and counts anew only after it was taken out of the spec. It can be withdrawn until force is
written. A majority that we only cannot ask is not lost: nobody may speak of a leader, and that
must have been so for a while.
"""

from __future__ import annotations

from stateward.core import moments
from stateward.etcd.decide import absent, configs, doomed, repair
from stateward.etcd.decide.moves import (
    Await,
    DeletePod,
    Move,
    Refuse,
    SaveSurvivor,
    WriteConfig,
    WriteWorkload,
)
from stateward.etcd.model import history
from stateward.etcd.model.view import Replica, View
from stateward.kube import conditions

BEST = "best"
#: Seconds in which a survivor that starts alone leads itself.
_SOON = 60.0
#: Seconds that a majority must be known to be lost before anything is taken from it.
_SURE = 10.0


def is_approved(view: View) -> bool:
    """Tell whether a person's approval is there and not used up, or can no longer be withdrawn."""
    report = view.cluster.status.recovery
    if not history.has_approval(view):
        return is_committed(view)
    return report is None or not report.done


def is_committed(view: View) -> bool:
    """Tell whether a survivor may have started alone.

    From then on the others must not come back on their volumes: they would be a second cluster.
    """
    config = view.config
    return history.recovers(view) and config is not None and config.force_new_cluster


def recover(view: View) -> Move | None:
    """Return the next step from no quorum to one survivor; None without an approval."""
    if not is_approved(view):
        return None
    committed = is_committed(view)
    if not committed and not repair.keeps_data(view):
        return _refuse_empty_dir()
    report = view.cluster.status.recovery
    if report is None or not report.snapshot:
        chosen = _choose(view) if _may_choose(view) else None
        return _missing(view) if committed and chosen is None else chosen
    if not (committed or _is_surely_lost(view)) or absent.is_led(view):
        return Await("Recovering", "waiting to be sure that no majority is alive", 1.0)
    survivor = next((it for it in view.replicas if it.name == report.survivor), None)
    if survivor is None:
        return Await("SurvivorMissing", f"waiting for {report.survivor}", 2.0)
    return _leave_alone(view, survivor, report.pod_uid)


def miss_survivor(view: View) -> Move | None:
    """Say that nobody answers who could be saved; asked late, since its pod may yet come back."""
    report = view.cluster.status.recovery
    if not is_approved(view) or (report is not None and report.snapshot):
        return None
    if not repair.keeps_data(view) or not _may_choose(view) or _choose(view) is not None:
        return None
    return _missing(view)


def _missing(view: View) -> Refuse:
    wanted = _wanted(view)
    if wanted == BEST:
        words = "no member with a vote answers, so there is nothing to go on from"
    else:
        words = f"quorumRecovery names {wanted}, and no such member with a vote answers"
    return Refuse(
        "SurvivorMissing",
        words,
        "its data is saved before anything else, so it must answer; if all data is lost, delete"
        " the cluster and make it anew",
    )


def _may_choose(view: View) -> bool:
    """Tell whether a majority of a cluster that was there is lost for sure."""
    sure = is_committed(view) or _is_surely_lost(view)
    return sure and bool(view.cluster.status.cluster_id)


def _choose(view: View) -> Move | None:
    wanted = _wanted(view)
    candidates = [it for it in view.reached if wanted in {BEST, it.name} and _votes(view, it)]
    best = max(candidates, key=_has_most, default=None)
    return SaveSurvivor(best) if best is not None else None


def _wanted(view: View) -> str:
    approval = view.cluster.spec.quorum_recovery
    return approval.survivor if approval else BEST


def _is_surely_lost(view: View) -> bool:
    """Tell whether nobody speaks of a leader, and no majority was there for a while."""
    told = conditions.find(view.cluster.status.conditions, "Quorate")
    since = told.last_transition_time if told is not None and told.status == "False" else None
    if not since or absent.is_led(view):
        return False
    return view.now - moments.from_rfc3339(since) >= _SURE


def _refuse_empty_dir() -> Refuse:
    return Refuse(
        "OnlyCopy",
        "a recovery restarts its survivor, whose data is on emptyDir and would go with its pod",
        "save it with etcdctl snapshot save, and restore it into a new cluster",
    )


def _votes(view: View, replica: Replica) -> bool:
    """Tell whether one who answers is a recorded member with a vote: a learner may lack data.

    One that got its vote after the last record says so itself.
    """
    said = replica.said
    recorded = {it.name: it.id for it in view.cluster.status.last_known_members}
    if said is None or said.learner:
        return False
    return recorded.get(replica.name) == f"{said.member_id:x}"


def _has_most(replica: Replica) -> tuple[int, int, int]:
    """Return how much a member has. Terms say nothing: whoever is alone calls for elections."""
    said = replica.said
    return (said.raft_index, said.revision, -replica.ordinal) if said else (0, 0, 0)


def _leave_alone(view: View, survivor: Replica, first_pod: str) -> Move:
    workload, ordinal = view.workload, survivor.ordinal
    if doomed.is_doomed(survivor):
        return doomed.refuse(view, survivor)
    if workload is None or (workload.replicas, workload.start) != (1, ordinal):
        return WriteWorkload(1, f"only {survivor.name} goes on", ordinal)
    others = [it.name for it in view.replicas if it.pod is not None and it.ordinal != ordinal]
    if others:
        return Await("PodsLeaving", f"waiting for {', '.join(others)} to leave", 2.0)
    config = configs.forced(configs.of_known(view, [ordinal]))
    if view.config != config:
        return WriteConfig(config, f"{survivor.name} goes on alone")
    pod = survivor.pod
    if pod is not None and not pod.deleting and (pod.uid == first_pod or _missed(view, survivor)):
        return DeletePod(pod, "it starts once as the only member")
    return Await("Recovering", f"waiting for {survivor.name} to go on alone", 0.5)


def _missed(view: View, survivor: Replica) -> bool:
    """Tell whether it was started anew before it could hear that it is alone."""
    pod, said = survivor.pod, survivor.said
    is_old = pod is not None and view.now - pod.created > _SOON
    return is_old and said is not None and said.leader == 0
