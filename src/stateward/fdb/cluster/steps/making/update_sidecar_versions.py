"""UpdateSidecarVersions: before an upgrade of all at once, pods get the new programs."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.waiting import waiting_for
from stateward.fdb.cluster.seen import Seen


class UpdateSidecarVersions:
    """Says whose containers beside fdbserver are of another version."""

    name = "UpdateSidecarVersions"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for those groups."""
        return waiting_for(
            seen,
            GroupConditionType.INCORRECT_SIDECAR_IMAGE,
            "SidecarsOutdated",
            "have a sidecar of another version",
        )
