"""Laws of the stand-in, whatever befalls it: it always tells, and nothing planned loses anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes.fdb_databases import configured, names, server
from stateward.core.chance import Chance
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.emulate.fdb import data, gray, saving
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.configuration import refusals, tokens
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk
from stateward.emulate.fdb.telling import document
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.status import coordinators, health, processes
from stateward.fdb.status.reading import read

Act = Callable[[Database, str], None]
NEXT = Version(7, 4, 0)


def disk(name: str) -> str:
    return server(name).disk.process_id


def leave(database: Database, name: str) -> None:
    if disk(name) in database.servers or disk(name) in database.strangers:
        database.leave(disk(name))


def start(database: Database, name: str) -> None:
    if disk(name) not in database.servers and disk(name) not in database.cut:
        database.strangers.pop(disk(name), None)
        database.join(server(name, database.now))


def upgrade(database: Database, name: str) -> None:
    leave(database, name)
    if disk(name) not in database.cut:
        other = server(name, database.now)
        other.version = NEXT
        database.join(other)


def wipe(database: Database, name: str) -> None:
    leave(database, name)
    if disk(name) not in database.cut:
        database.join(server(name, database.now, Disk(disk(name)[::-1])))
        database.leave(disk(name)[::-1])


def cut(database: Database, name: str) -> None:
    if disk(name) in database.servers:
        gray.cut_off(database, disk(name))


def reconnect(database: Database, name: str) -> None:
    if disk(name) in database.cut and disk(name) not in database.servers:
        gray.reconnect(database, disk(name))


def exclude(database: Database, name: str) -> None:
    database.exclude([exclusions.of_instance(name)])


def give_up(database: Database, name: str) -> None:
    database.exclude([exclusions.of_instance(name)], failed=True)


def include(database: Database, name: str) -> None:
    database.include([exclusions.of_instance(name)])


def maintain(database: Database, name: str) -> None:
    database.begin_maintenance(server(name).zone, 60)


def move(database: Database, name: str) -> None:
    if database.reachable(server(name).address):
        database.move_coordinators([server(name).address, Address("127.0.1.1", 4501)])


def configure(words: str) -> Act:
    def act(database: Database, _name: str) -> None:
        asked = tokens.read(words.split())
        if not refusals.objection(database.settings, asked, data.seen(database)):
            database.configure(asked)

    return act


PLANNED: dict[str, Act] = {
    "exclude": exclude,
    "include": include,
    "maintain": maintain,
    "logs": configure("logs=3"),
    "triple": configure("triple"),
    "double": configure("double"),
}
ANY: dict[str, Act] = {
    **PLANNED,
    "leave": leave,
    "start": start,
    "upgrade": upgrade,
    "wipe": wipe,
    "cut": cut,
    "reconnect": reconnect,
    "move": move,
    "single": configure("FORCE single"),
    "halls": configure("three_data_hall"),
}
#: What has to do with where data is; more of it than of the rest.
DATA: dict[str, Act] = {
    **PLANNED,
    "leave": leave,
    "start": start,
    "cut": cut,
    "reconnect": reconnect,
    "give up": give_up,
    "exclude more": exclude,
    "leave more": leave,
    "single": configure("FORCE single"),
}
STORES = [it for it in names() if it.startswith("storage")]


def steps(
    acts: dict[str, Act], among: Sequence[str] = tuple(names())
) -> st.SearchStrategy[list[tuple[str, str, float]]]:
    seconds = st.sampled_from([0.0, 0.5, 2.0, 4.0, 10.0, 60.0])
    one = st.tuples(st.sampled_from(sorted(acts)), st.sampled_from(among), seconds)
    return st.lists(one, max_size=12)


def at_once(*lost: str) -> list[tuple[str, str, float]]:
    """Return that processes go, and that a while passes."""
    return [*(("leave", it, 0.0) for it in lost[:-1]), ("leave", lost[-1], 40.0)]


def living(database: Database) -> list[set[str]]:
    """Return of every piece the disks that have it and are there."""
    return [set(it.team) & database.servers.keys() for it in database.shards.pieces]


@given(steps(ANY))
@settings(max_examples=60)
def test_whatever_befalls_it_it_can_be_asked_and_kept(taken: list[tuple[str, str, float]]) -> None:
    database = configured(size=100_000_000)
    for what, name, seconds in taken:
        ANY[what](database, name)
        database.advance(database.now + seconds)
        text = json.dumps(document.status(database, database.string, "fdb.cluster"))
        status = read(text, database.now)
        assert status.flaws == {}
        assert isinstance(coordinators.coordinators(status), Known)
        assert isinstance(health.is_available(status), Known)
        assert all(it in database.servers for it in data.storage_disks(database))
        again = saving.restored(saving.saved(database), Chance(1), lambda _born: database.now)
        assert saving.saved(again) == saving.saved(database)
    assert Fdbcli(database).run("status", 60).code == 0
    assert Fdbcli(database).run("status details", 60).code == 0


@given(steps(PLANNED))
@settings(max_examples=40)
def test_nothing_that_is_planned_loses_a_copy(taken: list[tuple[str, str, float]]) -> None:
    """Whoever excludes and configures all day: what was copied twice is, all the time."""
    database = configured(size=200_000_000)
    for what, name, seconds in taken:
        PLANNED[what](database, name)
        for _ in range(4):
            database.advance(database.now + seconds / 4)
            assert database.shards.fewest_copies(database.servers) >= 2
            assert not database.recovery.serves or processes.roster(
                read(json.dumps(document.status(database, database.string, "f")), 0.0)
            )


@given(steps(DATA, STORES))
@settings(max_examples=150)
@example([("exclude", "storage-1", 0.0), ("exclude", "storage-2", 1.0), *at_once(*STORES[2:])])
@example([("single", "storage-1", 1.0), *at_once("storage-1", "storage-2", "storage-3")])
def test_no_copy_goes_but_with_its_disk_or_for_another(
    taken: list[tuple[str, str, float]],
) -> None:
    """What had a copy that is there keeps one; only who is lost, or given up, takes one away."""
    database = configured(size=100_000_000)
    for what, name, seconds in taken:
        before = living(database)
        DATA[what](database, name)
        running = database.servers.items()
        rest = {disk for disk, it in running if not it.is_meant(database.failed)}
        for had, has in zip(before, living(database), strict=True):
            assert had & rest <= has
        for _ in range(4):
            before, teams = living(database), [it.team for it in database.shards.pieces]
            database.advance(database.now + seconds / 4)
            pairs = list(zip(before, living(database), strict=True))
            assert all(has for had, has in pairs if had)
            for it in filter(lambda it: data.is_drained(database, it), map(server, names())):
                mine = it.disk.process_id
                kept = [has for team, (_, has) in zip(teams, pairs, strict=True) if mine in team]
                assert all(has - {mine} for has in kept), f"{it.address} is not drained"


@given(st.lists(st.sampled_from(names()), max_size=10, unique=True), st.floats(0.1, 300.0))
@settings(max_examples=30)
def test_what_went_and_came_back_is_as_it_was(gone: list[str], seconds: float) -> None:
    database = configured(size=50_000_000)
    for name in gone:
        leave(database, name)
    database.advance(database.now + seconds)
    for name in gone:
        start(database, name)
    database.advance(database.now + 200.0)
    assert database.recovery.name == "fully_recovered"
    assert data.fewest_copies(database) == 2
    assert not database.shards.is_moving()
