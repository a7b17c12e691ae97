"""MarkListed: process groups that the spec, or somebody who deleted their objects, wants to go."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.marking import mark
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.tools import Tools
from stateward.fdb.decide import listed


class MarkListed:
    """Marks them; those that go with what they hold first, since a group is marked once."""

    name = "MarkListed"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Mark all that are named and not marked yet."""
        found = listed.named(seen.view)
        if found.skipping:
            why = "spec.processGroupsToRemoveWithoutExclusion names them"
            return await mark(self._tools, seen, found.skipping, why, skip=True)
        if found.emptying:
            why = "spec.processGroupsToRemove names them"
            return await mark(self._tools, seen, found.emptying, why)
        deleted = [it for it in seen.view.groups if it.leaving and not it.marked]
        if deleted:
            why = "their objects were deleted, so they are replaced"
            return await mark(self._tools, seen, deleted, why)
        return DONE
