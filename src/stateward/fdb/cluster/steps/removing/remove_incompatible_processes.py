"""RemoveIncompatibleProcesses: a process of another protocol that cannot join is started anew."""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.editing import edit, obsolete
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.status import incompatible
from stateward.fdb.views import ClusterView, GroupView, PodSeen

#: Seconds in which a process comes back by itself after all were started anew: who knocked before
#: that is remembered for a while.
_COMING: Final = 60.0


class RemoveIncompatibleProcesses:
    """Has pods made anew whose processes knock and do not belong; they serve nobody."""

    name = "RemoveIncompatibleProcesses"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Have them made anew, unless all are about to change to what these speak already."""
        view = seen.view
        if not view.configured or view.staging:
            return DONE
        knocking = incompatible.hosts(view.database)
        if isinstance(knocking, Unknown) or not knocking.value:
            return DONE
        groups = [
            it
            for it in view.groups  # who shall go, too, while something is left on it
            if it.pod is not None
            and not it.leaving
            and not (it.marked and it.holds_nothing)
            and not it.processes
            and it.obsolete_pod != it.pod.uid
            and it.pod.terminating_since is None
            and not knocking.value.isdisjoint(it.addresses)
            and _had_time(view, it, it.pod)
        ]
        if not groups:
            return DONE
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        changes = {it.name: obsolete(it.pod.uid, view.now) for it in groups if it.pod is not None}
        found = await edit(self._client, seen.groups, changes)
        words = f"{names_of(groups)} speak another protocol, and are started anew"
        return found or done("IncompatibleProcesses", words)


def _had_time(view: ClusterView, it: GroupView, pod: PodSeen) -> bool:
    """Tell whether it is late; a pod before this one may have knocked, from the same address."""
    lasts = it.lasts(GroupConditionType.MISSING_PROCESSES, view.now)
    return lasts is not None and min(lasts, view.now - pod.created) >= _COMING
