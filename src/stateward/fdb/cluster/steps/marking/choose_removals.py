"""ChooseRemovals: of a class with too many groups, those go whose loss the others feel least."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.cluster.hands.asking import held
from stateward.fdb.cluster.hands.marking import mark
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import removals

_KEPT: Final = "take some out of cancelReplacementsForProcessGroups, or want more in processCounts"


class ChooseRemovals:
    """Marks them."""

    name = "ChooseRemovals"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Mark what is too many."""
        found, few = removals.without_too_few(seen.view, removals.surplus(seen.view))
        if few and not found:
            return held(seen, self.name, few, "removing")
        seen.book.refuse(self.name, few)
        if not found:
            kept = removals.contradicted(seen.view)
            return Blocked("ListsContradict", told(kept), _KEPT) if kept else DONE
        return await mark(self._tools, seen, found, "fewer of their class are wanted")
