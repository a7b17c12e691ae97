"""Processes that are restarted cost one recovery, however many they are and in whatever order."""

from __future__ import annotations

import pytest

from fakes.fdb_databases import come_back, configured, lose, names
from stateward.emulate.fdb import recovering
from stateward.emulate.fdb.database import Database

EVERYBODY = tuple(names())


def restarted(database: Database, order: tuple[str, ...], between: float) -> None:
    """Restart all: they end at once, and come back one after another."""
    for name in EVERYBODY:
        lose(database, name)
    for name in order:
        database.advance(database.now + between)
        come_back(database, name)


@pytest.mark.parametrize("order", [EVERYBODY, EVERYBODY[::-1]], ids=["data-first", "data-last"])
@pytest.mark.parametrize("between", [0.0, 1.0, 5.0])
def test_all_who_are_waited_for_are_one_recovery(order: tuple[str, ...], between: float) -> None:
    database = configured()
    before = database.recovery.generation
    database.gathers = True
    restarted(database, order, between)
    assert not database.recovery.serves, "nobody is recruited before all are there"
    recovering.gathered(database)
    database.advance(database.now + 60.0)
    assert database.recovery.name == "fully_recovered"
    assert database.recovery.generation == before + 2


def test_a_recovery_that_waits_goes_on_and_is_no_other_one() -> None:
    database = configured()
    for name in EVERYBODY:
        lose(database, name)
    database.advance(database.now + 60.0)
    assert not database.recovery.serves
    waits = database.recovery.generation
    come_back(database, "storage-1")
    assert database.recovery.generation == waits
    assert len(database.recovery.causes) == waits // 2


def test_who_waits_for_nobody_recruits_at_once() -> None:
    database = configured()
    before = database.recovery.generation
    recovering.gathered(database)
    assert database.recovery.generation == before, "it serves: nothing is to be done"
