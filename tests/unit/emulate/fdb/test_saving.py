"""A database as bytes and back: it answers as before, whatever had happened to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fakes.fdb_databases import configured, lose, unconfigured
from stateward.core.chance import Chance
from stateward.emulate.fdb import gray
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.saving import restored, saved
from stateward.emulate.fdb.telling import document

LINES = (
    "exclude 127.0.1.4:4501",
    "exclude failed no_wait 127.0.3.2:4501",
    "exclude no_wait locality_zoneid:z2",
    "coordinators 127.0.1.1:4501 127.0.1.4:4501 127.0.1.5:4501",
    "maintenance on z5 600",
    "lock",
    "setclass 127.0.1.5:4501 stateless",
    "writemode on; set a b; set \\xff\\x00 \\x00; clear a",
    "configure triple logs=3 storage_migration_type=aggressive ssd-redwood-1",
)


def typed(*lines: str) -> Database:
    database = configured()
    for line in lines:
        Fdbcli(database).run(line, 30)
    return database


def hurt() -> Database:
    database = configured()
    lose(database, "storage-5", "log-1")
    gray.cut_off(database, next(iter(database.servers)))
    database.advance(database.now + 50)
    return database


WORLDS: dict[str, Callable[[], Database]] = {
    "nothing": unconfigured,
    "healthy": configured,
    "hurt": hurt,
    **{line: (lambda line=line: typed(line)) for line in LINES},
    "all": lambda: typed(*LINES),
}


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_restored_answers_as_before(world: str) -> None:
    database = WORLDS[world]()
    now = database.now
    again = restored(saved(database), Chance(1), lambda _born: now)

    assert saved(again) == saved(database)
    assert _told(again) == _told(database)
    for it in (database, again):
        it.advance(now + 120)
    assert _told(again) == _told(database)


def _told(database: Database) -> object:
    return document.status(database, database.string, "fdb.cluster")


@pytest.mark.parametrize("raw", [b"", b"garbage", b"\x80", saved(configured())[:-20]])
def test_what_is_no_database_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="must be readable"):
        restored(raw, Chance(1), lambda born: born)
