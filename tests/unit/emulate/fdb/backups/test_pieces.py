"""Who has which piece of work, for how long, and whose report counts."""

from __future__ import annotations

from fakes.fdb_databases import configured
from stateward.emulate.fdb.backups import agency, backing
from stateward.emulate.fdb.backups.agent import MemoryAgent, carry_out
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.backups.pieces import Kind, Piece
from stateward.emulate.fdb.backups.state import LEASE, AgentSeen, Backup, Stage
from stateward.emulate.fdb.database import Database

FILES = MemoryFiles()


def begun() -> tuple[Database, MemoryAgent, MemoryAgent]:
    """Return a database with a backup that nobody has taken up, and two agents."""
    database = configured()
    backing.submit(database, Backup("default", "b" * 32, "file:///b", 0, interval=60, stops=False))
    one, two = (MemoryAgent(AgentSeen(it), FILES) for it in ("one", "two"))
    return database, one, two


def later(database: Database, seconds: float) -> None:
    database.advance(database.now + seconds)


def taken(agent: MemoryAgent, database: Database) -> Piece:
    piece = agent.take(database)
    assert piece is not None
    return piece


def test_a_piece_is_somebodys_for_a_while() -> None:
    database, one, two = begun()
    first = taken(one, database)
    assert two.take(database) is None
    one.leave(database)
    later(database, LEASE - 1)
    assert two.take(database) is None
    later(database, 2)
    assert taken(two, database).ticket.name == first.ticket.name


def test_nobody_takes_anything_while_agents_are_paused_or_the_database_is_away() -> None:
    database, one, _ = begun()
    database.backups.paused = True
    assert one.take(database) is None
    assert database.backups.backups["default"].stage is Stage.SUBMITTED
    database.backups.paused = False
    database.recovery.served = None
    assert one.take(database) is None


def test_a_late_report_of_a_log_does_not_turn_back() -> None:
    database, one, two = begun()
    while one.step(database):
        pass
    later(database, 25)
    slow = taken(one, database)
    assert slow.ticket.kind is Kind.LOG
    later(database, 20)
    while two.step(database):
        pass
    backup = database.backups.backups["default"]
    assert backup.logged > slow.ticket.end
    before = backup.logged
    agency.report(database, carry_out(slow, FILES))
    assert backup.logged == before


def test_a_report_for_a_place_of_before_does_not_count() -> None:
    database, one, _ = begun()
    piece = taken(one, database)
    backup = database.backups.backups["default"]
    backup.url = "file:///elsewhere"
    agency.report(database, carry_out(piece, FILES))
    assert backup.snapshot is not None
    assert not backup.snapshot.files
    assert taken(one, database).ticket.url == "file:///elsewhere"


def test_of_two_who_did_the_same_the_first_counts() -> None:
    database, one, two = begun()
    first = taken(one, database)
    later(database, LEASE + 1)
    second = taken(two, database)
    for it in (second, first, second):
        agency.report(database, carry_out(it, FILES))
    backup = database.backups.backups["default"]
    assert backup.snapshot is not None
    assert backup.snapshot.files == {0: second.ticket.file}
    assert backup.range_bytes == second.ticket.size


def test_what_was_written_is_forgotten_once_it_is_in_files() -> None:
    database, one, _ = begun()
    store = database.store
    store.write([(b"before", b"1")])
    while one.step(database):
        pass
    store.write([(b"a", b"1"), (b"\xff/system", b"1")])
    assert [writes for _, writes in store.journal] == [[(b"a", b"1")]]
    later(database, 45)
    while one.step(database):
        pass
    assert not store.journal
    backing.abort(database, database.backups.backups["default"])
    store.write([(b"a", b"2")])
    assert not store.journal


def test_agents_are_clients_as_others_are() -> None:
    database, one, _ = begun()
    one.take(database)
    assert [it.libraries for it in database.clients.here.values()]
    one.leave(database)
    assert not database.clients.here
