"""Whether a step may act now: all guards are asked, then the others, then the user once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import Blocked, Done, Outcome, Retry, wake_after
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import waits
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.guards.guard import Guard, Refusal, refusals

#: Seconds until a guard is asked again that cannot say when it would let something happen.
_AGAIN: Final = 10.0
_LATEST: Final = 60.0
_SOON: Final = 2.0


async def allowed(
    tools: Tools, seen: Seen, step: str, guards: Sequence[Guard], purpose: str
) -> Outcome | None:
    """Return what holds an act back, with every refusal noted; None: it may be done now."""
    return await _allowed(tools, seen, step, refusals(guards, seen.view), purpose)


async def allowed_alone(
    tools: Tools, seen: Seen, step: str, guards: Sequence[Guard], purpose: str
) -> Outcome | None:
    """The same for what one cluster of a database does at a time, of those that we keep.

    Whose turn that is, is looked at before the lock is taken: who only waits must not keep the lock
    from operators that could act.
    """
    view = seen.view
    other = tools.neighbours.whose(view)
    found = [*refusals(guards, view), *([] if other is None else [other])]
    why = await _allowed(tools, seen, step, found, purpose)
    if why is not None:
        return why
    # Another pass of ours may have taken the turn while we waited for the lock.
    taken = tools.neighbours.take(view)
    return None if taken is None else held(seen, step, (taken,), purpose)


async def _allowed(
    tools: Tools, seen: Seen, step: str, found: Sequence[Refusal], purpose: str
) -> Outcome | None:
    if found:
        return held(seen, step, found, purpose)
    taken = await tools.turn.take(seen, purpose)
    if taken is not None:
        return held(seen, step, (taken,), purpose)
    # The turn is ours for minutes; what the user wants may be another thing by now.
    if not await is_unchanged(tools.client, seen.cluster):
        return CHANGED
    late = tools.turn.lapsed(seen, purpose)
    return None if late is None else held(seen, step, (late,), purpose)


async def failed(tools: Tools, seen: Seen, what: str, error: PeerError) -> Outcome:
    """Tell of an act that was allowed and failed; what will not be done leaves the turn to others.

    It may fail for ever, and whoever keeps trying would keep the turn as long.
    """
    await tools.turn.leave(seen, error)
    return trouble(what, error)


def ended(seen: Seen, step: str, found: Outcome) -> Outcome:
    """End the pass for what is in the way; what a person must mend is told as such."""
    if isinstance(found, Done):
        return found
    hint = found.hint if isinstance(found, Blocked) else ""
    after = wake_after(found) or _SOON
    return waits(seen, step, after, found.reason, found.message, hint=hint)


def held(seen: Seen, step: str, found: Sequence[Refusal], purpose: str) -> Outcome:
    """Note refusals; return when to look again."""
    seen.book.refuse(step, found)
    times = [it.after for it in found if it.after is not None]
    after = min(_LATEST, max(times)) if times else _AGAIN
    words = "; ".join(it.message for it in found)
    lasting = "; ".join(it.lasting or it.message for it in found)
    return Retry(max(1.0, after), f"{step}Held", f"{purpose} waits: {words}", lasting)
