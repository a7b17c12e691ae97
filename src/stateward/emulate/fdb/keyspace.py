"""Keys of the stand-in as the operator has them, with those by which it is managed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from stateward.core.errors import OutcomeUnknown
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import NOT_COMMITTED, FdbError, Transaction
from stateward.emulate.fdb.refusing import refusal
from stateward.emulate.fdb.telling import specials
from stateward.fdb.admin.codes import refused_by_key
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import COORDINATORS, Conflicted, Keys, KeyTransaction
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.classes import ProcessClass

T = TypeVar("T")

_CLASSES: Final = b"\xff\xff/configuration/process/class_type/"


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
        if key.startswith(specials.SPECIAL):
            return specials.value(self.database, key)
        return self.inner.get(key)

    async def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        """Return keys and values from one on and below another."""
        if begin.startswith(specials.SPECIAL):
            return specials.span(self.database, begin, end)
        return self.inner.get_range(begin, end)

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""
        if not key.startswith(specials.SPECIAL):
            self.inner.set(key, value)
            return
        self._mark(key)
        self.managed.append((key, value))

    def clear(self, key: bytes) -> None:
        """Take a key away."""
        if not key.startswith(specials.SPECIAL):
            self.inner.clear(key)
            return
        self._mark(key)
        self.managed.append((key, None))

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another: none of management."""
        self.inner.clear_range(begin, end)

    def _mark(self, key: bytes) -> None:
        """Have the transaction write something: what only reads is never refused."""
        self.inner.set(b"\xff/managed/" + key.removeprefix(specials.SPECIAL), b"")

    def manage(self) -> None:
        """Do what was asked for by keys of management; new coordinators leave the asker unsure."""
        moved = False
        for key, value in self.managed:
            if key == COORDINATORS and value is not None:
                self.database.move_coordinators(parse_all(value.decode()))
                moved = True
            else:
                manage(self.database, key, value)
        if moved:
            raise OutcomeUnknown("new coordinators: the commit itself is answered by nobody (1021)")


def manage(database: Database, key: bytes, value: bytes | None) -> None:
    """Do what somebody asks for by one key, but for new coordinators."""
    name = key.removeprefix(specials.MANAGEMENT)
    folder, _, who = name.partition(b"/")
    if folder in specials.FOLDERS:
        _exclude(database, folder, who, value)
    elif folder == b"maintenance":
        if value is None:
            database.maintenance = None
        else:
            database.begin_maintenance(who.decode(), float(value))
    elif name == b"db_locked":
        database.store.locked_by = "" if value is None else value.decode()
    elif key.startswith(_CLASSES) and value is not None:
        server = database.server_at(key.removeprefix(_CLASSES).decode())
        if server is not None:
            server.disk.chosen_class = ProcessClass(value.decode())


def _exclude(database: Database, folder: bytes, who: bytes, value: bytes | None) -> None:
    target = exclusions.parse(who.decode())
    if value is None:
        database.include([target], failed=specials.FOLDERS[folder])
    else:
        database.exclude([target], failed=specials.FOLDERS[folder])
