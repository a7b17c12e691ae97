"""The laws of etcd clusters, asked of every move: of what was seen, and of what came of it.

They say again, in other words and without the chart's own guards, what must be true; so a guard
that is wrong does not vouch for itself. A law answers with what is wrong, or with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from fakes.etcd_model import EtcdWorld
from fakes.etcd_passes import Pass
from stateward.etcd.decide import moves
from stateward.etcd.model.members import quorum
from stateward.etcd.model.view import ClaimSeen, Config, Replica, View

CHANGES: Final = (moves.AddLearner, moves.Promote, moves.RemoveMember)
ACTS: Final = moves.Act.__args__


def broken_by(view: View, move: moves.Move) -> list[str]:
    """Return the laws that a move breaks, by what was seen."""
    return [f"{name}: {wrong}" for name, law in LAWS for wrong in law(view, move)]


def broken_in(step: Pass) -> list[str]:
    """Return the laws that a pass breaks, by what was seen and by what really was."""
    move = step.judgement.move
    found = broken_by(step.view, move) + [f"E-S1: {it}" for it in _quorum_lost(step)]
    return found + step.world.broken


# -------------------------------------------------------------------------- by what was seen


def _replica(view: View, move: moves.Move) -> Replica | None:
    """Return whom a move is about."""
    match move:
        case moves.RemoveMember(member_id=id_) | moves.Promote(member_id=id_):
            found = [it for it in view.replicas if it.listed and it.listed.member.id == id_]
        case moves.DeletePod(pod=part):
            found = [it for it in view.replicas if it.pod is part]
        case moves.DeleteClaim(claim=part):
            found = [it for it in view.replicas if it.claim is part]
        case _:
            found = []
    return found[0] if found else None


def _is_well(view: View, it: Replica) -> bool:
    said, listed = it.said, it.listed
    if said is None or listed is None or (it.pod is not None and it.pod.deleting):
        return False
    return said.member_id == listed.member.id and bool(said.leader) and listed.member.started


def _one_change_at_a_time(view: View, move: moves.Move) -> Iterator[str]:
    if not isinstance(move, CHANGES):
        return
    if not view.has_quorum:
        yield f"{move.message} without a quorum"
    known = {it.id for it in view.cluster.status.last_known_members}
    if known != {f"{it.member.id:x}" for it in view.roster}:
        yield f"{move.message} before the last change is on record"
    learners = [it for it in view.roster if it.member.learner]
    if isinstance(move, moves.AddLearner) and learners:
        yield f"{move.message} beside another learner"
    if isinstance(move, moves.AddLearner) and not all(_is_well(view, it) for it in view.voters):
        yield f"{move.message} while a member is not well"


def _learner_first(view: View, move: moves.Move) -> Iterator[str]:
    learner = _replica(view, move)
    if isinstance(move, moves.Promote) and (learner is None or not _is_well(view, learner)):
        yield f"{move.message}, which is not well"


def _claims_of_members(view: View, move: moves.Move) -> Iterator[str]:
    if not isinstance(move, moves.DeleteClaim):
        return
    it = _replica(view, move)
    known = view.cluster.status.cluster_id
    if not view.has_quorum or (known and view.cluster_ids != {known}):
        yield f"{move.message} without a word of its cluster"
    if it is not None and it.listed is None and _is_left(view, move.claim):
        return  # whose data it holds is no member, and nothing that starts on it can be one
    if it is None or it.listed is None:
        if it is not None and it.pod is not None:
            yield f"{move.message} under a pod"
        if it is not None and view.workload and it.ordinal in view.workload.ordinals:
            yield f"{move.message}, which is about to get a pod"
    elif it.listed.member.started or not it.listed.member.learner:
        yield f"{move.message} of a member that has data"


def _is_left(view: View, claim: ClaimSeen) -> bool:
    return bool(claim.left_by) and claim.left_by not in {f"{it.member.id:x}" for it in view.roster}


def _fresh_volume(view: View, move: moves.Move) -> Iterator[str]:
    if not isinstance(move, moves.AddLearner):
        return
    it = next(it for it in view.replicas if it.ordinal == move.ordinal)
    covered = view.workload is not None and it.ordinal in view.workload.ordinals
    if it.claim is not None and not covered:
        yield f"{move.message}, which would start on an old volume"
    if view.config is None or not view.config.existing:
        yield f"{move.message}, which would be told to begin a cluster"


def _new_only_once(view: View, move: moves.Move) -> Iterator[str]:
    status = view.cluster.status
    latched = status.cluster_id or status.last_known_members or view.has_quorum
    if isinstance(move, moves.WriteConfig) and not move.config.existing and latched:
        yield "members of a cluster that exists are told to begin one"


def _is_led(view: View) -> bool:
    """Tell whether a majority may be alive: somebody names a leader, or it was asked just now."""
    named = any(it.said is not None and it.said.leader != 0 for it in view.replicas)
    return named or view.has_quorum


def _may_recover(view: View) -> bool:
    """Tell whether a person accepted this loss, a survivor's data is saved, and nobody leads."""
    report = view.cluster.status.recovery
    saved = report is not None and bool(report.snapshot) and not report.done
    forced = view.config is not None and view.config.force_new_cluster
    accepted = view.cluster.spec.quorum_recovery is not None or forced
    return saved and accepted and not _is_led(view)


