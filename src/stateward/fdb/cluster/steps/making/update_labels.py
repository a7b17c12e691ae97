"""UpdateLabels: labels and annotations are as the spec says; those of others stay."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.waiting import waiting_for
from stateward.fdb.cluster.seen import Seen


class UpdateLabels:
    """Says on whose pods they are not yet."""

    name = "UpdateLabels"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for those groups."""
        return waiting_for(
            seen,
            GroupConditionType.INCORRECT_POD_METADATA,
            "LabelsMissing",
            "have other labels yet",
        )
