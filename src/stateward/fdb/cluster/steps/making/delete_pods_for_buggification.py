"""DeletePodsForBuggification: faults that are asked for reach pods at once, unguarded."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.editing import edit, obsolete
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.making.update_process_groups import shape_difference
from stateward.fdb.decide.groups.faults import fault_changes


class DeletePodsForBuggification:
    """Has pods made anew whose faults are to begin or to end."""

    name = "DeletePodsForBuggification"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Write what is wanted of those groups, and that their pods are to go."""
        changes, groups = {}, []
        for it, now, wanted in seen.pairs():
            if fault_changes(now, wanted):
                pod = it.pod.uid if it.pod is not None else ""
                changes[it.name] = shape_difference(now, wanted) | obsolete(pod, seen.view.now)
                groups.append(it)
        if not changes:
            return DONE
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        found = await edit(self._client, seen.groups, changes)
        words = f"pods of {names_of(groups)} are made anew with other faults"
        return found or done("FaultsChanged", words)
