"""Keys of an emulated database over the wire: one connection is one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from stateward.core.errors import OutcomeUnknown
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import overlaid
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.emulate.fdb.talk.messages import (
    Commit,
    Done,
    Get,
    GetRange,
    Refused,
    Transact,
    Values,
)
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.wire import Lost, Wire
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import Conflicted, Keys, KeyTransaction

T = TypeVar("T")

#: Seconds for which a database that does not answer is waited for.
_PATIENCE: Final = 10.0
_CONFLICTED, _UNKNOWN, _SILENT = "conflicted", "unknown", "silent"


async def serve_transaction(
    wire: Wire, database: Database, keep: Callable[[], Awaitable[None]]
) -> None:
    """Serve one transaction to its end; what it wrote is kept before it is told."""
    try:
        await ModelKeys(database).transact(lambda it: _serve(wire, it))
    except Conflicted as error:
        await wire.send(Refused(_CONFLICTED, str(error)))
    except DatabaseSilent as error:
        await wire.send(Refused(_SILENT, str(error)))
    except DatabaseRefused as error:
        await wire.send(Refused(error.refusal, str(error), error.may_be_granted_later))
    except OutcomeUnknown as error:
        await keep()
        await wire.send(Refused(_UNKNOWN, str(error)))
    else:
        await keep()
        await wire.send(Done())


async def _serve(wire: Wire, transaction: KeyTransaction) -> None:
    while True:
        match await wire.receive():
            case Get(key):
                value = await transaction.get(key)
                await wire.send(Values([] if value is None else [(key, value)]))
            case GetRange(begin, end):
                await wire.send(Values(await transaction.get_range(begin, end)))
            case Commit(writes, clears):
                for span in clears:
                    transaction.clear_range(*span)
                for key, value in writes:
                    if value is None:
                        transaction.clear(key)
                    else:
                        transaction.set(key, value)
                return
            case other:
                raise Lost(f"{type(other).__name__} in a transaction")


class WireKeys(Keys):
    """Keys of the emulated database that a cluster file names."""

    def __init__(self, seeker: Seeker, seconds: float = _PATIENCE) -> None:
        self._seeker, self._seconds = seeker, seconds

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do it all, or nothing."""
        wire = await self._begun()
        try:
            mine = _Remote(wire, self._seconds)
            found = await work(mine)
            await self._commit(wire, mine)
            return found
        finally:
            wire.close()

    async def _begun(self) -> Wire:
        try:
            async with asyncio.timeout(self._seconds):
                wire = await self._seeker.controller()
                await wire.send(Transact())
                return wire
        except (TimeoutError, Lost):
            raise DatabaseSilent("nobody controls the cluster") from None

    async def _commit(self, wire: Wire, mine: _Remote) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await wire.send(Commit(list(mine.writes.items()), mine.clears))
                answer = await wire.receive()
        except (Lost, TimeoutError) as error:
            raise OutcomeUnknown(f"the answer to a commit was lost: {error}") from None
        if isinstance(answer, Refused):
            raise _raised(answer)
        if not isinstance(answer, Done):
            said = type(answer).__name__
            raise OutcomeUnknown(f"a commit must be answered with Done, got {said}")


class _Remote:
    """A transaction on the other side of a wire; it sees its own writes."""

    def __init__(self, wire: Wire, seconds: float) -> None:
        self._wire, self._seconds = wire, seconds
        self.writes: dict[bytes, bytes | None] = {}
        self.clears: list[tuple[bytes, bytes]] = []

    async def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        if key in self.writes:
            return self.writes[key]
        if self._is_cleared(key):
            return None
        found = await self._asked(Get(key))
        return found[0][1] if found else None

    async def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        """Return keys and values from one on and below another."""
        found = await self._asked(GetRange(begin, end))
        left = [it for it in found if not self._is_cleared(it[0])]
        return overlaid(left, self.writes, begin, end)

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        self.writes[key] = value

    def clear(self, key: bytes) -> None:
        """Take a key away."""
        self.writes[key] = None

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another."""
        self.writes = {key: it for key, it in self.writes.items() if not begin <= key < end}
        self.clears.append((begin, end))

    def _is_cleared(self, key: bytes) -> bool:
        return any(begin <= key < end for begin, end in self.clears)

    async def _asked(self, message: Get | GetRange) -> list[tuple[bytes, bytes]]:
        try:
            async with asyncio.timeout(self._seconds):
                await self._wire.send(message)
                answer = await self._wire.receive()
        except (Lost, TimeoutError) as error:
            raise DatabaseSilent(f"a read was not answered: {error}") from None
        if isinstance(answer, Values):
            return answer.found
        raise _raised(answer) if isinstance(answer, Refused) else DatabaseSilent("no values")


def _raised(answer: Refused) -> Exception:
    if answer.kind == _CONFLICTED:
        return Conflicted(answer.text)
    if answer.kind == _UNKNOWN:
        return OutcomeUnknown(answer.text)
    if answer.kind == _SILENT:
        return DatabaseSilent(answer.text)
    return DatabaseRefused(Refusal(answer.kind), answer.text, later=answer.later)
