"""The lock of a database in its keys: taken, let go, denied to somebody, and what it fences.

Each is one transaction. Who acts within ``fenced`` reads the lock in the very transaction in which
it acts: if another took it meanwhile, nothing of the act is committed, however long we slept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from stateward.core.errors import PeerConfused
from stateward.fdb.admin.errors import NothingDone
from stateward.fdb.admin.keys import Keys, KeyTransaction
from stateward.fdb.model import locks, prepared
from stateward.fdb.model.locks import Claim, Found, Lock, NotOurs

T = TypeVar("T")


class LockLost(NothingDone):
    """The lock is not ours: nothing was done."""

    reason = "LockLost"


@dataclass(frozen=True, slots=True)
class LockKeys:
    """The lock of one database, below a prefix of keys."""

    keys: Keys
    prefix: bytes = locks.PREFIX

    async def look(self) -> Found:
        """Return how it stands, and what is prepared; nothing is written."""

        async def work(at: KeyTransaction) -> Found:
            rows = dict(await at.get_range(*locks.every_key(self.prefix)))
            lock = self._understood(rows.get(locks.lock_key(self.prefix)))
            return Found(lock, self._denied(rows), prepared.read(self.prefix, rows))

        return await self.keys.transact(work)

    async def take(self, claim: Claim) -> Lock | NotOurs:
        """Take it or extend it; return whose it is if that may not be."""

        async def work(at: KeyTransaction) -> Lock | NotOurs:
            found = await self._found(at)
            wanted = locks.judged(found.lock, claim, found.denied)
            if isinstance(wanted, Lock):
                at.set(locks.lock_key(self.prefix), wanted.encode())
            return wanted

        return await self.keys.transact(work)

    async def release(self, owner: str) -> bool:
        """Let it go if it is ours; what another has is not touched."""

        async def work(at: KeyTransaction) -> bool:
            found = (await self._found(at)).lock
            if found is None or found.owner != owner:
                return False
            at.clear(locks.lock_key(self.prefix))
            return True

        return await self.keys.transact(work)

    async def deny(self, entries: Mapping[str, bool]) -> bool:
        """Have it be denied to some (True) and not to others (False); return whether that is new.

        To whom nothing is said, nothing is changed: other operators may have denied it to them.
        """

        async def work(at: KeyTransaction) -> bool:
            before = self._denied(await self._rows(at))
            changes = {it: denied for it, denied in entries.items() if denied != (it in before)}
            for owner, denied in changes.items():
                key = locks.denied_key(owner, self.prefix)
                if denied:
                    at.set(key, owner.encode())
                else:
                    at.clear(key)
            return bool(changes)

        return await self.keys.transact(work)

    async def fenced(self, claim: Claim, act: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do something by keys while the lock is ours; raise LockLost when it is not."""

        async def work(at: KeyTransaction) -> T:
            there = await self._found(at)
            found, denied = there.lock, there.denied
            if found is None or found.owner != claim.owner or claim.owner in denied:
                holder = f"{found.owner!r} has it" if found is not None else "nobody has it"
                raise LockLost(f"the lock must be ours while we act, and {holder}")
            if found.is_over(claim.now):
                raise LockLost(f"our lock must not be over while we act, and ended at {found.end}")
            return await act(at)

        return await self.keys.transact(work)

    async def _found(self, at: KeyTransaction) -> Found:
        rows = await self._rows(at)
        lock = self._understood(rows.get(locks.lock_key(self.prefix)))
        return Found(lock, self._denied(rows))

    async def _rows(self, at: KeyTransaction) -> dict[bytes, bytes]:
        """Read all of it at once: it lies side by side, and each question may run a program."""
        return dict(await at.get_range(*locks.all_keys(self.prefix)))

    def _denied(self, rows: Mapping[bytes, bytes]) -> tuple[str, ...]:
        named = (locks.denied_by(it, self.prefix) for it in rows)
        return tuple(it for it in named if it is not None)

    def _understood(self, raw: bytes | None) -> Lock | None:
        if raw is None:
            return None
        try:
            return Lock.decode(raw)
        except ValueError as error:
            key = locks.lock_key(self.prefix).decode(errors="backslashreplace")
            raise PeerConfused(
                f"{key} must be a lock of operators: {error}",
                hint="clear this key if nobody else uses it, or set spec.lockOptions.lockKeyPrefix",
            ) from None