def _survivor(view: View, move: moves.Move) -> Iterator[str]:
    """Saving is harmless by itself, and the first step of what is not."""
    if not isinstance(move, moves.SaveSurvivor):
        return
    status, name = view.cluster.status, move.replica.name
    if view.cluster.spec.quorum_recovery is None or status.recovery is not None:
        yield f"{move.message}, which nobody approved"
    if _is_led(view):
        yield f"{move.message} while somebody leads"
    if not any(it.type == "Quorate" and it.status == "False" for it in status.conditions):
        yield f"{move.message} before the majority was told to be lost"
    said, known = move.replica.said, {it.name for it in status.last_known_members}
    if said is None or said.learner or name not in known:
        yield f"{move.message}, which has no vote"
    if not keeps_data(view):
        yield f"{move.message}, whose data goes with its pod"


def _force(view: View, move: moves.Move) -> Iterator[str]:
    pods = [it for it in view.replicas if it.pod is not None]
    approved = _may_recover(view)
    known = [it.name for it in view.cluster.status.last_known_members]
    alone = known == [f"{view.cluster.metadata.name}-0"]
    force = view.config is not None and view.config.force_new_cluster
    if isinstance(move, moves.WriteConfig) and move.config.force_new_cluster:
        if not approved and not (alone and not pods):
            yield "force-new-cluster is neither approved nor a lone sleeper's waking"
        if len(pods) > 1:
            yield "force-new-cluster beside another pod"
    if force and isinstance(move, moves.WriteWorkload) and move.replicas > 1:
        yield "more pods while force-new-cluster is on"
    if force and isinstance(move, moves.Rest) and (pods or view.wanted):
        yield "force-new-cluster is left on"


def _split_brain(view: View, move: moves.Move) -> Iterator[str]:
    if len(view.cluster_ids) < 2 or not isinstance(move, ACTS):
        return
    if not isinstance(move, moves.WriteConfig) or not _ends_force(view.config, move.config):
        yield f"{move.message} in a split brain"


def _ends_force(before: Config | None, after: Config) -> bool:
    return bool(before and before.force_new_cluster) and not after.force_new_cluster


def _no_surgery(view: View, move: moves.Move) -> Iterator[str]:
    if view.has_quorum or _may_recover(view):
        return
    if isinstance(move, (*CHANGES, moves.DeleteClaim, moves.MoveLeader)):
        yield f"{move.message} without a quorum"
    size = view.workload.replicas if view.workload else 0
    if isinstance(move, moves.WriteWorkload) and move.replicas < size:
        yield f"{move.message}, fewer than {size}, without a quorum"
    it = _replica(view, move)
    if isinstance(move, moves.DeletePod) and (it is None or it.said is not None):
        yield f"{move.message} though it answers, without a quorum"


