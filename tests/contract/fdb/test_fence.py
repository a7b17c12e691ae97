"""Acts that are fenced by the operators' lock, as they were tried on a real FoundationDB 7.3.

Section by section: an exclusion, an inclusion, coordinators, and several together; with the lock key
untouched, and with the lock key changed by another before the commit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from contract.fdb.fences import KINDS, Bench, bench
from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import COORDINATORS, Conflicted, Keys, KeyTransaction, excluded_key
from stateward.fdb.model import exclusions
from stateward.fdb.model.locks import Lock, lock_key

LOG, ADDRESS = exclusions.of_instance("log-2"), exclusions.parse("127.0.1.5:4501")
OWN = b"\xff\x02/org.foundationdb.kubernetes-operator/readyForExclusion/dc1/x"
Act = Callable[[KeyTransaction], None]

pytestmark = [pytest.mark.parametrize("kind", KINDS), pytest.mark.patient(300)]


async def take(keys: Keys, owner: str) -> None:
    """Take the lock, as another operator does."""

    async def work(transaction: KeyTransaction) -> None:
        transaction.set(lock_key(), Lock(owner, 1, 2).encode())

    await keys.transact(work)


async def value(keys: Keys, key: bytes) -> bytes | None:
    """Return what a key is now."""
    return await keys.transact(lambda transaction: transaction.get(key))


def fenced(
    it: Bench, act: Act, *, stolen: bool = False
) -> Callable[[KeyTransaction], Awaitable[None]]:
    """Return an act that is done only by who has the lock; perhaps it is stolen in the middle."""

    async def work(keys: KeyTransaction) -> None:
        raw = await keys.get(lock_key())
        assert raw is not None
        assert Lock.decode(raw).owner == "dc1"
        act(keys)
        if stolen:
            await take(it.keys, "dc2")

    return work


def exclude(keys: KeyTransaction) -> None:
    keys.set(excluded_key(LOG), b"")


def include(keys: KeyTransaction) -> None:
    keys.clear(excluded_key(ADDRESS))


def several(keys: KeyTransaction) -> None:
    exclude(keys)
    keys.set(excluded_key(exclusions.of_instance("log-3")), b"")
    keys.set(OWN, b"1")


def move(keys: KeyTransaction) -> None:
    keys.set(COORDINATORS, b"127.0.1.4:4501")


@asynccontextmanager
async def prepared(kind: str) -> AsyncIterator[Bench]:
    """Provide a database with one exclusion, and a lock of ours."""
    async with bench(kind) as it:
        await it.admin.exclude([ADDRESS])
        await take(it.keys, "dc1")
        yield it


@pytest.mark.parametrize(
    ("act", "excluded"),
    [
        (exclude, {ADDRESS, LOG}),
        (include, set()),
        (several, {ADDRESS, LOG, exclusions.of_instance("log-3")}),
    ],
)
async def test_who_has_the_lock_acts(
    kind: str, act: Act, excluded: set[exclusions.Exclusion]
) -> None:
    async with prepared(kind) as it:
        await it.keys.transact(fenced(it, act))
        assert (await it.admin.exclusions()).excluded == excluded
        assert await value(it.keys, OWN) == (b"1" if act is several else None)


@pytest.mark.parametrize("act", [exclude, include, several])
async def test_who_lost_it_meanwhile_does_nothing(kind: str, act: Act) -> None:
    async with prepared(kind) as it:
        with pytest.raises(Conflicted, match="1020"):
            await it.keys.transact(fenced(it, act, stolen=True))
        assert (await it.admin.exclusions()).excluded == {ADDRESS}
        assert await value(it.keys, OWN) is None


async def test_new_coordinators_are_there_though_nobody_says_so(kind: str) -> None:
    async with prepared(kind) as it:
        before = await value(it.keys, COORDINATORS)
        with pytest.raises(Conflicted):
            await it.keys.transact(fenced(it, move, stolen=True))
        assert await value(it.keys, COORDINATORS) == before
        await take(it.keys, "dc1")
        with pytest.raises(OutcomeUnknown, match="1021"):
            await it.keys.transact(fenced(it, move))
        assert await value(it.keys, COORDINATORS) == b"127.0.1.4:4501"


def the_same(keys: KeyTransaction) -> None:
    keys.set(COORDINATORS, b"127.0.1.3:4501,127.0.1.1:4501,127.0.1.2:4501")


def nonsense(keys: KeyTransaction) -> None:
    keys.set(b"\xff\xff/management/excluded/nonsense", b"")


def all_storage(keys: KeyTransaction) -> None:
    for number in range(1, 6):
        keys.set(excluded_key(exclusions.parse(f"127.0.1.{number}:4501")), b"")


@pytest.mark.parametrize(
    ("act", "refusal", "words"),
    [
        (the_same, Refusal.UNCHANGED, "coordinators: No change"),
        (nonsense, Refusal.OTHER, "exclude: 'nonsense' is not a valid network endpoint address"),
        (all_storage, Refusal.NO_ROOM, "exclude: This exclude may cause the total available space"),
    ],
)
async def test_what_is_refused_is_not_done_and_said_why(
    kind: str, act: Act, refusal: Refusal, words: str
) -> None:
    def with_a_key_of_our_own(keys: KeyTransaction) -> None:
        keys.set(OWN, b"1")
        act(keys)

    async with prepared(kind) as it:
        with pytest.raises(DatabaseRefused, match=words) as caught:
            await it.keys.transact(fenced(it, with_a_key_of_our_own))
        assert (caught.value.refusal, caught.value.may_be_granted_later) == (refusal, False)
        assert (await it.admin.exclusions()).excluded == {ADDRESS}
        assert await value(it.keys, OWN) is None


async def test_exclusions_are_read_by_their_keys(kind: str) -> None:
    async def look(transaction: KeyTransaction) -> list[bytes]:
        begin = b"\xff\xff/management/excluded/"
        assert await transaction.get(COORDINATORS) is not None
        assert await transaction.get(excluded_key(ADDRESS)) == b""
        return [key for key, _ in await transaction.get_range(begin, begin + b"\xff")]

    async with prepared(kind) as it:
        assert await it.keys.transact(look) == [excluded_key(ADDRESS)]
        assert (await it.admin.exclusions()).excluded == {ADDRESS}


async def test_without_a_database_there_is_no_lock(kind: str) -> None:
    async with prepared(kind) as it:
        await it.lose_logs()
        with pytest.raises(DatabaseSilent):
            await it.keys.transact(fenced(it, exclude))
