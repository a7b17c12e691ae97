"""The six conditions: what a situation means for those who wait, alert and write.

Ready        everything is as asked, and nothing is left to do
Available    clients can write
Quorate      a majority agreed to something just now
Progressing  the operator is about to change something
Degraded     something broke that worked before
Paused       the operator was told to look on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stateward.core.outcome import Blocked, Done, Outcome
from stateward.etcd.model.view import View
from stateward.etcd.tell.reasons import Reason
from stateward.etcd.tell.situation import Situation
from stateward.kube.meta import Condition

TYPES = ("Ready", "Available", "Quorate", "Progressing", "Degraded", "Paused")


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a situation means: + holds, - does not, ? unknown; q as the quorum, w while at work."""

    ready: str
    available: str
    progressing: str
    degraded: str


_MEANING = {
    #                                      ready, available, progressing, degraded
    Reason.ALL_MEMBERS_HEALTHY: _Meaning("+", "+", "w", "-"),
    Reason.ASLEEP: _Meaning("+", "-", "w", "-"),
    Reason.FALLING_ASLEEP: _Meaning("-", "q", "+", "-"),
    Reason.WAKING: _Meaning("-", "q", "+", "-"),
    Reason.DELETING: _Meaning("-", "q", "+", "-"),
    Reason.FIRST_QUORUM_PENDING: _Meaning("-", "-", "+", "-"),
    Reason.QUORUM_LOST: _Meaning("-", "-", "w", "+"),
    Reason.QUORUM_UNCONFIRMED: _Meaning("?", "?", "-", "?"),
    Reason.UNREACHABLE: _Meaning("?", "?", "-", "?"),
    Reason.NOT_OBSERVED: _Meaning("?", "?", "-", "?"),
    Reason.SPLIT_BRAIN: _Meaning("-", "-", "-", "+"),
    Reason.FOREIGN_MEMBER: _Meaning("-", "+", "-", "+"),
    Reason.DATA_REWOUND: _Meaning("-", "+", "-", "+"),
    Reason.CORRUPT: _Meaning("-", "-", "w", "+"),
    Reason.NO_SPACE: _Meaning("-", "-", "w", "+"),
    Reason.MEMBERS_UNHEALTHY: _Meaning("-", "+", "w", "+"),
    Reason.REPLACING: _Meaning("-", "+", "+", "+"),
    Reason.SCALING: _Meaning("-", "+", "+", "-"),
    Reason.ENABLING_AUTH: _Meaning("-", "+", "+", "-"),
    Reason.ROLLING: _Meaning("-", "+", "+", "-"),
    Reason.UPGRADING: _Meaning("-", "+", "+", "-"),
}
_STATUS = {"+": "True", "-": "False", "?": "Unknown"}


def conditions_of(
    view: View, situation: Situation, outcomes: Sequence[Outcome]
) -> tuple[Condition, ...]:
    """Return what a cluster in a situation says of itself, after a pass that said so much."""
    meaning = _MEANING[situation.reason]
    said = (
        _ready(meaning, situation, outcomes),
        _available(view, meaning, situation),
        _quorate(view, situation),
        _progressing(view, meaning, situation, outcomes),
        _degraded(view, meaning, situation),
        _paused(view),
    )
    generation = view.cluster.metadata.generation
    return tuple(
        Condition(
            type=type_,
            status=status,
            reason=str(reason),
            message=text,
            observed_generation=generation,
        )
        for type_, (status, reason, text) in zip(TYPES, said, strict=True)
    )


def _ready(
    meaning: _Meaning, situation: Situation, outcomes: Sequence[Outcome]
) -> tuple[str, str, str]:
    """What only a person can resolve is not as asked, however healthy the members are."""
    blocked = _first_blocked(outcomes)
    if blocked is not None:
        return "False", blocked.reason, blocked.message
    return _STATUS[meaning.ready], situation.reason, situation.message


def _available(view: View, meaning: _Meaning, situation: Situation) -> tuple[str, str, str]:
    if meaning.available == "+" or (meaning.available == "q" and view.has_quorum):
        return "True", Reason.QUORUM_AGREES, "clients can read and write"
    return _STATUS.get(meaning.available, "False"), situation.reason, situation.message


def _quorate(view: View, situation: Situation) -> tuple[str, str, str]:
    if view.has_quorum:
        return "True", Reason.QUORUM_AGREES, "a majority of the members agrees"
    unsure = _MEANING[situation.reason].available == "?"
    return "Unknown" if unsure else "False", situation.reason, situation.message


def _progressing(
    view: View, meaning: _Meaning, situation: Situation, outcomes: Sequence[Outcome]
) -> tuple[str, str, str]:
    first = next((it for it in outcomes if not isinstance(it, Done)), None)
    if view.cluster.spec.paused:
        return "False", Reason.PAUSED, "paused: nothing is changed"
    if isinstance(first, Blocked):
        return "False", first.reason, first.message
    if meaning.progressing == "w" and first is not None:
        settled = _STATUS[meaning.ready] == "True"
        return "True", Reason.TENDING if settled else situation.reason, first.message
    status = "True" if meaning.progressing == "+" else "False"
    return status, situation.reason, situation.message


def _degraded(view: View, meaning: _Meaning, situation: Situation) -> tuple[str, str, str]:
    all_well = view.voters and view.healthy_voters == view.voters
    if meaning.degraded == "-" and all_well:
        return "False", Reason.ALL_MEMBERS_HEALTHY, "every member that votes is healthy"
    return _STATUS[meaning.degraded], situation.reason, situation.message


def _paused(view: View) -> tuple[str, str, str]:
    if view.cluster.spec.paused:
        return "True", Reason.PAUSED, "spec.paused is true: the operator only looks and tells"
    return "False", Reason.NOT_PAUSED, "the operator looks after the cluster"


def _first_blocked(outcomes: Sequence[Outcome]) -> Blocked | None:
    return next((it for it in outcomes if isinstance(it, Blocked)), None)
