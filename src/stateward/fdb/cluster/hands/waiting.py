"""Waiting for the controller of process groups, which makes what a step has decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome, Wait
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.held import Held
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube import conditions as kube

_SHOWN: Final = 3
#: What the controller of groups cannot do without a person.
_REFUSALS: Final = frozenset({"ObjectRefused", "QuotaExceeded", "ClaimTaken", "NameTaken"})
_LOOK: Final = "kubectl get fdbpg says what is in the way"


def told(held: Sequence[Held]) -> str:
    """Return who waits and why, in words, and only some of many."""
    shown = "; ".join(f"{it.group}: {it.why}" if it.group else it.why for it in held[:_SHOWN])
    more = len(held) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown


def lacking(view: ClusterView, condition: GroupConditionType) -> list[GroupView]:
    """Return the groups of which a condition is true, and that are not on their way out."""
    return [it for it in view.unwell if it.has(condition) and not it.leaving]


def waiting_for(seen: Seen, condition: GroupConditionType, reason: str, lacks: str) -> Outcome:
    """Say who lacks something; its controller is at it, and an event will tell.

    What that one needs a person for is told of the cluster, too: else it would wait for ever.
    """
    found = lacking(seen.view, condition)
    if not found:
        return DONE
    many = f"{len(found)} of {len(seen.view.groups)} process groups"
    words = f"{many} {lacks}: {names_of(found)}"
    return next(_refused(seen, found, words), None) or Wait(reason, words)


def _refused(seen: Seen, groups: Sequence[GroupView], words: str) -> Iterator[Blocked]:
    """Yield what keeps groups from what they lack, by their own word."""
    for it in groups:
        status = seen.object_of(it).status
        ready = kube.find(status.conditions, GroupConditionType.READY)
        if ready is not None and ready.status == "False" and ready.reason in _REFUSALS:
            hint = status.doing.removeprefix(ready.message).lstrip("; ") or _LOOK
            if ready.reason == "QuotaExceeded":
                hint += _instead(seen.view)
            yield Blocked(ready.reason, f"{words}; {it.id}: {ready.message}", hint)


def _instead(view: ClusterView) -> str:
    """Return whom to keep, where replacements ask for more than there is."""
    going = [it for it in view.groups if it.marked and not it.leaving]
    if not going:
        return ""
    return f"; or keep who is replaced: cancelReplacementsForProcessGroups ({names_of(going)})"
