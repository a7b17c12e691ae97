"""Whose processes are away because of what we do: that is no trouble, for as long as it may last.

A pod that we have made anew, or the pod of a group that we have just added, has as long as a
pending pod may hold others up. Whatever Kubernetes says is in its way counts at once.
"""

from __future__ import annotations

from typing import Final

from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.api.questions import pending_seconds
from stateward.fdb.views import ClusterView, GroupView

#: For how long an order counts that a pod shall be made anew.
ORDERED: Final = 60.0


def is_coming(view: ClusterView, group: GroupView) -> bool:
    """Tell whether the processes of a group are on their way, and nothing is in theirs."""
    if not group.has(Is.MISSING_PROCESSES) or (group.pod is not None and group.pod.trouble):
        return False
    return _is_made_anew(view, group) or _is_new(view, group)


def _is_new(view: ClusterView, group: GroupView) -> bool:
    """Tell whether a group was just made, and none of its processes was ever there."""
    return not group.reported and view.now - group.created < pending_seconds(view.spec)


def _is_made_anew(view: ClusterView, group: GroupView) -> bool:
    """Tell whether they went by our order; who was away before it is not away because of it."""
    until, since = group.ordered_until, group.conditions[Is.MISSING_PROCESSES]
    if until is None or since < until - ORDERED:
        return False
    return view.now < until + pending_seconds(view.spec)
