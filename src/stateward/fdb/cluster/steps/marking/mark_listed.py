"""MarkListed: process groups that the spec, or somebody who deleted their objects, wants to go."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.cluster.hands.editing import edit
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.marking import mark, names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups.listed import listed
from stateward.fdb.model.listing import some_of
from stateward.fdb.views import GroupView

_ONE_BY_ONE: Final = "name groups one by one, and none that shall both go and stay"
_GONE: Final = "take them out of the list; `kubectl get fdbpg` shows who is there"
_SHOWN: Final = 5
#: What is no longer true of a group that shall stay after all.
_KEPT: Final = {
    "remove": False,
    "removalTimestamp": None,
    "excluded": False,
    "exclusionTimestamp": None,
    "exclusionSkipped": False,
}


class MarkListed:
    """Marks them; those that go with what they hold first, since these lose most by waiting."""

    name = "MarkListed"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Mark all that are named and not marked yet, and unmark those that shall stay."""
        found = listed(seen.view)
        for skip in (True, False):
            groups = [it for it in found.to_mark if it.skip is skip]
            if groups:
                why = "; ".join(sorted({it.why for it in groups}))
                return await mark(self._tools, seen, [it.group for it in groups], why, skip=skip)
        if found.to_keep:
            return await self._keep(seen, found.to_keep)
        if found.held:
            return Blocked("ListsContradict", told(found.held), _ONE_BY_ONE)
        if found.unknown_kept:
            names = some_of(found.unknown_kept, _SHOWN)
            words = f"cancelReplacementsForProcessGroups names groups that are not there: {names}"
            return Blocked("GroupUnknown", words, _GONE)
        return DONE

    async def _keep(self, seen: Seen, groups: tuple[GroupView, ...]) -> Outcome:
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED
        found = await edit(self._tools.client, seen.groups, {it.name: _KEPT for it in groups})
        return found or done("RemovalCancelled", f"{names_of(groups)} stay after all")
