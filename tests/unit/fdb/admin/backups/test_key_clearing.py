"""Keys are taken away for a restore once, however often and however late that is asked for."""

from __future__ import annotations

import pytest

from fakes.fdb_databases import configured
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.backups.clearing import KeyClearing
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.admin.keys import KeyTransaction
from stateward.fdb.model.backups import KeyRange

TAG, OTHER = "restore-1", "restore-2"
ROWS = [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]


class Data:
    """A database with some keys."""

    def __init__(self) -> None:
        self.database = configured()
        self.keys = ModelKeys(self.database)
        self.it = KeyClearing(self.keys)

    async def write(self) -> None:
        def set_all(at: KeyTransaction) -> None:
            for row in ROWS:
                at.set(*row)

        async def work(at: KeyTransaction) -> None:
            set_all(at)

        await self.keys.transact(work)

    async def rows(self) -> list[tuple[bytes, bytes]]:
        return await self.keys.transact(lambda at: at.get_range(b"", b"\xff"))


async def test_it_is_done_once_for_each_restore() -> None:
    data = Data()
    await data.write()
    assert not await data.it.is_cleared(TAG)
    await data.it.clear(TAG, [KeyRange(b"a", b"c")])
    assert await data.rows() == ROWS[2:]
    assert await data.it.is_cleared(TAG)
    await data.write()
    await data.it.clear(TAG, ())
    assert await data.rows() == ROWS
    assert not await data.it.is_cleared(OTHER)
    await data.it.clear(OTHER, ())
    assert await data.rows() == []


async def test_what_is_restored_is_not_taken_away() -> None:
    data = Data()
    await data.write()
    data.database.store.locked_by = "a restore"
    with pytest.raises(DatabaseRefused) as told:
        await data.it.clear(TAG, ())
    assert told.value.refusal is Refusal.LOCKED
    assert not await data.it.is_cleared(TAG)
    assert await data.rows() == ROWS


@pytest.mark.parametrize("until", [b"a", b"\xff\x02", b"\xff\xff"])
async def test_only_keys_of_users_are_taken_away(until: bytes) -> None:
    with pytest.raises(ValueError, match="keys of users"):
        await Data().it.clear(TAG, [KeyRange(b"a", until)])
