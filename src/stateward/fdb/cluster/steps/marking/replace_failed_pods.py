"""ReplaceFailedPods: groups that have failed for long are replaced, if the spec allows it."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.cluster.hands.marking import mark
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import failures

_AGAIN: Final = 15.0


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
        return Retry(_AGAIN, "ReplacementWaits", told(waiting)) if waiting else DONE
