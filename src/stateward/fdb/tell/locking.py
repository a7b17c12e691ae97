"""Why the lock of a database is not ours, in words for a person, and what to do about it. Pure."""

from __future__ import annotations

from typing import Final

from stateward.core.moments import to_rfc3339
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.locks import Claim, Lock, NotOurs

GUARD: Final = "turn_is_ours"
#: Seconds after which one who waits for a lock looks again at the latest: it may be let go.
_LATEST: Final = 30.0
#: Seconds by which clocks may differ with nothing said of it.
_SLACK: Final = 60
#: Seconds after which one that extends its lock again and again is told to a person.
_LONG: Final = 3600


def refused(found: NotOurs, mine: Claim, purpose: str) -> Refusal:
    """Return why a lock is not ours: who has it, since when, until when, and what to do."""
    needs = f"{purpose} needs the lock of the database"
    if found.denied:
        return Refusal(
            GUARD, f"{needs}, and its deny list has {mine.owner!r}", allowing(mine.owner)
        )
    holder = found.holder
    assert holder is not None  # noqa: S101 - nobody else keeps it from us
    until, since = to_rfc3339(holder.end), to_rfc3339(holder.start)
    words = f"{needs}, which {holder.owner!r} has until {until}, since {since}"
    lasting = f"{needs}, which {holder.owner!r} has since {since}"  # each of its acts extends it
    odd, hint = _odd(holder, mine)
    left = max(1.0, holder.end - mine.now)
    return Refusal(GUARD, words + odd, hint, min(left, _LATEST), lasting + odd)


def allowing(owner: str) -> str:
    """Return what lets one act again to whom the lock is denied."""
    return (
        f"{{id: {owner}, allow: true}} in the lockOptions.denyList of any cluster of the database"
        " lets it act again; where it is in a list already, take it out and put it in once more"
    )


def _odd(holder: Lock, mine: Claim) -> tuple[str, str]:
    """Return what is not as usual with another's lock, and what to do; nothing: it ends soon."""
    deny = (
        f"{{id: {holder.owner}}} in the lockOptions.denyList of this cluster lets others take the"
        " lock now, and keeps that one from acting until {allow: true} is said of it"
    )
    if holder.start > mine.now + _SLACK:
        odd = "; it was taken at a time that has yet to come: its clock is ahead of ours"
        return odd, f"set the clocks right; {deny}"
    if holder.end > mine.now + mine.seconds + _SLACK:
        odd = "; that is later than our lockDurationMinutes from now: its own may be more, or its"
        return f"{odd} clock is ahead of ours", f"see to both; {deny}"
    if mine.now - holder.start > _LONG:
        odd = "; it extends it again and again"
        return odd, f"see what that operator is at (its status.blockers); if it is stuck, {deny}"
    return "", ""