def _scale_down(view: View, move: moves.Move) -> Iterator[str]:
    it = _replica(view, move)
    if not isinstance(move, moves.RemoveMember) or it is None or not it.votes:
        return
    if len(view.voters) < 2:
        yield f"{move.message}, the last voter"
    if not _is_well(view, it):
        return
    if keeps_data(view) and it.ordinal < view.wanted:
        yield f"{move.message}, which is well and wanted"
    if it is view.leader:
        yield f"{move.message}, which leads"
    if it.ordinal != max(it.ordinal for it in view.voters) and keeps_data(view):
        yield f"{move.message}, which is not the highest"


def keeps_data(view: View) -> bool:
    """Tell whether data outlives pods."""
    return view.cluster.spec.storage.empty_dir is None


def _one_restart_at_a_time(view: View, move: moves.Move) -> Iterator[str]:
    it = _replica(view, move)
    if not isinstance(move, moves.DeletePod) or it is None or not view.has_quorum:
        return
    if not it.votes or not _is_well(view, it):
        return
    if view.workload and it.pod and it.pod.revision == view.workload.update_revision:
        yield f"{move.message}, for no reason"
    others = [other for other in view.voters if other.ordinal != it.ordinal]
    if not all(_is_well(view, other) for other in others):
        yield f"{move.message} while another is not well"


def _one_gives_space_back(view: View, move: moves.Move) -> Iterator[str]:
    if not isinstance(move, moves.Defragment):
        return
    unwell = [it.name for it in view.voters if not _is_well(view, it)]
    if unwell or not view.has_quorum:
        yield f"{move.message} while {unwell} may be at it"


def _replacement(view: View, move: moves.Move) -> Iterator[str]:
    it = _replica(view, move)
    if not isinstance(move, moves.RemoveMember) or it is None or not it.votes:
        return
    others = [other for other in view.voters if other.ordinal != it.ordinal]
    if sum(_is_well(view, other) for other in others) < quorum(len(others)):
        yield f"{move.message}, and the rest is no quorum"
    if _is_well(view, it) or it.ordinal >= max(view.wanted, 1):
        return
    since = [r.unhealthy_since for r in view.cluster.status.members if r.name == it.name]
    if not any(since):
        yield f"{move.message}, which nobody has missed yet"
    if it.pod is not None and it.pod.last_end == "OOMKilled":
        yield f"{move.message}, which only lacked memory"


LAWS: Final[list[tuple[str, Callable[[View, moves.Move], Iterator[str]]]]] = [
    ("E-S2", _one_change_at_a_time),
    ("E-S3", _learner_first),
    ("E-S4", _claims_of_members),
    ("E-S6", _fresh_volume),
    ("E-S7", _new_only_once),
    ("E-S8", _force),
    ("E-S8", _survivor),
    ("E-S9", _split_brain),
    ("E-S10", _no_surgery),
    ("E-S11", _scale_down),
    ("E-S12", _one_restart_at_a_time),
    ("E-S14", _replacement),
    ("E-S15", _one_gives_space_back),
]


# -------------------------------------------------------------------------- by what really was


def _quorum_lost(step: Pass) -> Iterator[str]:
    """No act takes the quorum away, but for a restart that one or two voters cannot do without."""
    move, n = step.judgement.move, step.history
    if n is None or not step.stood or step.world.stands(n) or not isinstance(move, ACTS):
        return
    restart = isinstance(move, moves.DeletePod) and step.voters <= 2
    asleep = isinstance(move, moves.WriteWorkload) and step.view.wanted == 0 and step.voters == 1
    if not restart and not asleep:
        yield f"{move.message} takes the quorum away"


def unrest(world: EtcdWorld) -> str:
    """Return what a settled world lacks; empty: it is as it was asked for."""
    n = world.current
    if n is None:
        return "" if world.wanted == 0 else "there is no cluster"
    history, size = world.histories[n], max(world.wanted, 1)
    ordinals = sorted(it.ordinal for it in history.voters.values())
    if ordinals != list(range(size)) or len(history.members) != size:
        return f"members are {history.members}"
    # A sleeper cannot be asked, so volumes beside it stay until it wakes.
    if sorted(world.claims) != list(range(size)) and world.wanted:
        return f"claims are {sorted(world.claims)}"
    pods = list(range(world.wanted))
    return "" if sorted(world.pods) == pods else f"pods are {sorted(world.pods)}"
