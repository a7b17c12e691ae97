"""CheckPlace: processes are not told to be where the database could not do without them."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.saying import waits
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.layouts.moving import would_lack

_AGAIN: Final = 15.0


class CheckPlace:
    """Ends every pass, before files say so: a process that crashed would start elsewhere."""

    name = "CheckPlace"

    async def run(self, seen: Seen) -> Outcome:
        """Say what would lack."""
        wrong = would_lack(seen.view)
        if not wrong:
            return DONE
        hint = (
            "set it back; to have processes elsewhere, make a FoundationDBCluster there that joins"
            " by seedConnectionString, and then take this place out of databaseConfiguration"
        )
        return waits(seen, self.name, _AGAIN, "PlaceNeeded", wrong, hint=hint)
