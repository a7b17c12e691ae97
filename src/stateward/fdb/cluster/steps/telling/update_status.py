"""UpdateStatus: what was learned is on record before anything is done by it."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.seen import Seen


class UpdateStatus:
    """Ends a pass that learned something which later ones must not forget.

    The whole status is written at the end of every pass, from what was seen and said. What must be
    on record first is how the database is found, that it was made, and which version runs: whoever
    comes after us acts by it.
    """

    name = "UpdateStatus"

    async def run(self, seen: Seen) -> Outcome:
        """Say what is new."""
        view, former = seen.view, seen.cluster.status
        new = []
        if view.connection is not None and str(view.connection) != former.connection_string:
            new.append(f"the database is found at {view.connection}")
        if view.configured and not former.configured:
            new.append("the database is there")
        if str(view.running_version) != former.running_version:
            new.append(f"version {view.running_version} runs")
        if not new:
            return DONE
        return done("StatusRecorded", "; ".join(new))
