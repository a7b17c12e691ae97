"""The chart: which one move is safe and useful now. Pure, and the order is the safety argument.

Each row is a question that answers with a move, or with nothing: then the next row is asked. The
numbers are those of the table in docs/etcd/flowchart.md, which draws this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from stateward.core.facts import Known
from stateward.etcd.decide import (
    absent,
    configs,
    doomed,
    guards,
    recovery,
    repair,
    rolling,
    sizes,
    space,
)
from stateward.etcd.decide.moves import (
    Act,
    AddLearner,
    Await,
    Move,
    Promote,
    Refuse,
    RemoveMember,
    Rest,
    SetAuth,
    WriteConfig,
    WriteWorkload,
)
from stateward.etcd.decide.refusals import Refusal
from stateward.etcd.model import history
from stateward.etcd.model.view import View

Row: TypeAlias = Callable[[View], Move | None]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The move, which row of the chart chose it, and everything that is held back meanwhile."""

    move: Move
    row: str
    refusals: tuple[Refusal, ...] = ()


def judge(view: View) -> Judgement:
    """Return the one move that is safe and useful now."""
    held = held_back(view)
    if held and view.workload is not None:
        # A version that may not follow must not reach the template: a pod that restarts by chance
        # would start from it. Nobody is restarted meanwhile, and no template is made anew.
        kept = replace(
            view.workload, differs=False, outgrown=False, disowned=False, update_revision=""
        )
        view = replace(view, workload=kept)
    row, move, passed = _first(view, _chart_of(view))
    if held and isinstance(move, WriteWorkload):
        if view.workload is None:
            move = Refuse(held[0].guard, held[0].message, held[0].hint)
        else:
            move = replace(move, size_only=True)
    refusals = (*held, *passed)
    if refusals and isinstance(move, Rest):
        move = Refuse(refusals[0].guard, refusals[0].message, refusals[0].hint)
    return Judgement(_recorded(view, move), row, refusals)


def next_move(view: View) -> Move:
    """Return only the move."""
    return judge(view).move


def held_back(view: View) -> tuple[Refusal, ...]:
    """Return what cannot be done now and does not keep other things from being done."""
    problem = rolling.version_problem(view)
    if problem is None:
        return ()
    return (Refusal("Roll", problem.reason, problem.message, problem.hint),)


def _chart_of(view: View) -> Sequence[tuple[str, Row]]:
    if view.cluster.metadata.deleting:
        return ()
    if view.cluster.spec.paused:
        return (("paused", _paused),)
    if not view.reached:
        return (*OWNERSHIP, *SILENCE, *NO_QUORUM)
    if not view.has_quorum:
        return (*OWNERSHIP, *IDENTITY, *NO_QUORUM)
    return (*OWNERSHIP, *IDENTITY, *QUORUM)


def _first(view: View, rows: Sequence[tuple[str, Row]]) -> tuple[str, Move, tuple[Refusal, ...]]:
    """Return the first row that has an answer, and the refusals that were passed on the way."""
    passed: list[Refusal] = []
    for name, row in rows:
        move = row(view)
        if isinstance(move, Refuse) and (name, move.reason) in PASSED:
            step = PASSED[name, move.reason]
            passed.append(Refusal(step, move.reason, move.message, move.hint))
        elif move is not None:
            return name, move, tuple(passed)
    return "11", Rest(), tuple(passed)


def _recorded(view: View, move: Move) -> Move:
    """Put a change of members off until the status has the list as it is before the change.

    Logins are turned on only after the status says that they are ours, and members begin only
    after it says how many: what they are told can be lost.
    """
    if isinstance(move, SetAuth) and move.enabled and not view.cluster.status.auth_enabled:
        return Await("RecordingLogins", "recording that logins are turned on by us", 0.05)
    sleeps = isinstance(move, WriteWorkload) and move.replicas == 0 and view.has_quorum
    recovered = isinstance(move, Act) and history.loss_is_accepted(view) and view.has_quorum
    changes = isinstance(move, AddLearner | Promote | RemoveMember) or sleeps or recovered
    if changes and not guards.list_is_on_record(view):
        return Await("RecordingMembers", "recording the member list before it is changed", 0.05)
    if isinstance(move, WriteWorkload) and not absent.beginning_is_on_record(view):
        return Await("RecordingBeginning", "recording how many members begin together", 0.05)
    return move


# -------------------------------------------------------------------------- rows of their own


def _paused(_: View) -> Move:
    return Await("Paused", "paused: looking, and changing nothing", 60.0)


def _flawed_secret(view: View) -> Move | None:
    """Touch nobody while members could not start with their certificates, or not be asked."""
    if not view.secret_flaw:
        return None
    return Refuse(
        "SecretInvalid",
        f"{view.secret_flaw}; no pod is touched",
        "put the right PEM text into that secret, or name another one in security.tls",
    )


def _foreign_workload(view: View) -> Move | None:
    workload, name = view.workload, view.cluster.metadata.name
    if workload is None or workload.owner_uid in {"", view.cluster.metadata.uid}:
        if workload is not None and workload.deleting:
            return Await("WorkloadLeaving", "waiting for a deleted StatefulSet to go")
        return None
    if workload.deleting:
        return Await("WorkloadLeaving", "waiting for the StatefulSet of an earlier cluster to go")
    return Refuse(
        "NameTaken",
        f"StatefulSet {name} is there and belongs to somebody else",
        f"if it is left over, delete it: kubectl delete statefulset {name}; with --cascade=orphan"
        " its pods run on",
    )


