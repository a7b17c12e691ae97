"""Nobody answers: rows 15 to 18 of the table. Pure.

An answer is proof; silence is not. What may be done in silence is what cannot hurt a cluster that
is alive behind it: write the workload, bring pods of known members back, and, from provably
nothing, begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stateward.core import moments
from stateward.core.facts import Unknown
from stateward.etcd.decide import configs, sizes
from stateward.etcd.decide.moves import Await, Move, Refuse, Rest, WriteConfig, WriteWorkload
from stateward.etcd.model import history
from stateward.etcd.model.view import Config, View, WorkloadSeen
from stateward.kube import conditions

_LOOK_AGAIN = 2.0
#: Seconds in which members that start, or start again, answer.
_PATIENCE = 60.0


def was_never_seen(view: View) -> bool:
    """Tell whether no quorum of this cluster was ever seen."""
    status = view.cluster.status
    return not status.cluster_id and not status.last_known_members


def beginning_is_on_record(view: View) -> bool:
    """Tell whether the status says how many members are told to begin, if any are."""
    config, status = view.config, view.cluster.status
    if config is None or config.existing or not was_never_seen(view):
        return True
    return status.beginning == len(config.initial_cluster)


def is_led(view: View) -> bool:
    """Tell whether anybody speaks of a leader: then a majority may be alive that we cannot ask."""
    return any(it.said is not None and it.said.leader for it in view.reached)


def begin(view: View) -> Move | None:
    """Make the workload where there is none, or wake one that sleeps; rows 15, 16 and 18."""
    workload = view.workload
    if workload is not None and workload.replicas > 0:
        return None
    if (leftover := _leftover(view)) is not None:
        return leftover
    if not view.has_service:
        return Await("ServicePending", "waiting for the service by which members meet", 1.0)
    if view.wanted == 0 and (workload is not None or _may_begin_asleep(view)):
        return _sleep(workload)
    # Pods without a workload are taken over as they are: somebody deleted it and left them.
    if workload is not None and any(it.pod is not None for it in view.replicas):
        return Await("PodsLeaving", "waiting for pods of before to leave")
    return sizes.strange_claim(view, range(view.wanted)) or _taken(view) or _start(view)


def _leftover(view: View) -> Move | None:
    """Wait for what an earlier cluster of this name has left and takes with it."""
    uid = view.cluster.metadata.uid
    claims = [it.claim for it in view.replicas if it.claim is not None]
    if any(it.pod is not None and not it.pod.ours for it in view.replicas):
        return Await("PodsLeaving", "waiting for pods of an earlier cluster to leave", 1.0)
    if any(it.owner_uid not in {"", uid} or it.deleting for it in claims):
        return Await("LeftoverVolumes", "waiting for volumes of an earlier cluster to go", 5.0)
    return None


def _taken(view: View) -> Move | None:
    """Refuse to begin on some volumes of an earlier cluster: only all of them are a cluster."""
    if not was_never_seen(view):
        return None
    claims = [it.claim for it in view.replicas if it.claim is not None]
    strange = [it.name for it in claims if it.cluster_uid != view.cluster.metadata.uid]
    if not strange or [it.ordinal for it in claims] == list(range(len(claims))):
        return None
    names = " ".join(strange)
    return Refuse(
        "VolumeTaken",
        f"volume claims are there and not of this cluster: {names}; members go on from kept"
        " volumes only if none is missing, from the first one on",
        "bring the missing ones back; or look at what is on them, then delete them:"
        f" kubectl delete pvc {names}",
    )


def _may_begin_asleep(view: View) -> bool:
    known = configs.known_ordinals(view)
    return was_never_seen(view) or known == (0,)


def _sleep(workload: WorkloadSeen | None) -> Move:
    if workload is None:
        return WriteWorkload(0, "there is none yet, and none of its pods is wanted")
    if workload.differs:
        return WriteWorkload(0, "it is not as it should be")
    return Rest()


def _start(view: View) -> Move:
    """Return the next of two writes: what members start with, then the pods."""
    first = _beginning(view)
    if view.config != first.config:
        return WriteConfig(first.config, first.why)
    return _spanning(view, first.ordinals, first.why)


@dataclass(frozen=True, slots=True)
class _Beginning:
    """What pods are told that come from nothing or from sleep, and which there are."""

    config: Config
    ordinals: Sequence[int]
    why: str


def _beginning(view: View) -> _Beginning:
    known = configs.known_ordinals(view)
    claims = tuple(it.claim for it in view.replicas if it.claim is not None)
    if known == (0,):
        alone = configs.of_known(view, known)
        others = [it for it in claims if it.ordinal != 0]
        pods = [it for it in view.replicas if it.pod is not None]
        # Data of another member means that the record is not the whole truth: then without force,
        # which changes nothing for a member that is alone by its own list. A pod means that
        # nobody sleeps: it could start by force again and again.
        config = alone if others or pods else configs.forced(alone)
        return _Beginning(config, known, "waking the one member that sleeps")
    if known:
        config = configs.of_known(view, known)
        return _Beginning(config, known, "bringing its members back")
    if not was_never_seen(view):
        # Its list was never written down, as with strangers on it: who has data comes back.
        had = [it.ordinal for it in claims] or range(max(view.wanted, 1))
        return _Beginning(configs.of_known(view, had), had, "bringing its members back")
    if any(it.cluster_uid != view.cluster.metadata.uid for it in claims):
        # Volumes that an earlier cluster was told to leave: its members go on from them.
        kept = [it.ordinal for it in claims]
        config = configs.of_known(view, kept)
        return _Beginning(config, kept, "going on from kept volumes")
    begun = view.config
    if claims and begun is not None and not begun.existing and begun.initial_cluster:
        return _Beginning(begun, range(len(begun.initial_cluster)), "going on with a beginning")
    if claims:
        # Our own volumes, and nothing says that they were never used: a status can be emptied, and
        # told `new` the emptiest of them would make a cluster that takes the others for strangers.
        had = [it.ordinal for it in claims]
        return _Beginning(configs.of_known(view, had), had, "bringing its members back")
    every = configs.of_new(view, range(view.wanted))
    return _Beginning(every, range(view.wanted), "all members at once")


# -------------------------------------------------------------------------- pods that do not answer


def stand_by(view: View) -> Move | None:
    """Keep what is needed for members to come back, and nothing else; row 17, and row 4."""
    workload = view.workload
    known = configs.known_ordinals(view)
    if workload is None:
        return _lost_workload(view)
    if view.wanted == 0 and workload.replicas == 0 and known == (0,):
        return Await("PodsLeaving", "waiting for the last member to fall asleep", 1.0)
    if not set(known) <= set(workload.ordinals):
        return _spanning(view, known, "its members lack pods")
    if workload.differs:
        return WriteWorkload(workload.replicas, "it is not as it should be", workload.start)
    if view.config is None:
        return WriteConfig(_lost_config(view, workload), "it is missing")
    return None


def _lost_workload(view: View) -> Move | None:
    """Make it anew where some members answer and others may need it to come back."""
    known, begun = configs.known_ordinals(view), view.config
    if known:
        return _spanning(view, known, "it is missing")
    if begun is None or begun.existing:
        return None
    return WriteWorkload(len(begun.initial_cluster), "it is missing")


def _spanning(view: View, ordinals: Sequence[int], why: str) -> WriteWorkload:
    """Have a pod for every one of some members, and for nobody on a volume that was given up."""
    start = sizes.start_of(view, min(ordinals))
    return WriteWorkload(max(ordinals) + 1 - start, why, start)


def _lost_config(view: View, workload: WorkloadSeen) -> Config:
    known = configs.known_ordinals(view)
    has_volumes = any(it.claim is not None for it in view.replicas)
    begun = workload.ordinals == range(view.cluster.status.beginning)
    if known or not was_never_seen(view) or (has_volumes and not begun):
        return configs.of_known(view, known or workload.ordinals)
    # Volumes do not matter where the record says that these very members were told to begin, and
    # no quorum of them was seen: they are told the same once more.
    return configs.of_new(view, workload.ordinals)


def wait_for_quorum(view: View) -> Move:
    """Say what is missing; the last word when there is no quorum."""
    workload = view.workload
    size = workload.replicas if workload else 0
    reached = len(view.reached)
    if was_never_seen(view):
        return Await(
            "FirstQuorumPending",
            f"waiting for the first quorum: {reached} of {size} members answer",
            _soon(view),
        )
    if not reached and _want_a_login(view):
        return Refuse(
            "LoginNeeded",
            "members answer, and want to know who we are: logins were turned on",
            "set security.enableAuth with its certificates, or turn logins off with etcdctl",
        )
    if not reached and not _is_surely_silent(view):
        return Await("Unreachable", f"none of {size} members answers", _LOOK_AGAIN)
    if is_led(view):
        words = "members say that somebody leads, but none could ask a majority"
        return Await("QuorumUnconfirmed", words, _LOOK_AGAIN)
    if history.may_be_electing(view):
        return Await("Electing", "waiting for members to agree on a leader", 0.5)
    return Refuse(
        "QuorumLost",
        f"{reached} of {len(configs.known_ordinals(view))} members answer and no majority agrees",
        "bring the missing pods back; if their data is lost for good, see quorumRecovery",
    )


def _is_surely_silent(view: View) -> bool:
    """Tell whether nobody is about to answer: all had time, and none is ready and only unheard."""
    told = conditions.find(view.cluster.status.conditions, "Quorate")
    since = told.last_transition_time if told is not None and told.status == "False" else None
    if not since or view.now - moments.from_rfc3339(since) < _PATIENCE:
        return False
    pods = [it.pod for it in view.replicas if it.pod is not None]
    return all(not it.ready and view.now - it.created >= _PATIENCE for it in pods)


def _want_a_login(view: View) -> bool:
    silent = (it.status for it in view.replicas)
    return any(isinstance(it, Unknown) and it.reason.startswith("LoginNeeded") for it in silent)


def _soon(view: View) -> float:
    """Look often while pods of a new cluster start, since etcd itself tells nobody."""
    running = any(it.pod is not None and it.pod.running for it in view.replicas)
    return 0.5 if running else 1.0
