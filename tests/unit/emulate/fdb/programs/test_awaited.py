"""Who begins to control a cluster waits for those who were there before, but not for ever."""

from __future__ import annotations

from fakes.fdb_databases import configured, names, server
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.programs.joining import Awaited

EVERYBODY = {server(name).disk.process_id for name in names()}
LOG = server("log-1").disk.process_id


def begun() -> Database:
    database = configured()
    database.gathers = True
    return database


def test_nobody_is_waited_for_when_all_are_there() -> None:
    database = begun()
    Awaited().look(database, EVERYBODY, 0.0)
    assert not database.gathers
    assert database.servers.keys() == EVERYBODY


def test_one_that_stays_away_is_gone_after_a_while() -> None:
    database, awaited = begun(), Awaited()
    for moment, gathers in ((0.0, True), (1.9, True), (2.0, True), (2.2, False)):
        awaited.look(database, EVERYBODY - {LOG}, moment)
        assert database.gathers is gathers, moment
    assert LOG in database.fallen


def test_where_one_was_restarted_all_have_longer() -> None:
    database, awaited = begun(), Awaited(has_restarted=True)
    awaited.look(database, set(), 0.0)
    awaited.look(database, {LOG}, 29.0)
    assert database.gathers
    awaited.look(database, EVERYBODY, 29.2)
    assert not database.gathers
    assert not database.fallen
