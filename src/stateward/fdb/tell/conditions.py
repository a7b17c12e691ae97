"""The seven conditions of a cluster.

Ready            everything is as asked, and nothing is left to do
Available        the database takes transactions
FullyReplicated  all data has all its copies
Progressing      the operator is about to change something
Degraded         something broke that worked before
Paused           the operator was told to look on
Heeded           all that the spec asks for is something that this release does
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.facts import Fact, Unknown
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.unheeded import unheeded
from stateward.fdb.decide.groups.coming import is_coming
from stateward.fdb.model.listing import some_of
from stateward.fdb.status import health
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.meta import Condition

TYPES: Final = (
    "Ready", "Available", "FullyReplicated", "Progressing", "Degraded", "Paused", "Heeded",
)  # fmt: skip
#: Of a group that stays: what is broken, rather than on its way; the worst first.
_BROKEN: Final = (
    GroupConditionType.PROCESS_HAS_IO_ERROR,
    GroupConditionType.POD_FAILING,
    GroupConditionType.MISSING_PROCESSES,
)
_SHOWN: Final = 3


def conditions_of(
    view: ClusterView, outcomes: Sequence[Outcome], *, reconciled: bool
) -> tuple[Condition, ...]:
    """Return what a cluster says of itself, after a pass that said so much."""
    waiting = next((it for it in outcomes if not isinstance(it, Done)), None)
    blocked = next((it for it in outcomes if isinstance(it, Blocked)), None)
    said = (
        _ready(view, waiting, reconciled=reconciled),
        _available(view),
        _replicated(view),
        _progressing(view, waiting, blocked, reconciled=reconciled),
        _degraded(view),
        _paused(view),
        _heeded(view),
    )
    return tuple(
        Condition(
            type=type_,
            status=status,
            reason=reason,
            message=message,
            observed_generation=view.generation,
        )
        for type_, (status, reason, message) in zip(TYPES, said, strict=True)
    )


def _ready(view: ClusterView, waiting: Outcome | None, *, reconciled: bool) -> tuple[str, str, str]:
    if view.spec.skip:
        return "Unknown", "Paused", "the operator only looks on: spec.skip is true"
    if reconciled:
        return "True", "Reconciled", "everything is as the spec says"
    return "False", *_words(waiting, "Reconciling", "the cluster is not as the spec says yet")


def _available(view: ClusterView) -> tuple[str, str, str]:
    if not view.configured:
        return "False", "DatabaseNotMade", "there is no database yet"
    return _fact(
        health.is_available(view.database),
        ("DatabaseAvailable", "the database takes transactions"),
        ("DatabaseUnavailable", "the database takes no transactions"),
    )


def _replicated(view: ClusterView) -> tuple[str, str, str]:
    if not view.configured:
        return "False", "DatabaseNotMade", "there is no database yet"
    return _fact(
        health.is_fully_replicated(view.database),
        ("AllCopiesThere", "all data has all its copies"),
        ("CopiesMissing", "data has fewer copies than it shall have, and is being copied"),
    )


def _fact(found: Fact[bool], yes: tuple[str, str], no: tuple[str, str]) -> tuple[str, str, str]:
    if isinstance(found, Unknown):
        return "Unknown", "DatabaseUnknown", found.reason
    return ("True", *yes) if found.value else ("False", *no)


def _progressing(
    view: ClusterView, waiting: Outcome | None, blocked: Blocked | None, *, reconciled: bool
) -> tuple[str, str, str]:
    if view.spec.skip:
        return "False", "Paused", "the operator only looks on: spec.skip is true"
    if blocked is not None:
        return "False", blocked.reason, blocked.message
    coming = [str(it.id) for it in view.unwell if not it.marked and is_coming(view, it)]
    if waiting is None and coming:
        shown = some_of(coming, _SHOWN)
        return (
            "True",
            "PodsComing",
            f"pods are made, or made anew; processes come: {shown}",
        )
    if waiting is None or reconciled:
        return "False", "Reconciled", "nothing is left to do"
    return "True", *_words(waiting, "Reconciling", "the cluster is being changed")


def _degraded(view: ClusterView) -> tuple[str, str, str]:
    available = health.is_available(view.database)
    if view.configured and not isinstance(available, Unknown) and not available.value:
        return "True", "DatabaseUnavailable", "the database takes no transactions"
    staying = [it for it in view.unwell if not it.marked and not _is_new(view, it)]
    for condition in _BROKEN:
        broken = [it for it in staying if it.has(condition)]
        if condition is GroupConditionType.MISSING_PROCESSES:  # what we do ourselves broke nothing
            broken = [it for it in broken if not is_coming(view, it)]
        if broken:
            shown = some_of([str(it.id) for it in broken], _SHOWN)
            return "True", str(condition), f"{len(broken)} of the process groups: {shown}"
    return "False", "AllWell", "nothing that worked before is broken"


def _is_new(view: ClusterView, group: GroupView) -> bool:
    """Tell whether a group has yet to begin: there is no database, or it never reported."""
    return not view.configured or not group.zone


def _paused(view: ClusterView) -> tuple[str, str, str]:
    if view.spec.skip:
        return "True", "Paused", "spec.skip is true"
    return "False", "NotPaused", "the operator acts"


def _heeded(view: ClusterView) -> tuple[str, str, str]:
    if not (fields := unheeded(view.spec)):
        return "True", "AllHeeded", "the spec asks for nothing that this release does not do"
    return "False", "ComesLater", f"these do nothing in this release: {'; '.join(fields)}"


def _words(outcome: Outcome | None, reason: str, message: str) -> tuple[str, str]:
    if outcome is None or isinstance(outcome, Done):
        return reason, message
    return outcome.reason, outcome.message
