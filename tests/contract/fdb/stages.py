"""How the world was before each recording, what happened in it meanwhile, and what differs by chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, cycle

from fakes.fdb_databases import (
    come_back,
    configured,
    lose,
    server,
    small,
    small_server,
    tls,
    unconfigured,
)
from fakes.fdb_situations import degraded, lost
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import Transaction
from stateward.fdb.model import exclusions

Act = Callable[[Database], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """A recording's beginning, what happened right before some of its steps, and what differs."""

    begin: Callable[[], Database] = configured
    #: Seconds between two steps.
    pause: float = 45.0
    acts: Mapping[int, Act] = field(default_factory=dict)
    #: By step: addresses that whoever typed it did not get through to.
    blocked: Mapping[int, frozenset[str]] = field(default_factory=dict)
    #: By step: why ours is another.
    explained: Mapping[int, str] = field(default_factory=dict)


def unlock(database: Database) -> None:
    """What a program did by the special key."""
    database.store.locked_by = ""


def large() -> Database:
    """Return a database with so much data that it takes a while to move it."""
    return configured(size=1_200_000_000)


def filled() -> Database:
    """Return a database that has the keys of the recordings, in which every two are a team."""
    database = configured(size=100_000_000)
    disks = [server(f"storage-{it}").disk.process_id for it in range(1, 6)]
    for piece, team in zip(database.shards.pieces, cycle(combinations(disks, 2)), strict=False):
        piece.team = team
    work = Transaction(database.store, database.now)
    for key in (b"\x14", b"\x15\x01", b"\x15\x02"):
        work.set(b"\x02fill\x00\x14" + key, b"x")
    work.commit(database.now)
    return database


def later(seconds: float) -> Act:
    return lambda database: database.advance(database.now + seconds)


def without(*names: str) -> Act:
    return lambda database: lose(database, *names)


def with_again(*names: str) -> Act:
    return lambda database: come_back(database, *names)


def stuck() -> Database:
    """Return a database that was asked for data halls that it does not have."""
    database = configured()
    database.configure(tokens.read(["three_data_hall"]))
    database.advance(database.now + 30)
    return database


def stuck_small() -> Database:
    """Return the small one with two of three excluded, one of these lost, and a new one since."""
    database = small("new double ssd logs=2")
    for number in (2, 3):
        database.exclude([exclusions.parse(f"127.0.8.{number}:4501")])
        database.advance(database.now + 60)
    database.leave(small_server(3).disk.process_id)
    database.advance(database.now + 20)
    database.join(small_server(5))
    database.advance(database.now + 8)
    return database


def with_coordinators() -> Database:
    """Return the small one with three more processes that do nothing but coordinate."""
    database = small("new double ssd logs=2")
    for number in (11, 12, 13):
        database.join(small_server(number, "coordinator"))
    return database


def without_two_coordinators(database: Database) -> None:
    for number in (12, 13):
        database.leave(small_server(number).disk.process_id)
    database.advance(database.now + 3)


STAGES: Mapping[str, Stage] = {
    "01_unconfigured": Stage(unconfigured),
    "02_configure_new": Stage(unconfigured, pause=1.0, acts={10: later(60.0)}),
    "03_configure": Stage(),
    "03b_stuck_configuration": Stage(stuck),
    "03c_configure_more": Stage(),
    "04_exclude_include": Stage(),
    "04b_exclude_with_data": Stage(large, pause=1.0),
    "05_exclude_unsafe": Stage(),
    "07_coordinators": Stage(
        explained={
            16: "there `auto` had chosen others, so the one that is excluded coordinated not"
        }
    ),
    "09_kill_suspend": Stage(),
    "10_setclass": Stage(),
    "11_maintenance": Stage(pause=1.0),
    "12_lock": Stage(acts={15: unlock}, explained={13: "the word that must be typed is drawn"}),
    "04c_exclude_in_progress": Stage(
        large,
        pause=1.0,
        acts={10: without("log-3")},
        explained={10: "it was not yet known to be gone there, and so called drained"},
    ),
    "08_coordinator_lost": Stage(acts={0: without("storage-3"), 2: with_again("storage-3")}),
    "20_too_few_zones": Stage(small),
    "20b_way_out_of_stuck_exclusion": Stage(stuck_small),
    "21_majority_lost_still_serving": Stage(
        with_coordinators, pause=5.0, acts={3: without_two_coordinators}
    ),
    "06_all_logs_down": Stage(lambda: lost(20.0, "log-1", "log-2", "log-3"), pause=1.0),
    "06_degraded": Stage(degraded, pause=1.0),
    "09b_suspend": Stage(),
    "17_protocol": Stage(),
    "18_tls": Stage(
        tls,
        pause=1.0,
        blocked={9: frozenset({"127.0.7.1:4501", "127.0.7.2:4501"})},
        explained={0: "the program itself says so, before it asks anybody"},
    ),
    "19b_readonly_cluster_file": Stage(pause=1.0),
    "22_exclude_failed_with_data": Stage(filled),
    "08_majority_coordinators_lost": Stage(acts={0: without("storage-2", "storage-3")}, pause=1.0),
}
#: Recordings of other programs, of other clusters, or of what the model does not do yet.
NOT_PLAYED: Mapping[str, str] = {
    "00_programs": "versions and options of all programs: for the programs themselves",
    "06_degraded_log": "statuses only; tests/unit/emulate/fdb/test_status.py",
    "15_python_binding": "the binding",
    "16_fdbmonitor": "fdbmonitor; tests/local/keepers/test_recorded_story.py",
    "19_cluster_file": "statuses only",
    "19_coordinator_wiped": "statuses only",
}
#: Recordings of fdbbackup and fdbrestore: test_backup_recordings.py.
OF_BACKUPS = frozenset({"13_backup", "14_restore"})
