"""AddPVCs: every group with data has a claim; the groups make them."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.waiting import lacking, waiting_for
from stateward.fdb.cluster.seen import Seen


class AddPVCs:
    """Says whose claims are not there yet."""

    name = "AddPVCs"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for those groups; a claim that goes stays for as long as a pod has it."""
        missing = GroupConditionType.MISSING_PVC
        if any(it.has_claim for it in lacking(seen.view, missing)):
            lacks = "have no claim, or one that is being deleted"
            return waiting_for(seen, missing, "ClaimsTerminating", lacks)
        return waiting_for(seen, missing, "ClaimsMissing", "have no claim yet")
