"""CheckMaintenanceMode: while somebody works in a zone, nothing is taken from any other."""

from __future__ import annotations

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.status.maintenance import maintenance


class CheckMaintenanceMode:
    """Says that a zone is under maintenance, and for how long; it is not ended by us."""

    name = "CheckMaintenanceMode"

    async def run(self, seen: Seen) -> Outcome:
        """Tell of it."""
        found = maintenance(seen.view.database)
        if isinstance(found, Unknown) or found.value is None:
            return DONE
        seconds = found.value.seconds
        words = f"zone {found.value.zone} is under maintenance"
        return Retry(max(1.0, seconds), "ZoneUnderMaintenance", words)
