"""The lock of a database: whose it is after each that comes, and what it keeps out."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_databases import configured
from stateward.core.errors import PeerConfused
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.keyed.locking import LockKeys, LockLost
from stateward.fdb.admin.keyed.optimistic import ProgramKeys
from stateward.fdb.admin.keys import Conflicted, KeyTransaction, excluded_key
from stateward.fdb.model.exclusions import of_instance
from stateward.fdb.model.locks import Claim, Found, Lock, NotOurs, denied_key, lock_key
from unit.fdb.admin.test_optimistic import Runner

TEN_MINUTES = 600


def place() -> LockKeys:
    return LockKeys(ModelKeys(configured()))


def read(story: str) -> tuple[Lock | None, set[str], Claim]:
    """Return the lock, who is denied and who comes: ``dc2@0-50 -dc1 | dc1@60``."""
    before, _, comes = story.partition("|")
    lock, denied = None, set[str]()
    for word in before.split():
        if word.startswith("-"):
            denied.add(word[1:])
        else:
            owner, _, times = word.partition("@")
            start, end = map(int, times.split("-"))
            lock = Lock(owner, start, end)
    owner, _, now = comes.strip().partition("@")
    return lock, denied, Claim(owner, int(now), TEN_MINUTES)


#: The lock and who is denied it | who comes at what time -> the lock after that, or why not.
STORIES = {
    "| dc1@60": "dc1@60-660",
    "dc1@10-610 | dc1@60": "dc1@10-660",
    "dc1@10-50 | dc1@60": "dc1@10-660",
    "dc2@10-610 | dc1@60": "dc2",
    "dc2@10-60 | dc1@60": "dc2",
    "dc2@10-60 | dc1@61": "dc1@61-661",
    "dc2@10-610 -dc2 | dc1@60": "dc1@60-660",
    "dc2@10-610 -dc3 | dc1@60": "dc2",
    "-dc1 | dc1@60": "denied",
    "dc1@10-610 -dc1 | dc1@60": "denied",
    "dc2@10-50 -dc1 | dc1@60": "denied",
    "dc1@10-610 | dc10@60": "dc1",
    "-dc10 | dc1@60": "dc1@60-660",
    "-dc1 | dc10@60": "dc10@60-660",
    "@10-610 | @60": "@10-660",
}


@pytest.mark.parametrize("story", STORIES)
async def test_whose_it_is(story: str) -> None:
    it = place()
    lock, denied, claim = read(story)
    await put(it, lock, denied)
    found = await it.take(claim)
    assert shown(found) == STORIES[story]
    kept = (await it.look()).lock
    assert kept == (found if isinstance(found, Lock) else lock)


async def put(it: LockKeys, lock: Lock | None, denied: set[str]) -> None:
    async def work(at: KeyTransaction) -> None:
        if lock is not None:
            at.set(lock_key(), lock.encode())
        for who in denied:
            at.set(denied_key(who), who.encode())

    await it.keys.transact(work)


def shown(found: Lock | NotOurs) -> str:
    if isinstance(found, Lock):
        return f"{found.owner}@{found.start}-{found.end}"
    return "denied" if found.denied else found.holder.owner if found.holder else ""


async def test_who_takes_it_twice_holds_it_and_lets_go_of_its_own_only() -> None:
    it = place()
    assert await it.look() == Found(None)
    await it.take(Claim("dc1", 10, 600))
    assert not await it.release("dc2")
    assert (await it.look()).lock == Lock("dc1", 10, 610)
    assert await it.release("dc1")
    assert not await it.release("dc1")
    assert (await it.look()).lock is None


async def test_a_deny_list_is_changed_where_something_is_said_only() -> None:
    it = place()
    assert await it.deny({"dc1": True, "dc2": True})
    assert not await it.deny({"dc1": True})
    assert not await it.deny({})
    assert await it.deny({"dc2": False, "dc3": False})
    assert (await it.look()).denied == ("dc1",)


async def test_it_is_read_by_one_question() -> None:
    """A program is started for each, and all of them must end before our own lease does."""
    runner = Runner()
    it = LockKeys(ProgramKeys(runner), b"apart")
    await it.take(Claim("dc1", 10, 600))
    assert len(runner.orders) == 2
    await it.deny({"dc2": True, "dc3": True, "dc4": False})
    assert len(runner.orders) == 4
    before = len(runner.orders)
    assert await it.look() == Found(Lock("dc1", 10, 610), ("dc2", "dc3"))
    assert len(runner.orders) == before + 1
    await it.fenced(Claim("dc1", 60, 600), exclude)
    assert len(runner.orders) == before + 3


async def test_what_is_no_lock_is_never_written_over() -> None:
    it = place()

    async def scribble(at: KeyTransaction) -> None:
        at.set(lock_key(), b"mine!")

    await it.keys.transact(scribble)
    with pytest.raises(PeerConfused, match="must be a lock of operators") as caught:
        await it.take(Claim("dc1", 10, 600))
    assert "lockKeyPrefix" in caught.value.hint


# -------------------------------------------------------------------------- what it fences


async def exclude(at: KeyTransaction) -> None:
    at.set(excluded_key(of_instance("log-2")), b"")


#: What befell the lock of dc1 before it acts at 60 -> how its act ends.
FENCES = {
    "dc1@10-610": "done",
    "": "nobody has it",
    "dc2@50-650": "'dc2' has it",
    "dc1@10-59": "ended at 59",
    "dc1@10-610 -dc1": "'dc1' has it",
}


@pytest.mark.parametrize("story", FENCES)
async def test_who_lost_it_does_nothing(story: str) -> None:
    it = place()
    lock, denied, _ = read(f"{story} | dc1@0")
    await put(it, lock, denied)
    claim = Claim("dc1", 60, TEN_MINUTES)
    if FENCES[story] == "done":
        await it.fenced(claim, exclude)
    else:
        with pytest.raises(LockLost, match=FENCES[story]):
            await it.fenced(claim, exclude)
    assert await is_excluded(it) == (FENCES[story] == "done")


async def is_excluded(it: LockKeys) -> bool:
    key = excluded_key(of_instance("log-2"))
    return await it.keys.transact(lambda at: at.get(key)) is not None


async def test_who_sleeps_in_the_middle_and_wakes_when_another_has_it_does_nothing() -> None:
    it = place()
    await it.take(Claim("dc1", 10, 600))

    async def slow(at: KeyTransaction) -> None:
        await exclude(at)
        assert shown(await it.take(Claim("dc2", 700, 600))) == "dc2@700-1300"

    with pytest.raises(Conflicted):
        await it.fenced(Claim("dc1", 60, 600), slow)
    assert not await is_excluded(it)


@given(st.lists(st.tuples(st.sampled_from(["dc1", "dc2", "dc3"]), st.integers(1, 900))))
def test_one_at_a_time_whoever_comes_whenever(visits: list[tuple[str, int]]) -> None:
    """Who is told that it has it is the only one until what it was told is over."""
    asyncio.run(come(visits))


async def come(visits: list[tuple[str, int]]) -> None:
    it, now = place(), 0
    told: dict[str, int] = {}
    for owner, later in visits:
        now += later
        found = await it.take(Claim(owner, now, TEN_MINUTES))
        others = [end for who, end in told.items() if who != owner]
        if isinstance(found, Lock):
            assert all(end < now for end in others)
            told[owner] = found.end
        else:
            assert max(others) >= now
