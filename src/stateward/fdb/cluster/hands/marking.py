"""Marking process groups: from then on they are emptied, and go when nothing is left on them."""

from __future__ import annotations

from collections.abc import Sequence

from stateward.core.moments import to_rfc3339
from stateward.core.outcome import Outcome
from stateward.fdb.cluster.hands.editing import edit
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.model.listing import some_of
from stateward.fdb.views import GroupView
from stateward.kube.codec import Json

_MANY = 5
#: Whatever somebody wrote before: that nothing is left is proved of who is marked.
_UNPROVED: Json = {"excluded": False, "exclusionTimestamp": None}


async def mark(
    tools: Tools, seen: Seen, groups: Sequence[GroupView], why: str, *, skip: bool = False
) -> Outcome:
    """Mark groups for removal, and end the pass: who follows must see them as they are then."""
    if not await is_unchanged(tools.client, seen.cluster):
        return CHANGED
    fields: Json = {"remove": True, "removalTimestamp": to_rfc3339(seen.view.now)}
    if skip:
        fields |= {"exclusionSkipped": True}
    changes = {it.name: fields if it.marked else {**fields, **_UNPROVED} for it in groups}
    found = await edit(tools.client, seen.groups, changes)
    if found is not None:
        return found
    every = [str(it.id) for it in groups]
    words = f"process groups shall go ({why}): {names_of(groups)}"
    return done("MarkedForRemoval", words, groups=every, without_exclusion=skip)


def names_of(groups: Sequence[GroupView]) -> str:
    """Return groups in words, and only some of many.

    >>> names_of(())
    'nobody'
    """
    return some_of([str(it.id) for it in groups], _MANY) or "nobody"
