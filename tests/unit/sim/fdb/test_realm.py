"""Who finds its database, by which coordinators; and what everybody writes down of that."""

from __future__ import annotations

from collections.abc import Callable

from fakes.hand_clock import HandClock
from stateward.core.chance import Chance
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.sim.fdb.realm import Process, Realm, Volume

FILE = "/var/fdb/data/fdb.cluster"
FIRST = ConnectionString.parse("shop:first@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501")


class Place:
    """Some processes, each on a volume of its own."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.realm = Realm(self.clock, Chance(1))
        self.volumes: dict[int, Volume] = {}
        self.ends: list[tuple[int, int]] = []

    def start(self, *numbers: int, string: ConnectionString = FIRST) -> None:
        """Start processes; a cluster file that is there counts more than what is given."""
        for it in numbers:
            volume = self.volumes.setdefault(it, Volume())
            volume.cluster_files.setdefault(FILE, string)
            disk = volume.disks.setdefault("/var/fdb/data/1", Disk(f"{it:032x}"))
            zone = {"zoneid": f"z{it}", "instance_id": f"storage-{it}"}
            server = Server((Address(f"10.0.0.{it}", 4501),), disk, ProcessClass.STORAGE, zone)
            ended = self._ended(it)
            self.realm.start(Process(server, volume, FILE, ended))

    def _ended(self, number: int) -> Callable[[int], None]:
        return lambda code: self.ends.append((number, code))

    def stop(self, *numbers: int) -> None:
        """Stop processes."""
        for it in numbers:
            self.realm.stop(self.process(it))

    def process(self, number: int) -> Process:
        """Return a process that runs."""
        volume = self.volumes[number]
        return next(it for it in self.realm.processes if it.volume is volume)

    def part(self) -> list[int]:
        """Return who is part of its database."""
        every = {id(it.volume): it for it in self.realm.processes if it.database is not None}
        return [number for number, it in self.volumes.items() if id(it) in every]

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)
        self.realm.advance()

    def configured(self) -> None:
        """Make a database of five."""
        self.start(1, 2, 3, 4, 5)
        self.realm.database(FIRST).configure(tokens.read(["new", "double", "ssd"]))
        self.wait(60)

    def move(self, *numbers: int) -> ConnectionString:
        """Have others coordinate."""
        database = self.realm.database(FIRST)
        database.move_coordinators([Address(f"10.0.0.{it}", 4501) for it in numbers])
        self.realm.settle()
        self.wait(60)
        return database.string


def test_nobody_finds_a_database_before_a_coordinator_runs() -> None:
    at = Place()
    at.start(4, 5)
    assert at.part() == []
    at.start(1)
    assert at.part() == [4, 5, 1]


def test_everybody_writes_down_who_coordinates_now_and_comes_back_by_that() -> None:
    at = Place()
    at.configured()
    moved = at.move(3, 4, 5)
    assert all(it.cluster_files[FILE] == moved for it in at.volumes.values())
    at.stop(1, 2, 3, 4, 5)
    at.wait(60)
    at.start(3, 4, 1)
    assert at.part() == [1, 3, 4]
    assert at.realm.database(moved) is at.realm.database(FIRST)


def test_who_was_away_is_shown_the_way_by_most_of_those_before() -> None:
    at = Place()
    at.configured()
    at.stop(2)
    moved = at.move(3, 4, 5)
    at.start(2)
    assert 2 in at.part()
    assert at.volumes[2].cluster_files[FILE] == moved


def test_and_by_nobody_once_they_are_gone() -> None:
    at = Place()
    at.configured()
    at.move(3, 4, 5)
    at.stop(1, 2)
    at.start(6)
    assert 6 not in at.part()
    assert at.volumes[6].cluster_files[FILE] == FIRST
    at.start(1)  # two of three that remember are enough
    assert 6 in at.part()


def test_one_who_is_killed_is_told_of_and_leaves() -> None:
    at = Place()
    at.configured()
    at.realm.kill("10.0.0.4:4501", (7, 3))
    assert at.ends == [(4, 0)]
    assert at.part() == [1, 2, 3, 5]
    at.realm.kill("10.0.0.4:4501", (7, 3))
    assert at.ends == [(4, 0)]


def test_two_databases_have_nothing_to_do_with_each_other() -> None:
    at = Place()
    at.configured()
    other = ConnectionString.parse("stock:first@10.0.0.7:4501")
    at.start(7, string=other)
    assert at.realm.database(other) is not at.realm.database(FIRST)
    assert len(at.realm.database(other).servers) == 1
    assert len(at.realm.database(FIRST).servers) == 5
