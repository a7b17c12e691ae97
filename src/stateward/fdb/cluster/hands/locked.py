"""The lock that operators of one database share, before an act that concerns all of it.

It is taken anew right before each act. Acts that are transactions themselves read it once more in
the very transaction in which they act: whoever lost it meanwhile commits nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, Protocol, TypeAlias

from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.core.moments import to_rfc3339
from stateward.fdb.admin.errors import DatabaseRefused, ProgramUnusable, is_undone
from stateward.fdb.admin.errors import Refusal as No
from stateward.fdb.admin.keyed.locking import LockKeys
from stateward.fdb.admin.keys import COORDINATORS, Conflicted, Keys, KeyTransaction, excluded_key
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands.fence import Fence
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.model.locks import Claim, Found, Lock
from stateward.fdb.tell.locking import GUARD, refused
from stateward.fdb.views import ClusterView

#: Looks once more, in the transaction that acts, whether it may; raises when it may not.
Check: TypeAlias = Callable[[KeyTransaction], Awaitable[None]]

#: Seconds after which one looks again whom another was a moment ahead of.
_SOON: Final = 1.0


class Turn(Protocol):
    """Who says whether it is our turn."""

    async def take(self, seen: Seen, purpose: str) -> Refusal | None:
        """Take the turn for an act; return why it is not ours."""

    def lapsed(self, seen: Seen, purpose: str) -> Refusal | None:
        """Return that the turn is over which was taken: we may have stood still since."""

    async def leave(self, seen: Seen, error: PeerError) -> None:
        """Leave the turn to others if an act failed and surely was not done."""


class Locks(Turn):
    """Takes the lock of the database, where there can be other operators."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def take(self, seen: Seen, purpose: str) -> Refusal | None:
        """Take the lock for an act, or extend it."""
        if not questions.uses_locks(seen.view.spec):
            return None
        if seen.admin is None:
            return Refusal(GUARD, f"{purpose} needs the lock of a database that is not there yet")
        # Not when the pass began: that may be long ago, and so short a lock would be nobody's.
        keys = lock_of(seen.view, self._fence.keys(seen.admin))
        mine = claim(seen.view, self._fence.now())
        try:
            found = await self._fence.change(keys.take, mine)
        except PeerError as error:
            words = f"{purpose} needs the lock of the database: {error.message}"
            # Somebody else came at the same moment: whose it is now can be read at once.
            after = _SOON if isinstance(error, Conflicted) else None
            return Refusal(GUARD, words, error.hint, after=after)
        holder = found if isinstance(found, Lock) else found.holder
        denied = seen.book.locks.denied if seen.book.locks else ()
        seen.book.locks = Found(holder, denied)
        return None if isinstance(found, Lock) else refused(found, mine, purpose)

    def lapsed(self, seen: Seen, purpose: str) -> Refusal | None:
        """Return that the lock is over: what is no transaction does not look at it again."""
        lock = seen.book.locks.lock if seen.book.locks is not None else None
        is_used = questions.uses_locks(seen.view.spec)
        if not is_used or lock is None or not lock.is_over(self._fence.now()):
            return None
        words = f"{purpose} needs the lock of the database, which was ours until"
        return Refusal(GUARD, f"{words} {to_rfc3339(lock.end)}", after=_SOON)

    async def leave(self, seen: Seen, error: PeerError) -> None:
        """Let go of the lock after an act that the database did not want, or nobody could ask for.

        Not after one that may have been done, or may yet be: others wait until the lock ends then.
        """
        no = isinstance(error, DatabaseRefused | ProgramUnusable) and is_undone(error)
        if not no or seen.admin is None or not questions.uses_locks(seen.view.spec):
            return
        keys = lock_of(seen.view, self._fence.keys(seen.admin))
        owner = questions.lock_owner(seen.view.spec)
        with suppress(PeerError):  # then it ends by itself
            if await self._fence.change(keys.release, owner):
                denied = seen.book.locks.denied if seen.book.locks else ()
                seen.book.locks = Found(None, denied)


def lock_of(view: ClusterView, keys: Keys) -> LockKeys:
    """Return the lock of a cluster's database."""
    return LockKeys(keys, questions.lock_prefix(view.spec))


def claim(view: ClusterView, now: float) -> Claim:
    """Return what this operator may have of it, from now on.

    While its prefix changes it has process groups of both, and what it took before is its own. Not
    for the sake of one that goes, and may be stuck for days: the name may be another's by then.
    """
    seconds = view.spec.lock_options.lock_duration_minutes * 60
    owner = questions.lock_owner(view.spec)
    formerly = frozenset(it.id.prefix for it in view.groups if not it.leaving) - {owner}
    return Claim(owner, int(now), seconds, formerly)


# ------------------------------------------------------------------ acts that are transactions


async def exclude(fence: Fence, seen: Seen, admin: Admin, targets: Sequence[Exclusion]) -> None:
    """Have data leave some; raise LockLost when the lock is not ours any more."""
    if not questions.uses_locks(seen.view.spec):
        await fence.change(admin.exclude, targets)
        return
    await _fenced(fence, seen.view, admin, {excluded_key(it): b"" for it in targets})


async def include(fence: Fence, seen: Seen, admin: Admin, targets: Sequence[Exclusion]) -> None:
    """Let some have data again; raise LockLost when the lock is not ours any more."""
    if not questions.uses_locks(seen.view.spec):
        await fence.change(admin.include, targets)
        return
    await _fenced(fence, seen.view, admin, {excluded_key(it): None for it in targets})


async def change_coordinators(
    fence: Fence, seen: Seen, admin: Admin, addresses: Sequence[Address], check: Check | None = None
) -> ConnectionString:
    """Have others coordinate; return how the database is found from then on.

    Raise LockLost when the lock is not ours any more, and what the check raises.
    """
    if check is None and not questions.uses_locks(seen.view.spec):
        return await fence.change(admin.change_coordinators, addresses)
    words = ",".join(map(str, addresses)).encode()
    try:
        await _fenced(fence, seen.view, admin, {COORDINATORS: words}, check)
    except OutcomeUnknown:
        pass  # of such a commit nobody is ever told
    except DatabaseRefused as error:
        if error.refusal is not No.UNCHANGED:  # then it was done before, and nobody told us
            raise
    await admin.status()  # whoever asks learns where coordinators went
    found = await admin.connection_string()
    if set(found.coordinators) != set(addresses):
        raise OutcomeUnknown("the database does not name the new coordinators yet")
    return found


async def _fenced(
    fence: Fence,
    view: ClusterView,
    admin: Admin,
    writes: dict[bytes, bytes | None],
    check: Check | None = None,
) -> None:
    keys, act = fence.keys(admin), _writing(writes, check)
    if questions.uses_locks(view.spec):
        await fence.change(lock_of(view, keys).fenced, claim(view, fence.now()), act)
    else:
        await fence.change(keys.transact, act)


def _writing(writes: dict[bytes, bytes | None], check: Check | None) -> Check:
    async def act(at: KeyTransaction) -> None:
        if check is not None:
            await check(at)
        for key, value in writes.items():
            if value is None:
                at.clear(key)
            else:
                at.set(key, value)

    return act
