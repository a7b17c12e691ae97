"""AddPVCs: every group with data has a claim; the groups make them."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.waiting import waiting_for
from stateward.fdb.cluster.seen import Seen


class AddPVCs:
    """Says whose claims are not there yet."""

    name = "AddPVCs"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for those groups."""
        return waiting_for(
            seen.view, GroupConditionType.MISSING_PVC, "ClaimsMissing", "have no claim yet"
        )
