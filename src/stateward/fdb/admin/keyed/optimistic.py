"""Transactions by programs that end: what was read is compared when all is written at once.

One process of ours has one libfdb_c, of one minor release; databases have several. So a program of
a database's own release does each of two things and ends: it reads, or it writes what is to be
written if all that was read is still so. Between them nothing is held, and nothing is believed: a
value that is the same again was not changed for anybody who judges by values.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

import msgspec

from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, PrintsTooMuch, Refusal
from stateward.fdb.admin.keys import Conflicted, Keys, KeyTransaction

T = TypeVar("T")
Rows: TypeAlias = list[tuple[bytes, bytes]]

PROGRAM: Final = "fdbkeys"
#: Seconds that it gives a transaction, and those more after which it is killed.
SECONDS, _GRACE = 20.0, 10.0


class Span(msgspec.Struct, frozen=True, array_like=True):
    """From one key on and below another; or one key alone, if there is no end."""

    begin: bytes
    end: bytes | None = None


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the program is asked: to read a span, or to write if nothing changed."""

    read: Span | None = None
    #: What was read before, and what it was.
    unchanged: list[tuple[Span, Rows]] = []
    writes: list[tuple[bytes, bytes | None]] = []
    #: What is taken away before that is written.
    clears: list[Span] = []
    seconds: float = SECONDS


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What it says: the rows, that all is written (neither), or what went wrong."""

    rows: Rows = []
    trouble: str = ""
    text: str = ""
    later: bool = False


CONFLICTED, SILENT, UNKNOWN = "conflicted", "silent", "unknown"


class Runner(Protocol):
    """Who runs programs for one database."""

    @property
    def file(self) -> Path:
        """The cluster file."""

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a program to its end, or for so many seconds, with something to read."""


class ProgramKeys(Keys):
    """Keys of one database by a program of its release."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do it all, or nothing."""
        mine = _Optimist(self._read)
        found = await work(mine)
        # What was read piece by piece need not have been so at one moment.
        commits = bool(mine.writes or mine.clears)
        if commits or len(mine.seen) > 1:
            writes = list(mine.writes.items())
            order = Order(unchanged=mine.seen, writes=writes, clears=mine.clears)
            await self._ask(order, commits=commits)
        return found

    async def _read(self, span: Span) -> Rows:
        return (await self._ask(Order(read=span), commits=False)).rows

    async def _ask(self, order: Order, *, commits: bool) -> Reply:
        typed = msgspec.json.encode(order).decode()
        words = ["-C", str(self._runner.file)]
        try:
            answer = await self._runner.run(PROGRAM, words, SECONDS + _GRACE, typed)
        except PrintsTooMuch as error:
            if commits:
                raise OutcomeUnknown(error.message) from None
            raise
        reply = _understood(answer, commits=commits)
        if reply.trouble:
            raise raised(reply)
        return reply


class _Optimist:
    """A transaction that keeps in mind what it read; it sees its own writes."""

    def __init__(self, read: Callable[[Span], Awaitable[Rows]]) -> None:
        self._read = read
        self.seen: list[tuple[Span, Rows]] = []
        self.writes: dict[bytes, bytes | None] = {}
        self.clears: list[Span] = []

    async def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        if key in self.writes:
            return self.writes[key]
        if self._is_cleared(key):
            return None
        rows = await self._rows(Span(key))
        return rows[0][1] if rows else None

    async def get_range(self, begin: bytes, end: bytes) -> Rows:
        """Return keys and values from one on and below another."""
        rows = await self._rows(Span(begin, end))
        found: dict[bytes, bytes | None] = {
            key: it for key, it in rows if not self._is_cleared(key)
        }
        found |= {key: it for key, it in self.writes.items() if begin <= key < end}
        return [(key, it) for key, it in sorted(found.items()) if it is not None]

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        self.writes[key] = value

    def clear(self, key: bytes) -> None:
        """Take a key away."""
        self.writes[key] = None

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another."""
        self.writes = {key: it for key, it in self.writes.items() if not begin <= key < end}
        self.clears.append(Span(begin, end))

    def _is_cleared(self, key: bytes) -> bool:
        return any(it.begin <= key < (it.end or b"") for it in self.clears)

    async def _rows(self, span: Span) -> Rows:
        for known, rows in self.seen:
            if known == span:
                return rows
        rows = await self._read(span)
        self.seen.append((span, rows))
        return rows


def _understood(answer: Answer, *, commits: bool) -> Reply:
    """Return what the program said; one that was cut off may have written all of it."""
    if answer.in_time:
        try:
            return msgspec.json.decode(answer.out, type=Reply)
        except (msgspec.DecodeError, msgspec.ValidationError):
            pass
    said = answer.err.strip()[-200:] or answer.out.strip()[-200:]
    text = f"{PROGRAM} must answer, and ended with {answer.code}: {said}"
    if commits:
        raise OutcomeUnknown(text)
    raise PeerConfused(text) if answer.in_time else DatabaseSilent(f"{PROGRAM} did not end in time")


# ------------------------------------------------------------------ the program's side


async def serve(typed: bytes, reach: Callable[[float], Keys]) -> int:
    """Carry out an order as it was typed, and print the reply; return the program's code."""
    try:
        order = msgspec.json.decode(typed, type=Order)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        sys.stderr.write(f"{PROGRAM} must be given an order: {error}\n")
        return 1
    reply = await carry_out(order, reach(order.seconds))
    sys.stdout.write(msgspec.json.encode(reply).decode())
    return 0


async def carry_out(order: Order, keys: Keys) -> Reply:
    """Do what is asked by keys of a database."""

    async def work(at: KeyTransaction) -> Reply:
        if order.read is not None:
            return Reply(rows=await _rows(at, order.read))
        for span, rows in order.unchanged:
            if await _rows(at, span) != rows:
                raise Conflicted("what was read before was changed meanwhile (1020)")
        for it in order.clears:
            at.clear_range(it.begin, it.end or it.begin + b"\x00")
        _write(at, order.writes)
        return Reply()

    try:
        return await keys.transact(work)
    except PeerError as error:
        return told(error)


async def _rows(at: KeyTransaction, span: Span) -> Rows:
    if span.end is not None:
        return await at.get_range(span.begin, span.end)
    value = await at.get(span.begin)
    return [] if value is None else [(span.begin, value)]


def _write(at: KeyTransaction, writes: Iterable[tuple[bytes, bytes | None]]) -> None:
    for key, value in writes:
        if value is None:
            at.clear(key)
        else:
            at.set(key, value)


def told(error: PeerError) -> Reply:
    """Return an error as it is said by the program."""
    match error:
        case Conflicted():
            return Reply(trouble=CONFLICTED, text=error.message)
        case DatabaseRefused():
            return Reply(
                trouble=error.refusal, text=error.message, later=error.may_be_granted_later
            )
        case DatabaseSilent():
            return Reply(trouble=SILENT, text=error.message)
        case _:  # whatever else it is, it may have been done
            return Reply(trouble=UNKNOWN, text=error.message)


def raised(reply: Reply) -> PeerError:
    """Return the error that a program tells of."""
    match reply.trouble:
        case "conflicted":
            return Conflicted(reply.text)
        case "silent":
            return DatabaseSilent(reply.text)
        case "unknown":
            return OutcomeUnknown(reply.text)
    try:
        return DatabaseRefused(Refusal(reply.trouble), reply.text, later=reply.later)
    except ValueError:
        return OutcomeUnknown(f"{PROGRAM} tells of {reply.trouble!r}: {reply.text}")
