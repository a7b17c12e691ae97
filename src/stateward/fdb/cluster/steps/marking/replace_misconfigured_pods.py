"""ReplaceMisconfiguredPods: groups whose shape cannot be changed in place are replaced."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.cluster.hands.marking import mark
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import replacing

_AGAIN: Final = 15.0
_KEPT: Final = "take them out of cancelReplacementsForProcessGroups, or set back what must change"


class ReplaceMisconfiguredPods:
    """Marks them; others take their place before anything leaves them."""

    name = "ReplaceMisconfiguredPods"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Mark as many as may be replaced at a time."""
        found = replacing.misfits(seen.view, seen.pairs())
        if found.to_mark:
            why = "; ".join(sorted({it.why for it in found.to_mark}))
            return await mark(self._tools, seen, [it.group for it in found.to_mark], why)
        if found.waiting:
            return Retry(_AGAIN, "ReplacementWaits", told(found.held))
        return Blocked("ListsContradict", told(found.kept), _KEPT) if found.kept else DONE
