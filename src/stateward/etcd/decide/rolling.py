"""Changes of the template reach the members one at a time, the leader last. Pure."""

from __future__ import annotations

from stateward.core.version import Version
from stateward.etcd.api.validation import step_problem
from stateward.etcd.decide import doomed, guards, repair
from stateward.etcd.decide.moves import Await, DeletePod, Move, MoveLeader, Refuse, RemoveMember
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.view import Replica, View

#: Entries of the log that a member may be behind and still count as caught up.
_CAUGHT_UP = 1000


def roll(view: View) -> Move | None:
    """Restart the next outdated member; the chart asks only when all members are well."""
    outdated = [it for it in view.voters if view.is_outdated(it)]
    if not outdated:
        return None
    if (waiting := _still_coming(view)) is not None:
        return waiting
    followers = [it for it in outdated if it is not view.leader]
    if not followers:
        return _roll_leader(view, outdated[0])
    return _restart(view, followers[-1])


def _still_coming(view: View) -> Await | None:
    """Wait until those who were restarted have caught up and serve clients again."""
    behind = [it.name for it in view.voters if not _is_caught_up(view, it)]
    if behind:
        return Await("CatchingUp", f"waiting for {', '.join(behind)} to catch up", 1.0)
    if view.alarms_of(AlarmKind.NO_SPACE):
        return None  # older etcds are not ready while several are full: waiting would be for ever
    new = [it for it in view.voters if not view.is_outdated(it)]
    starting = [it.name for it in new if it.pod is None or not it.pod.ready]
    if starting:
        return Await("PodsStarting", f"waiting for {', '.join(starting)} to be ready", 1.0)
    return None


def _roll_leader(view: View, leader: Replica) -> Move | None:
    heirs = [it for it in guards.steady_voters(view) if it.ordinal != leader.ordinal]
    if heirs:
        return MoveLeader(leader, heirs[0], "it is the last to be restarted")
    return _restart(view, leader)


def _restart(view: View, replica: Replica) -> Move | None:
    """Restart a member whose data stays, or let it join anew when its data goes with its pod."""
    pod, listed = replica.pod, replica.listed
    if pod is None or listed is None or pod.deleting:
        return None
    # With one or two voters every restart is an outage, and the user asked for the change.
    if len(view.voters) > 2 and not guards.keeps_quorum_while_away(view, replica):
        return None
    if repair.keeps_data(view) and not doomed.is_doomed(replica):
        return DeletePod(pod, "its template changed")
    if doomed.others_hold(view, replica):
        return RemoveMember(listed.member.id, replica.name, "its data goes with its old pod")
    if doomed.is_doomed(replica):
        return doomed.refuse(view, replica)
    return Refuse(
        "OnlyCopy",
        f"restarting {replica.name} would lose the only copy of the data, which is on emptyDir",
        "scale to 3 first, or use a volumeClaimTemplate",
    )


def _is_caught_up(view: View, replica: Replica) -> bool:
    leader, said = view.leader, replica.said
    if leader is None or leader.said is None or said is None:
        return False
    return leader.said.raft_index - said.raft_applied_index <= _CAUGHT_UP


def version_problem(view: View) -> Refuse | None:
    """Return why the wanted version cannot follow the oldest one that runs, or None.

    While one member still runs the old minor, the others may go back to it: etcd writes in the old
    manner until the last of them is new.
    """
    wanted, running = _parsed(view.image_version), running_versions(view)
    if wanted is None or not running:
        return None
    oldest = min(running)
    problem = step_problem(str(oldest), wanted)
    if problem is None:
        return None
    words = f"etcd {wanted} must not follow {oldest}: it {problem}"
    hint = "set version, or the image in podTemplate, to one that may follow"
    return Refuse("UpgradeRefused", words, hint)


def running_versions(view: View) -> tuple[Version, ...]:
    """Return the versions that members run, or the last one that was seen."""
    said = [_parsed(it.said.version) for it in view.replicas if it.said is not None]
    found = tuple(it for it in said if it is not None)
    last = _parsed(view.cluster.status.version or _fell_asleep_with(view))
    return found or ((last,) if last else ())


def _fell_asleep_with(view: View) -> str:
    """Return which version wrote the data of a cluster that sleeps, if no status tells any more."""
    workload, has_slept_on = view.workload, any(it.claim is not None for it in view.replicas)
    return workload.version if workload and not workload.replicas and has_slept_on else ""


def _parsed(text: str) -> Version | None:
    try:
        return Version.parse(text) if text else None
    except ValueError:
        return None
