"""ReplaceFailedPods: groups that have failed for long are replaced, if the spec allows it."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.cluster.hands.marking import mark
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import failures
from stateward.fdb.guards.guard import Refusal

_AGAIN: Final = 15.0
_CALM: Final = (
    "see what happens to the nodes; name groups in processGroupsToRemove, or let more be tainted:"
    " automationOptions.replacements.maxFaultDomainsWithTaintedProcessGroups"
)
_NODES: Final = "let the operator list nodes (rbac.nodes of the chart), or name no taints"

_KEPT: Final = (
    "if it does not come back, take it out of automationOptions.cancelReplacementsForProcessGroups"
)


class ReplaceFailedPods:
    """Marks them, few at a time."""

    name = "ReplaceFailedPods"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Mark as many as may be replaced at a time."""
        found, waiting = failures.judged(seen.view)
        if found:
            why = "; ".join(f"{it.condition} for {it.lasts:.0f} s" for it in found)
            return await mark(self._tools, seen, [it.group for it in found], why)
        if seen.view.spec.automation_options.replacements.enabled:
            if storm := failures.storm(seen.view):
                return Blocked("ReplacementStorm", f"nobody is replaced: {storm}", _CALM)
            if seen.view.taints_unknown:
                words = f"nobody is replaced for a taint: {seen.view.taints_unknown}"
                return Blocked("NodesUnreadable", words, _NODES)
        if not waiting:
            return DONE
        if failures.kept(seen.view):  # others wait by themselves, and that one for a person
            seen.book.refuse(self.name, [Refusal("ReplacementWaits", told(waiting), _KEPT)])
        return Retry(_AGAIN, "ReplacementWaits", told(waiting))
