"""AddPods: every group has a pod; the groups make them, whatever the database says."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.waiting import waiting_for
from stateward.fdb.cluster.seen import Seen


class AddPods:
    """Says whose pods are not there yet."""

    name = "AddPods"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for those groups."""
        return waiting_for(seen, GroupConditionType.MISSING_POD, "PodsMissing", "have no pod yet")
