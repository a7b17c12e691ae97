"""The status of a cluster, derived from what was seen and from what the pass said. Pure.

Feeding it its own result, later, gives the same result: at rest nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from stateward.core.facts import Known
from stateward.core.outcome import Done, Outcome
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.decide.refusals import Refusal
from stateward.etcd.model import history
from stateward.etcd.model.names import labels
from stateward.etcd.model.view import View
from stateward.etcd.tell import latches
from stateward.etcd.tell.conditions import conditions_of
from stateward.etcd.tell.members import reports
from stateward.etcd.tell.progress import blockers, progress_of
from stateward.etcd.tell.reasons import Reason
from stateward.etcd.tell.situation import Situation, situation_of
from stateward.kube import conditions

#: How much of a sentence fits into a column of a table.
_COLUMN = 80


def status_of(
    view: View, said: Sequence[tuple[str, Outcome]], refusals: Sequence[Refusal]
) -> EtcdClusterStatus:
    """Return the status that the cluster should have; the view holds the one that it has."""
    former = view.cluster.status
    seen = _with_latches(view)
    situation = situation_of(seen)
    outcomes = [outcome for _, outcome in said]
    now_said = conditions_of(seen, situation, outcomes)
    told = msgspec.structs.replace(
        seen.cluster.status,
        observed_generation=view.cluster.metadata.generation,
        doing=_doing(seen, situation, outcomes),
        blockers=blockers(seen, said, refusals),
        conditions=conditions.merge(former.conditions, now_said, view.now),
    )
    if situation.reason is Reason.NOT_OBSERVED:
        return told  # what was seen last still stands
    told = _with_members(told, seen, situation)
    return msgspec.structs.replace(told, revision=latches.revision(view, told))


def _with_members(told: EtcdClusterStatus, seen: View, situation: Situation) -> EtcdClusterStatus:
    """Return a status with what the members say."""
    leader = seen.leader
    return msgspec.structs.replace(
        told,
        replicas=_voters(seen, situation),
        ready_members=f"{len(seen.healthy_voters)}/{seen.wanted}",
        selector=_selector(seen.cluster.metadata.name),
        leader=leader.name if leader is not None else "",
        version=_oldest_version(seen),
        members=reports(seen),
        auth_enabled=_auth_enabled(seen),
        progress=progress_of(seen, situation),
    )


def _with_latches(view: View) -> View:
    """Learn what is kept before telling, so that the next pass has nothing more to learn."""
    learned = msgspec.structs.replace(
        view.cluster.status,
        cluster_id=latches.cluster_id(view),
        last_known_members=latches.last_known_members(view),
    )
    return replace(view, cluster=msgspec.structs.replace(view.cluster, status=learned))


def _doing(view: View, situation: Situation, outcomes: Sequence[Outcome]) -> str:
    for outcome in outcomes:
        if not isinstance(outcome, Done):
            return _short(outcome.message)
    if view.cluster.spec.paused:
        return "paused: only looking"
    match situation.reason:
        case Reason.ALL_MEMBERS_HEALTHY:
            return "nothing to do"
        case Reason.ASLEEP:
            return "asleep"
        case _:
            return _short(situation.message)


def _short(sentence: str) -> str:
    """Cut a sentence between words where a column ends."""
    if len(sentence) <= _COLUMN:
        return sentence
    whole_words = sentence[:_COLUMN].rsplit(" ", 1)[0]
    return whole_words[: _COLUMN - 1].rstrip(" ;:,") + "…"


def _voters(view: View, situation: Situation) -> int:
    """Return how many vote; without a quorum, how many did."""
    if situation.reason is Reason.ASLEEP:
        return 0
    if view.has_quorum:
        return sum(not it.member.learner for it in view.roster)
    return sum(not it.learner for it in view.cluster.status.last_known_members)


def _selector(name: str) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels(name).items()))


def _oldest_version(view: View) -> str:
    """Return the oldest version that a member runs; the former one when nobody answers.

    Until this cluster had a quorum, whoever answers may be of an earlier one of this name.
    """
    if not view.cluster.status.cluster_id:
        return view.cluster.status.version
    versions = [it.version for it in history.answers(view) if it.version]
    return min(versions, key=_order, default=view.cluster.status.version)


def _order(version: str) -> tuple[tuple[int, ...], str]:
    """Order versions by their numbers, and what follows a dash by its letters."""
    numbers, _, rest = version.partition("-")
    return tuple(int(it) if it.isdecimal() else 0 for it in numbers.split(".")), rest


def _auth_enabled(view: View) -> bool:
    """Return whether logins are on by our doing, or about to be.

    It is on record before they are turned on: whoever comes after us must know whose they are, if
    they are to go again. An unanswered question changes nothing.
    """
    former = view.cluster.status.auth_enabled
    if not isinstance(view.auth_enabled, Known):
        return former
    return view.cluster.spec.security.enable_auth or (view.auth_enabled.value and former)
