"""The list of those who have the programs of another version, in a database's keys.

Every operator lists its own, and all processes restart at once when everybody is listed. Who does
that takes the list away in the transaction in which it sees that it is complete, and that the lock
is its own: nobody else restarts them by the same list.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stateward.fdb.admin.errors import NothingDone
from stateward.fdb.admin.keyed.locking import LockKeys
from stateward.fdb.admin.keys import KeyTransaction
from stateward.fdb.model import prepared
from stateward.fdb.model.locks import Claim


class NotPrepared(NothingDone):
    """Somebody is not listed any more: nothing was done."""

    reason = "NotPrepared"


@dataclass(frozen=True, slots=True)
class PreparedKeys:
    """The list for one version, beside the lock of a database."""

    lock: LockKeys
    version: str

    async def add(self, groups: Collection[str]) -> frozenset[str]:
        """List some, as far as they are not; return who is listed then."""

        async def work(at: KeyTransaction) -> frozenset[str]:
            there = await self._there(at)
            for it in sorted({*groups} - there):
                at.set(self._key(it), it.encode())
            return there | {*groups}

        return await self.lock.keys.transact(work)

    async def take(self, claim: Claim, needed: Collection[str]) -> None:
        """Take the list away if all of some are on it, while the lock is ours; or raise."""

        async def work(at: KeyTransaction) -> None:
            there = await self._there(at)
            if missing := sorted({*needed} - there):
                raise NotPrepared(f"{', '.join(missing)} must have the programs, and have not")
            for it in there:
                at.clear(self._key(it))

        await self.lock.fenced(claim, work)

    async def remove(self, groups: Collection[str]) -> None:
        """Take some off the list."""

        async def work(at: KeyTransaction) -> None:
            for it in sorted({*groups} & await self._there(at)):
                at.clear(self._key(it))

        await self.lock.keys.transact(work)

    async def _there(self, at: KeyTransaction) -> frozenset[str]:
        rows = await at.get_range(*prepared.span(self.lock.prefix, self.version))
        found = prepared.read(self.lock.prefix, [key for key, _ in rows])
        return found.get(self.version, frozenset())

    def _key(self, group: str) -> bytes:
        return prepared.prepared_key(self.lock.prefix, self.version, group)
