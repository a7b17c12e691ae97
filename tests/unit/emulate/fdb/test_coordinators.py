"""What coordinators keep: who is wiped is told again by the others; who was left shows the way."""

from __future__ import annotations

from fakes.fdb_databases import STRING, come_back, configured, lose, server
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

OLD = ConnectionString.parse(STRING)
HERE = Viewpoint()


def wipe(database: Database, *some: str) -> None:
    lose(database, *some)
    for name in some:
        number = int(name.rpartition("-")[2])
        database.join(server(name, database.now, Disk(f"{number}" * 32)))


def moved() -> Database:
    database = configured()
    database.move_coordinators([Address(f"127.0.1.{it}", 4501) for it in (3, 4, 5)])
    database.advance(database.now + 60)
    return database


def test_one_that_was_wiped_is_told_again() -> None:
    database = configured()
    for name in ("storage-1", "storage-2", "storage-3"):
        wipe(database, name)
        database.advance(database.now + 100)
    database.recover("a test")
    database.advance(database.now + 5)
    assert database.recovery.serves


def test_a_majority_that_was_wiped_at_once_has_lost_the_database() -> None:
    database = configured()
    lose(database, "storage-1", "storage-2")
    database.advance(database.now + 5)
    for name in ("storage-1", "storage-2"):
        database.join(server(name, database.now, Disk(name[-1] * 32)))
    database.recover("a test")
    database.advance(database.now + 5)
    assert database.recovery.name == "configuration_never_created"
    assert not database.recovery.serves
    for name in ("storage-1", "storage-2"):
        database.leave(name[-1] * 32)
    come_back(database, "storage-1", "storage-2")
    database.advance(database.now + 5)
    assert database.recovery.serves, "the disks are there again"


def test_those_before_show_the_way_as_long_as_most_of_them_answer() -> None:
    database = moved()
    assert HERE.is_let_in(database, OLD)
    lose(database, "storage-1")
    assert HERE.is_let_in(database, OLD)
    lose(database, "storage-2")
    assert not HERE.is_let_in(database, OLD)
    assert HERE.is_let_in(database, database.string)


def test_those_before_forget_it_with_their_disks() -> None:
    database = moved()
    wipe(database, "storage-1", "storage-2")
    assert not HERE.is_let_in(database, OLD)


def test_one_of_now_is_enough_to_be_let_in() -> None:
    """As recorded: transactions go on while a majority of coordinators is away."""
    database = moved()
    lose(database, "storage-3", "storage-4")
    assert HERE.is_let_in(database, database.string)
    assert not HERE.sees_quorum(database, database.string)
