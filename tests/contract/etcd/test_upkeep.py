"""The database and its care: keys, alarms, compaction, defragmentation, snapshots."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from contract.etcd.stage import raise_alarm, speaking
from stateward.etcd.members.errors import EtcdRefused, NoSpace
from stateward.etcd.members.snapshots import verified
from stateward.etcd.model.members import Alarm, AlarmKind


async def test_what_is_put_is_read_by_everybody(trio, way):
    key = f"read/{way}/".encode()
    async with speaking(trio, way) as voice:
        before = await voice["a"].get(key)
        first = await voice["a"].put(key, b"\0\xff one")
        second = await voice["b"].put(key, b"")
        third = await voice["c"].put(key + b"\xff", b"x" * 100_000)
        read = [await voice["c"].get(key), await voice["a"].get(key + b"\xff")]

    assert before is None
    assert first < second < third
    assert read == [b"", b"x" * 100_000]


async def test_keys_are_counted_by_their_beginning(trio, way):
    mine = f"count/{way}/".encode()
    async with speaking(trio, way) as voice:
        for name in (b"", b"1", b"2/3", b"\xff"):
            await voice["a"].put(mine + name, b"v")
        await voice["a"].put(mine[:-1] + b"0", b"beside")
        counted = [await voice["b"].count(mine + it) for it in (b"", b"2", b"\xff", b"nothing")]
        everything = await voice["b"].count(b"")

    assert counted == [4, 1, 1, 0]
    assert everything >= 5


async def test_an_alarm_is_seen_stops_writes_and_can_be_disarmed(trio, way):
    async with speaking(trio, way) as voice:
        whose = (await voice.ids())["b"]
        raise_alarm(trio, whose, AlarmKind.NO_SPACE)
        try:
            seen = await voice["c"].alarms()
            told = (await voice["a"].status()).errors
            with pytest.raises(NoSpace):
                await voice["a"].put(b"too", b"much")
        finally:
            await voice["a"].disarm(Alarm(whose, AlarmKind.NO_SPACE))
        after = await voice["c"].alarms()
        revision = await voice["a"].put(b"fits", b"again")

    assert seen == (Alarm(whose, AlarmKind.NO_SPACE),)
    assert any("NOSPACE" in it for it in told)
    assert after == ()
    assert revision > 0


async def test_history_is_forgotten_once(trio, way):
    async with speaking(trio, way) as voice:
        await voice["a"].put(b"old", b"1")
        revision = await voice["a"].put(b"old", b"2")
        await voice["a"].compact(revision)
        await voice["b"].compact(revision)  # fine if it was forgotten before
        with pytest.raises(EtcdRefused, match="future revision"):
            await voice["a"].compact(revision + 1_000_000)
        assert await voice["c"].get(b"old") == b"2"


async def test_space_comes_back(trio, way):
    async with speaking(trio, way) as voice:
        revision = 0
        for _ in range(20):
            revision = await voice["a"].put(b"large", b"x" * 200_000)
        await voice["a"].compact(revision)
        full = await voice["a"].status()
        await voice["a"].defragment()
        tidy = await voice["a"].status()

    assert tidy.db_size < full.db_size
    assert tidy.db_size_in_use < 2_000_000 < full.db_size


async def test_a_snapshot_is_whole_and_larger_than_one_piece(trio, way):
    async with speaking(trio, way) as voice:
        await voice["a"].put(b"in the snapshot", b"marker" * 50_000)
        await voice["c"].get(b"in the snapshot")  # so c has it
        status = await voice["c"].status()
        pieces = [it async for it in verified(voice["c"].snapshot())]

    taken = b"".join(pieces)
    assert len(pieces) > 1
    assert len(taken) >= status.db_size_in_use
    assert b"marker" * 100 in taken


async def test_a_snapshot_may_be_left_in_the_middle(trio, way):
    async with speaking(trio, way) as voice:
        await voice["a"].put(b"long", b"x" * 1_000_000)
        async with aclosing(voice["a"].snapshot()) as pieces:
            first = await anext(pieces)
        assert first
        assert (await voice["a"].status()).member_id
