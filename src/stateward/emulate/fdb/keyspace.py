"""Keys of the stand-in as the operator has them, with those by which it is managed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from stateward.core.errors import OutcomeUnknown
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import NOT_COMMITTED, FdbError, Transaction
from stateward.emulate.fdb.refusing import refusal
from stateward.fdb.admin.codes import refused_by_key
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import COORDINATORS, Conflicted, Keys, KeyTransaction
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import parse_all

T = TypeVar("T")

_SPECIAL: Final = b"\xff\xff"
_MANAGEMENT: Final = b"\xff\xff/management/"
#: By the folder of a key: whether who is named there counts as failed.
_FOLDERS: Final = {
    b"excluded": False,
    b"excluded_locality": False,
    b"failed": True,
    b"failed_locality": True,
}


class ModelKeys(Keys):
    """Transactions on a model of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        """Do it all, or nothing."""
        database = self._database
        if not database.recovery.serves:
            raise DatabaseSilent("the database does not serve transactions")
        inner = Transaction(database.store, database.now, system=True, aware=True)
        mine = ModelTransaction(database, inner)
        try:
            found = await work(mine)
            if (raw := refusal(database, dict(mine.managed))) is not None:
                raise refused_by_key(raw)
            inner.commit(database.now)
        except FdbError as error:
            if error.code == NOT_COMMITTED:
                raise Conflicted(f"{error.words} ({error.code})") from None
            text = f"{error.words} ({error.code})"
            raise DatabaseRefused(Refusal.OTHER, text) from None
        mine.manage()
        return found


@dataclass(slots=True)
class ModelTransaction:
    """Plain keys go to the store; those of management are kept until it is committed."""

    database: Database
    inner: Transaction
    managed: list[tuple[bytes, bytes | None]]

    def __init__(self, database: Database, inner: Transaction) -> None:
        self.database, self.inner, self.managed = database, inner, []

    async def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        if key == COORDINATORS:
            return ",".join(map(str, self.database.string.coordinators)).encode()
        if key.startswith(_SPECIAL):
            return dict(self._entries()).get(key)
        return self.inner.get(key)

    async def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        """Return keys and values from one on and below another."""
        if begin.startswith(_SPECIAL):
            return sorted(it for it in self._entries() if begin <= it[0] < end)
        return self.inner.get_range(begin, end)

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        if not key.startswith(_SPECIAL):
            self.inner.set(key, value)
            return
        self._mark(key)
        self.managed.append((key, value))

    def clear(self, key: bytes) -> None:
        """Take a key away."""
        if not key.startswith(_SPECIAL):
            self.inner.clear(key)
            return
        self._mark(key)
        self.managed.append((key, None))

    def _mark(self, key: bytes) -> None:
        """Have the transaction write something: what only reads is never refused."""
        self.inner.set(b"\xff/managed/" + key.removeprefix(_SPECIAL), b"")

    def _entries(self) -> list[tuple[bytes, bytes]]:
        found = []
        for folder, failed in _FOLDERS.items():
            every = self.database.failed if failed else self.database.excluded
            is_locality = folder.endswith(b"_locality")
            found += [
                (_MANAGEMENT + folder + b"/" + str(it).encode(), b"")
                for it in every
                if isinstance(it, exclusions.ByLocality) == is_locality
            ]
        return found

    def manage(self) -> None:
        """Do what was asked for by keys of management; new coordinators leave the asker unsure."""
        moved = False
        for key, value in self.managed:
            if key == COORDINATORS and value is not None:
                self.database.move_coordinators(parse_all(value.decode()))
                moved = True
            elif key.startswith(_MANAGEMENT):
                folder, _, who = key.removeprefix(_MANAGEMENT).partition(b"/")
                self._exclude(folder, who, value)
        if moved:
            raise OutcomeUnknown("new coordinators: the commit itself is answered by nobody (1021)")

    def _exclude(self, folder: bytes, who: bytes, value: bytes | None) -> None:
        target = exclusions.parse(who.decode())
        if value is None:
            self.database.include([target], failed=_FOLDERS[folder])
        else:
            self.database.exclude([target], failed=_FOLDERS[folder])
