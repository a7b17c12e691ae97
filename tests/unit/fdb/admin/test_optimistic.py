"""Transactions by a program that ends: what it is asked, what it may answer, and what that means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from fakes.fdb_databases import configured
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, PrintsTooMuch, Refusal
from stateward.fdb.admin.keyed.optimistic import Order, ProgramKeys, Reply, carry_out, raised, told
from stateward.fdb.admin.keys import Conflicted, KeyTransaction

A, B, C = b"\xff\x02/a", b"\xff\x02/b", b"\xff\x02/c"
END = b"\xff\x02/z"


@dataclass
class Runner:
    """Runs the program in memory, or does what the next word says."""

    database: Database = field(default_factory=configured)
    orders: list[Order] = field(default_factory=list)
    #: What it does instead, by the number of the run.
    instead: dict[int, Answer | Exception] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return Path("fdb.cluster")

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        assert (program, words[0]) == ("fdbkeys", "-C")
        assert seconds > 0
        order = msgspec.json.decode(typed, type=Order)
        self.orders.append(order)
        found = self.instead.get(len(self.orders))
        if isinstance(found, Exception):
            raise found
        if found is not None:
            return found
        reply = await carry_out(order, ModelKeys(self.database))
        return Answer(0, msgspec.json.encode(reply).decode(), "")


async def write(at: KeyTransaction) -> bytes | None:
    """Read one key, and write it and another."""
    before = await at.get(A)
    at.set(A, b"1")
    at.set(B, b"2")
    return before


async def values(runner: Runner) -> list[tuple[bytes, bytes]]:
    return await ModelKeys(runner.database).transact(lambda at: at.get_range(A, END))


async def test_it_reads_and_then_writes_at_once() -> None:
    runner = Runner()
    assert await ProgramKeys(runner).transact(write) is None
    assert await values(runner) == [(A, b"1"), (B, b"2")]
    assert await ProgramKeys(runner).transact(write) == b"1"
    assert len(runner.orders) == 4


async def test_who_writes_sees_it() -> None:
    async def work(at: KeyTransaction) -> None:
        at.set(A, b"1")
        at.set(C, b"3")
        assert await at.get(A) == b"1"
        assert await at.get_range(A, END) == [(A, b"1"), (C, b"3")]
        at.clear(A)
        assert await at.get_range(A, END) == [(C, b"3")]
        assert await at.get(A) is None

    runner = Runner()
    await ProgramKeys(runner).transact(work)
    assert await values(runner) == [(C, b"3")]


async def test_who_takes_a_range_away_sees_that_and_writes_into_it() -> None:
    runner = Runner()
    await ProgramKeys(runner).transact(write)

    async def work(at: KeyTransaction) -> None:
        at.set(C, b"lost")
        at.clear_range(A, END)
        at.set(B, b"3")
        assert await at.get(A) is None
        assert await at.get_range(A, END) == [(B, b"3")]

    await ProgramKeys(runner).transact(work)
    assert await values(runner) == [(B, b"3")]
    await ProgramKeys(runner).transact(only_clears)
    assert await values(runner) == []


async def only_clears(at: KeyTransaction) -> None:
    at.clear_range(A, END)


async def test_what_changed_meanwhile_is_never_written_over() -> None:
    runner = Runner()

    async def slow(at: KeyTransaction) -> None:
        assert await at.get_range(A, END) == []
        await ProgramKeys(runner).transact(write)
        at.set(C, b"3")

    with pytest.raises(Conflicted):
        await ProgramKeys(runner).transact(slow)
    assert await values(runner) == [(A, b"1"), (B, b"2")]


async def test_what_is_read_in_pieces_was_so_at_one_moment() -> None:
    runner = Runner()

    async def slow(at: KeyTransaction) -> None:
        await at.get(A)
        await ProgramKeys(runner).transact(write)
        await at.get(B)

    with pytest.raises(Conflicted):
        await ProgramKeys(runner).transact(slow)


async def test_one_look_is_one_run() -> None:
    runner = Runner()
    await ProgramKeys(runner).transact(lambda at: at.get(A))
    assert len(runner.orders) == 1


#: What the program does: what is raised where it reads, and where it writes.
CUT = Answer(-9, "", "", in_time=False)
ENDS: dict[str, tuple[Answer | Exception, type[PeerError], type[PeerError]]] = {
    "it does not end": (CUT, DatabaseSilent, OutcomeUnknown),
    "it falls": (Answer(-11, "", "Segmentation fault"), PeerConfused, OutcomeUnknown),
    "it talks garbage": (Answer(0, "{", ""), PeerConfused, OutcomeUnknown),
    "it says another thing": (Answer(0, '{"rows": 1}', ""), PeerConfused, OutcomeUnknown),
    "it never stops talking": (PrintsTooMuch("much"), PrintsTooMuch, OutcomeUnknown),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("run", [1, 2])
async def test_how_it_may_end(name: str, run: int) -> None:
    answer, *expected = ENDS[name]
    runner = Runner(instead={run: answer})
    with pytest.raises(expected[run - 1]):
        await ProgramKeys(runner).transact(write)
    assert await values(runner) == []


@pytest.mark.parametrize(
    "error",
    [
        Conflicted("c"),
        DatabaseSilent("s"),
        OutcomeUnknown("u"),
        DatabaseRefused(Refusal.NO_ROOM, "n"),
        DatabaseRefused(Refusal.OTHER, "o", later=True),
    ],
)
def test_errors_are_told_as_they_are(error: PeerError) -> None:
    again = raised(msgspec.json.decode(msgspec.json.encode(told(error)), type=Reply))
    assert (type(again), again.message) == (type(error), error.message)
    if isinstance(error, DatabaseRefused) and isinstance(again, DatabaseRefused):
        assert again.refusal == error.refusal
        assert again.may_be_granted_later == error.may_be_granted_later


def test_what_nobody_knows_may_have_been_done() -> None:
    assert isinstance(raised(Reply(trouble="strange", text="t")), OutcomeUnknown)
