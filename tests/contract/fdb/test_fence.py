"""Acts that are fenced by the operators' lock, as they were tried on a real FoundationDB 7.3.

Section by section: an exclusion, an inclusion, coordinators, and several together; with the lock key
untouched, and with the lock key changed by another before the commit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from contract.fdb.backends import Lab, created
from stateward.core.errors import OutcomeUnknown
from stateward.emulate.fdb.keys import Transaction
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.errors import DatabaseSilent
from stateward.fdb.admin.keys import COORDINATORS, Conflicted, KeyTransaction, excluded_key
from stateward.fdb.model import exclusions
from stateward.fdb.model.locks import Lock, lock_key

LOG, ADDRESS = exclusions.of_instance("log-2"), exclusions.parse("127.0.1.5:4501")
OWN = b"\xff\x02/org.foundationdb.kubernetes-operator/readyForExclusion/dc1/x"
Act = Callable[[KeyTransaction], None]


def take(lab: Lab, owner: str) -> None:
    """Take the lock, as another operator does."""
    mine = Transaction(lab.database.store, lab.database.now, system=True)
    mine.set(lock_key(), Lock(owner, 1, 2).encode())
    mine.commit(lab.database.now)


def fenced(lab: Lab, act: Act, *, stolen: bool) -> Callable[[KeyTransaction], Awaitable[None]]:
    """Return an act that is done only by who has the lock; perhaps it is stolen in the middle."""

    async def work(keys: KeyTransaction) -> None:
        raw = await keys.get(lock_key())
        assert raw is not None
        assert Lock.decode(raw).owner == "dc1"
        act(keys)
        if stolen:
            take(lab, "dc2")

    return work


def exclude(keys: KeyTransaction) -> None:
    keys.set(excluded_key(LOG), b"")


def include(keys: KeyTransaction) -> None:
    keys.clear(excluded_key(ADDRESS))


def several(keys: KeyTransaction) -> None:
    exclude(keys)
    keys.set(excluded_key(exclusions.of_instance("log-3")), b"")
    keys.set(OWN, b"1")


async def prepared() -> tuple[Lab, ModelKeys]:
    lab = await created()
    await lab.admin.exclude([ADDRESS])
    take(lab, "dc1")
    return lab, ModelKeys(lab.database)


@pytest.mark.parametrize(
    ("act", "excluded"),
    [
        (exclude, {ADDRESS, LOG}),
        (include, set()),
        (several, {ADDRESS, LOG, exclusions.of_instance("log-3")}),
    ],
)
async def test_who_has_the_lock_acts(act: Act, excluded: set[exclusions.Exclusion]) -> None:
    lab, keys = await prepared()
    await keys.transact(fenced(lab, act, stolen=False))
    assert (await lab.admin.exclusions()).excluded == excluded


@pytest.mark.parametrize("act", [exclude, include, several])
async def test_who_lost_it_meanwhile_does_nothing(act: Act) -> None:
    lab, keys = await prepared()
    with pytest.raises(Conflicted, match="1020"):
        await keys.transact(fenced(lab, act, stolen=True))
    assert (await lab.admin.exclusions()).excluded == {ADDRESS}
    assert Transaction(lab.database.store, lab.database.now, system=True).get(OWN) is None


async def test_new_coordinators_are_there_though_nobody_says_so() -> None:
    lab, keys = await prepared()
    before = lab.database.string

    def move(transaction: KeyTransaction) -> None:
        transaction.set(COORDINATORS, b"127.0.1.4:4501")

    with pytest.raises(Conflicted):
        await keys.transact(fenced(lab, move, stolen=True))
    assert lab.database.string == before
    take(lab, "dc1")
    with pytest.raises(OutcomeUnknown, match="1021"):
        await keys.transact(fenced(lab, move, stolen=False))
    assert [str(it) for it in lab.database.string.coordinators] == ["127.0.1.4:4501"]


async def test_exclusions_are_read_by_their_keys() -> None:
    lab, keys = await prepared()

    async def look(transaction: KeyTransaction) -> list[bytes]:
        begin = b"\xff\xff/management/excluded/"
        assert await transaction.get(COORDINATORS) is not None
        assert await transaction.get(excluded_key(ADDRESS)) == b""
        return [key for key, _ in await transaction.get_range(begin, begin + b"\xff")]

    assert await keys.transact(look) == [excluded_key(ADDRESS)]
    assert lab.database.excluded == {ADDRESS}


async def test_without_a_database_there_is_no_lock() -> None:
    lab, keys = await prepared()
    lab.lose("log-1", "log-2")
    lab.pass_by(5)
    with pytest.raises(DatabaseSilent):
        await keys.transact(fenced(lab, exclude, stolen=False))
