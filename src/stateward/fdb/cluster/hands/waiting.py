"""Waiting for the controller of process groups, which makes what a step has decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.outcome import DONE, Outcome, Wait
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.decide.held import Held
from stateward.fdb.views import ClusterView, GroupView

_SHOWN: Final = 3


def told(held: Sequence[Held]) -> str:
    """Return who waits and why, in words, and only some of many."""
    return "; ".join(f"{it.group}: {it.why}" if it.group else it.why for it in held[:_SHOWN])


def lacking(view: ClusterView, condition: GroupConditionType) -> list[GroupView]:
    """Return the groups of which a condition is true, and that are not on their way out."""
    return [it for it in view.unwell if it.has(condition) and not it.leaving]


def waiting_for(
    view: ClusterView, condition: GroupConditionType, reason: str, lacks: str
) -> Outcome:
    """Say who lacks something; its controller is at it, and an event will tell."""
    found = lacking(view, condition)
    if not found:
        return DONE
    many = f"{len(found)} of {len(view.groups)} process groups"
    return Wait(reason, f"{many} {lacks}: {names_of(found)}")
