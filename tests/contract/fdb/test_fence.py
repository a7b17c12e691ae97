"""Acts that are fenced by the operators' lock, as they were tried on a real FoundationDB 7.3.

Section by section: an exclusion, an inclusion, coordinators, and several together; with the lock key
untouched, and with the lock key changed by another before the commit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from contract.fdb.labs import Lab
from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import COORDINATORS, Conflicted, Keys, KeyTransaction, excluded_key
from stateward.fdb.model import exclusions
from stateward.fdb.model.locks import Lock, lock_key
from stateward.fdb.status import health

LOG, STORAGE = exclusions.of_instance("log-2"), exclusions.of_instance("storage-5")
OWN = b"\xff\x02/org.foundationdb.kubernetes-operator/readyForExclusion/dc1/x"
Act = Callable[[Lab, KeyTransaction], None]


async def take(keys: Keys, owner: str) -> None:
    """Take the lock, as another operator does."""

    async def work(transaction: KeyTransaction) -> None:
        transaction.set(lock_key(), Lock(owner, 1, 2).encode())

    await keys.transact(work)


async def value(keys: Keys, key: bytes) -> bytes | None:
    """Return what a key is now."""
    return await keys.transact(lambda transaction: transaction.get(key))


def fenced(
    it: Lab, act: Act, *, stolen: bool = False
) -> Callable[[KeyTransaction], Awaitable[None]]:
    """Return an act that is done only by who has the lock; perhaps it is stolen in the middle."""

    async def work(keys: KeyTransaction) -> None:
        raw = await keys.get(lock_key())
        assert raw is not None
        assert Lock.decode(raw).owner == "dc1"
        act(it, keys)
        if stolen:
            await take(it.keys, "dc2")

    return work


def exclude(_lab: Lab, keys: KeyTransaction) -> None:
    keys.set(excluded_key(LOG), b"")


def include(_lab: Lab, keys: KeyTransaction) -> None:
    keys.clear(excluded_key(STORAGE))


def several(lab: Lab, keys: KeyTransaction) -> None:
    exclude(lab, keys)
    keys.set(excluded_key(exclusions.of_instance("log-3")), b"")
    keys.set(OWN, b"1")


def move(lab: Lab, keys: KeyTransaction) -> None:
    keys.set(COORDINATORS, str(lab.at("storage-4")).encode())


async def prepare(lab: Lab) -> None:
    """Have one exclusion, and a lock of ours."""
    await lab.admin.exclude([STORAGE])
    await take(lab.keys, "dc1")


@pytest.mark.parametrize(
    ("act", "excluded"),
    [
        (exclude, {STORAGE, LOG}),
        (include, set()),
        (several, {STORAGE, LOG, exclusions.of_instance("log-3")}),
    ],
)
async def test_who_has_the_lock_acts(
    keyed: Lab, act: Act, excluded: set[exclusions.Exclusion]
) -> None:
    it = keyed
    await prepare(it)
    await it.keys.transact(fenced(it, act))
    assert (await it.admin.exclusions()).excluded == excluded
    assert await value(it.keys, OWN) == (b"1" if act is several else None)


@pytest.mark.parametrize("act", [exclude, include, several])
async def test_who_lost_it_meanwhile_does_nothing(keyed: Lab, act: Act) -> None:
    it = keyed
    await prepare(it)
    with pytest.raises(Conflicted, match="1020"):
        await it.keys.transact(fenced(it, act, stolen=True))
    assert (await it.admin.exclusions()).excluded == {STORAGE}
    assert await value(it.keys, OWN) is None


async def test_new_coordinators_are_there_though_nobody_says_so(keyed: Lab) -> None:
    it = keyed
    await prepare(it)
    before = await value(it.keys, COORDINATORS)
    with pytest.raises(Conflicted):
        await it.keys.transact(fenced(it, move, stolen=True))
    assert await value(it.keys, COORDINATORS) == before
    await take(it.keys, "dc1")
    with pytest.raises(OutcomeUnknown, match="1021"):
        await it.keys.transact(fenced(it, move))
    assert await value(it.keys, COORDINATORS) == str(it.at("storage-4")).encode()


def the_same(lab: Lab, keys: KeyTransaction) -> None:
    listed = ",".join(str(lab.at(f"storage-{n}")) for n in (3, 1, 2))
    keys.set(COORDINATORS, listed.encode())


def nonsense(_lab: Lab, keys: KeyTransaction) -> None:
    keys.set(b"\xff\xff/management/excluded/nonsense", b"")


def all_storage(lab: Lab, keys: KeyTransaction) -> None:
    for number in range(1, 6):
        keys.set(excluded_key(exclusions.parse(lab.at(f"storage-{number}").plain)), b"")


@pytest.mark.parametrize(
    ("act", "refusal", "words"),
    [
        (the_same, Refusal.UNCHANGED, "coordinators: No change"),
        (nonsense, Refusal.OTHER, "exclude: 'nonsense' is not a valid network endpoint address"),
        (all_storage, Refusal.NO_ROOM, "exclude: This exclude may cause the total available space"),
    ],
)
async def test_what_is_refused_is_not_done_and_said_why(
    keyed: Lab, act: Act, refusal: Refusal, words: str
) -> None:
    def with_a_key_of_our_own(lab: Lab, keys: KeyTransaction) -> None:
        keys.set(OWN, b"1")
        act(lab, keys)

    it = keyed
    await prepare(it)
    with pytest.raises(DatabaseRefused, match=words) as caught:
        await it.keys.transact(fenced(it, with_a_key_of_our_own))
    assert (caught.value.refusal, caught.value.may_be_granted_later) == (refusal, False)
    assert (await it.admin.exclusions()).excluded == {STORAGE}
    assert await value(it.keys, OWN) is None


async def test_exclusions_are_read_by_their_keys(keyed: Lab) -> None:
    async def look(transaction: KeyTransaction) -> list[bytes]:
        begin = b"\xff\xff/management/excluded_locality/"
        assert await transaction.get(COORDINATORS) is not None
        assert await transaction.get(excluded_key(STORAGE)) == b""
        return [key for key, _ in await transaction.get_range(begin, begin + b"\xff")]

    it = keyed
    await prepare(it)
    assert await it.keys.transact(look) == [excluded_key(STORAGE)]
    assert (await it.admin.exclusions()).excluded == {STORAGE}


async def test_without_a_database_there_is_no_lock(keyed: Lab) -> None:
    it = keyed
    await prepare(it)
    await it.lose("log-1", "log-2", "log-3")
    await it.sees(health.is_available, False)
    with pytest.raises(DatabaseSilent):
        await it.keys.transact(fenced(it, exclude))
