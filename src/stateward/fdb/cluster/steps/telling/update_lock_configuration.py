"""UpdateLockConfiguration: who must not act on the database is on record in it."""

from __future__ import annotations

from collections.abc import Collection

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api import questions
from stateward.fdb.api.options import LockOptions
from stateward.fdb.api.status import LockStatus
from stateward.fdb.cluster.hands import locked
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen


class UpdateLockConfiguration:
    """Has the deny list of the database be what the spec says, of whom it says something.

    Each entry once, which is on record: what another operator says of somebody after that is not
    taken back, neither by another edit of this spec nor by an operator that starts.
    """

    name = "UpdateLockConfiguration"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Write who is denied, and take back who is allowed again."""
        view, admin, spec = seen.view, seen.admin, seen.view.spec
        if not questions.uses_locks(spec) or not view.configured or admin is None:
            return DONE
        said = {it.id: not it.allow for it in spec.lock_options.deny_list}
        written = _written(view.status.locks, spec.lock_options)
        new = {who: denied for who, denied in said.items() if _word(who, denied) not in written}
        is_new = False
        try:
            if new:
                lock = locked.lock_of(view, self._tools.fence.keys(admin))
                is_new = await self._tools.fence.change(lock.deny, new)
        except PeerError as error:
            return trouble("the deny list is to be written", error)
        seen.book.deny_list = tuple(sorted(_word(*it) for it in said.items()))
        if not is_new:
            return DONE
        words = ", ".join(_word(*it) for it in new.items())
        return done("DenyListWritten", f"who may take the lock of the database is written: {words}")


def _word(who: str, denied: bool) -> str:  # noqa: FBT001 - as the list has it
    return f"{who}: {'denied' if denied else 'allowed'}"


def _written(record: LockStatus, options: LockOptions) -> Collection[str]:
    """Return what was written there where locks are now."""
    return record.deny_list_written if record.key_prefix == options.lock_key_prefix else ()
