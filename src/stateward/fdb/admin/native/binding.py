"""Keys of a database by FoundationDB's own client: each transaction is tried once.

libfdb_c has a thread of its own and calls back from there; here nothing ever waits for it but a
coroutine. What was sent and not answered is not sent again: who asked reads back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from stateward.core.clock import Clock
from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.fdb.admin import codes
from stateward.fdb.admin.clusterfile import ClusterFile
from stateward.fdb.admin.costs import End, Meter, Uncounted
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent
from stateward.fdb.admin.keys import Keys, KeyTransaction
from stateward.fdb.admin.native.library import (
    Library,
    NativeDatabase,
    NativeFuture,
    NativeTransaction,
)
from stateward.fdb.model.connection import ConnectionString

T = TypeVar("T")
F = TypeVar("F", bound=NativeFuture)

#: Seconds that a transaction is given, and those more after which libfdb_c itself is given up.
SECONDS, _GRACE = 20.0, 5.0
_ERROR_MESSAGE: Final = b"\xff\xff/error_message"


class BindingKeys(Keys):
    """Transactions on one database, by libfdb_c."""

    def __init__(
        self,
        library: Library,
        clock: Clock,
        meter: Meter | None = None,
        *,
        seconds: float = SECONDS,
        kept: ClusterFile | None = None,
    ) -> None:
        self._library = library
        self._clock = clock
        self._meter = meter or Uncounted()
        self._seconds = seconds
        self._kept = kept or ClusterFile()
        self._database: NativeDatabase | None = None

    @property
    def file(self) -> Path:
        """The cluster file."""
        return self._kept.path

    def find_by(self, connection: ConnectionString) -> None:
        """Find the database by this from now on."""
        self._forget()
        self._kept.find_by(connection)

    def found_by(self) -> ConnectionString:
        """Return how it is found, as far as libfdb_c was told."""
        return self._kept.found_by()

    def close(self) -> None:
        """Let go of the database, and remove the folder."""
        self._forget()
        self._kept.close()

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do it all, or nothing."""
        began, end = self._clock.monotonic(), End.GIVEN_UP
        try:
            found = await self._tried(work)
            end = End.OK
        except PeerError as error:
            unanswered = isinstance(error, (DatabaseSilent, OutcomeUnknown))
            end = End.TIMEOUT if unanswered else End.FAILED
            raise
        finally:
            wall = self._clock.monotonic() - began
            self._meter.ended("libfdb_c", "transaction", end, wall, 0.0)
        return found

    async def _tried(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        native = self._begun()
        mine = _Transaction(self._library, native, self._seconds + _GRACE)
        try:
            found = await work(mine)
            await mine.commit()
        finally:
            native.cancel()  # whatever is still under way; what is committed stays so
        return found

    def _begun(self) -> NativeTransaction:
        try:
            native = self._opened().create_transaction()
            _allow(native, self._seconds)
        except self._library.FDBError as error:
            raise codes.meaning(*_told(error), committing=False) from None
        return native

    def _opened(self) -> NativeDatabase:
        if self._database is None:
            self._kept.found_by()  # what is none is said in our words
            self._database = self._library.open(str(self._kept.path))
        return self._database

    def _forget(self) -> None:
        self._library.impl.open_databases.pop(str(self._kept.path), None)
        self._database = None


def _allow(native: NativeTransaction, seconds: float) -> None:
    native.options.set_timeout(int(seconds * 1000))
    native.options.set_retry_limit(0)
    native.options.set_access_system_keys()
    native.options.set_lock_aware()
    native.options.set_special_key_space_enable_writes()
    native.options.set_special_key_space_relaxed()


class _Transaction(KeyTransaction):
    """One transaction, until it is committed."""

    def __init__(self, library: Library, native: NativeTransaction, seconds: float) -> None:
        self._library = library
        self._native = native
        self._seconds = seconds
        self._writes = False

    async def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        return (await self._answered(self._native.get(key))).value

    async def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        """Return keys and values from one on and below another."""
        found: list[tuple[bytes, bytes]] = []
        more = True
        while more:
            mode = self._library.StreamingMode.want_all
            asked = self._native.get_range(begin, end, 0, False, mode)  # noqa: FBT003 - as it is there
            # Its own iterator blocks; only this can be waited for otherwise.
            page = await self._answered(asked._future)  # noqa: SLF001
            rows, _, more = page.wait()
            found += [(it.key, it.value) for it in rows]
            more = bool(more and rows)
            begin = found[-1][0] + b"\x00" if rows else begin
        return found

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        self._writes = True
        self._native.set(key, value)

    def clear(self, key: bytes) -> None:
        """Take a key away."""
        self._writes = True
        self._native.clear(key)

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another."""
        self._writes = True
        self._native.clear_range(begin, end)

    async def commit(self) -> None:
        """Have it all done; what only reads was all read at one moment, and needs no commit."""
        if self._writes:
            await self._answered(self._native.commit(), committing=True)

    async def _answered(self, future: F, *, committing: bool = False) -> F:
        """Return a future that is there; raise what its error means."""
        try:
            await _ready(future, self._seconds)
            future.wait()
        except TimeoutError:
            text = f"libfdb_c said nothing for {self._seconds:g} s"
            raise OutcomeUnknown(text) if committing else DatabaseSilent(text) from None
        except self._library.FDBError as error:
            code, words = _told(error)
            if code == codes.SPECIAL_KEYS:
                raise await self._refused() from None
            raise codes.meaning(code, words, committing=committing) from None
        return future

    async def _refused(self) -> DatabaseRefused:
        """Return why a key of management was refused: the same transaction knows."""
        raw = None
        with suppress(TimeoutError, self._library.FDBError):
            said = self._native.get(_ERROR_MESSAGE)
            await _ready(said, self._seconds)
            raw = said.value
        return codes.refused_by_key(raw)


async def _ready(future: NativeFuture, seconds: float) -> None:
    """Wait until a future is there; raise TimeoutError."""
    if future.is_ready():
        return
    loop = asyncio.get_running_loop()
    there = asyncio.Event()

    def tell(_: object) -> None:
        with suppress(RuntimeError):  # whoever waited is gone, and the loop with them
            loop.call_soon_threadsafe(there.set)

    future.on_ready(tell)
    async with asyncio.timeout(seconds):
        await there.wait()


def _told(error: Exception) -> tuple[int, str]:
    """Return the number of an error and its words, which are bytes there."""
    words = getattr(error, "description", b"")
    text = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
    return int(getattr(error, "code", 0)), text