def _taken_claim(view: View) -> Move | None:
    """Leave alone whose volume has the name that ours would have: a pod would start on it."""
    if not view.taken_claims:
        return None
    names = ", ".join(view.taken_claims)
    return Refuse(
        "VolumeTaken",
        f"volume claim {names} has the name that ours would have, and holds another cluster's data",
        "give one of the two clusters another name, or its volumeClaimTemplate another",
    )


def end_force(view: View) -> Move | None:
    """Take force-new-cluster back as soon as anything answers; row 2.

    Left on, the next start of any member would drop the others. It stays only while a recovery
    waits for its survivor to start once, and while a lone sleeper has not woken yet.
    """
    config = view.config
    if config is None or not config.force_new_cluster:
        return None
    if not view.has_quorum and history.recovers(view):
        return None
    alone = view.workload is not None and view.workload.replicas <= 1
    if not view.reached and alone and configs.known_ordinals(view) == (0,):
        return None
    return WriteConfig(replace(config, force_new_cluster=False), "force-new-cluster ends")


def _split_brain(view: View) -> Move | None:
    ids = sorted(view.cluster_ids)
    if len(ids) < 2:
        return None
    return Refuse(
        "SplitBrain",
        f"members answer for different clusters: {', '.join(ids)}; nothing is changed",
        "find out which one has the data, and stop the other; docs/etcd/conditions tells how",
    )


def _rewound(view: View) -> Move | None:
    """Notice that data was lost though the ids are the same, as on an emptied disk."""
    if not history.rewound(view):
        return None
    status, seen = view.cluster.status, history.highest_revision(view)
    return Refuse(
        "DataRewound",
        f"the data is at revision {seen} with {len(view.roster)} members; {status.revision} was"
        f" seen before, with {len(status.last_known_members)} members; nothing is changed",
        "see who is listed and what is missing (docs/etcd/conditions tells how); then restore a"
        " snapshot into a new cluster, or accept it: set quorumRecovery.acceptDataLoss now",
    )


def _foreign_member(view: View) -> Move | None:
    strangers = [it.member for it in view.roster if it.ordinal is None]
    if not strangers:
        return None
    names = ", ".join(it.name or it.peer_urls[0] for it in strangers)
    return Refuse(
        "ForeignMember",
        f"etcd lists members that are not of this cluster's pods: {names}; nothing is changed",
        "remove them with etcdctl member remove, or run them elsewhere",
    )


def _promote(view: View) -> Move | None:
    """Give a learner a vote, once it has the data on a volume that stays."""
    for it in view.learners:
        if it.listed is None or not guards.is_steady(view, it) or doomed.is_doomed(it):
            continue
        if guards.gains_quorum_with(view, it):
            return Promote(it.listed.member.id, it.name)
    return None


def _only_when_well(row: Row) -> Row:
    """Ask a row only when every listed member is healthy and has a vote."""
    return lambda view: row(view) if guards.all_members_well(view) else None


def _set_auth(view: View) -> Move | None:
    """Turn logins on when asked for, and off only where we turned them on."""
    if not isinstance(view.auth_enabled, Known):
        return None
    wanted, is_on = view.cluster.spec.security.enable_auth, view.auth_enabled.value
    if wanted and not is_on:
        return SetAuth(enabled=True)
    if is_on and not wanted and view.cluster.status.auth_enabled:
        return SetAuth(enabled=False)
    return None


# -------------------------------------------------------------------------- the chart

OWNERSHIP: tuple[tuple[str, Row], ...] = (
    ("1a", _flawed_secret),
    ("17a", _foreign_workload),
    ("17c", _taken_claim),
)

#: Refusals that hold back one step, as they call it, and keep no later row from being asked.
PASSED: Final = {
    ("4a", "OnlyCopy"): "Recover",
    ("8c", "VolumeLeaving"): "Restart",
    ("9b", "NoSpace"): "MakeRoom",
    ("13", "VolumeLeaving"): "Shrink",
    ("19", "OnlyCopy"): "Roll",
    ("19", "VolumeLeaving"): "Roll",
}

#: Nobody answered.
SILENCE: tuple[tuple[str, Row], ...] = (("15,16,18", absent.begin),)

#: Somebody answered: who is it?
IDENTITY: tuple[tuple[str, Row], ...] = (
    ("2", end_force),
    ("3", _split_brain),
    ("3a", _rewound),
)

#: Not enough answered: bring pods back and wait.
NO_QUORUM: tuple[tuple[str, Row], ...] = (
    ("2", end_force),
    ("4a", recovery.recover),
    ("17", absent.stand_by),
    ("17b", repair.refresh_broken_pod),
    ("4b", recovery.miss_survivor),
    ("4", absent.wait_for_quorum),
)

#: A quorum agreed to the list just now.
QUORUM: tuple[tuple[str, Row], ...] = (
    ("5", _foreign_member),
    ("6a", repair.revert_learner),
    ("7", sizes.settle_config),
    # Only after the config calls a learner by its alias: as a voter it must not start anew.
    ("6", _promote),
    ("8", sizes.settle_workload),
    ("8b", sizes.adopt_workload),
    ("8a", sizes.own_claims),
    ("8c", doomed.tell),
    ("13a", sizes.drop_claims),
    ("6b", repair.free_learner),
    ("9a", space.quiet_the_removed),
    ("9b", space.make_room),
    ("9c", repair.refresh_broken_pod),
    ("9", repair.replace_unhealthy),
    ("6c", repair.await_learner),
    ("9d", repair.await_healthy),
    ("13", sizes.shrink),
    ("14", sizes.fall_asleep),
    ("10,12", _only_when_well(sizes.grow)),
    ("19", _only_when_well(rolling.roll)),
    ("21", _set_auth),
    # Last, since a class of volumes that cannot grow says no again and again.
    ("20", space.grow_claims),
)
