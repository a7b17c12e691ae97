"""Keys that are taken away for a restore: once, and never of a database that is being restored.

fdbcli could do it too (``clearrange``), but who hears no answer there knows nothing: what comes
late would take away what was restored meanwhile. Here the transaction that takes keys away leaves a
mark beside the lock of operators, and does nothing where the mark is there, or the database is
locked, as it is while a restore goes on. So however often and however late it is carried out, it is
done once; and once somebody has seen the mark, nothing can come any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.fdb.admin.backups.ports import Clearing
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.admin.keys import Keys, KeyTransaction
from stateward.fdb.model.backups import USER_KEYS, KeyRange, check_tag

#: Beside what operators share; no backup has it, and no restore looks there.
MARKS: Final = b"\xff\x02/stateward/cleared-for/"
_LOCKED: Final = b"\xff\xff/management/db_locked"
_DONE: Final = b"done"


@dataclass(frozen=True, slots=True)
class KeyClearing(Clearing):
    """Keys of one database."""

    keys: Keys

    async def is_cleared(self, tag: str) -> bool:
        """Tell whether it was done for a restore."""
        key = _mark(tag)

        async def work(at: KeyTransaction) -> bool:
            return await at.get(key) is not None

        return await self.keys.transact(work)

    async def clear(self, tag: str, ranges: Sequence[KeyRange]) -> None:
        """Take keys away, unless that was done for this restore before."""
        key = _mark(tag)
        for it in ranges:
            if not USER_KEYS.begin <= it.begin < it.end <= USER_KEYS.end:
                raise ValueError(f"only keys of users must be taken away, got {it}")

        async def work(at: KeyTransaction) -> None:
            if await at.get(key) is not None:
                return
            if await at.get(_LOCKED) is not None:
                words = "the database must not be locked while keys are taken away"
                raise DatabaseRefused(Refusal.LOCKED, words)
            for it in ranges or (USER_KEYS,):
                at.clear_range(it.begin, it.end)
            at.set(key, _DONE)

        await self.keys.transact(work)


def _mark(tag: str) -> bytes:
    return MARKS + check_tag(tag).encode()
