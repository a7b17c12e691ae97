"""What befalls a database of the stand-in, and what it does about it, as the real one was seen to."""

from __future__ import annotations

import pytest

from fakes.fdb_databases import come_back, configured, lose, server, unconfigured
from stateward.emulate.fdb import data
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.database import Database
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address


def storage(name: str) -> str:
    return server(name).disk.process_id


def after(database: Database, seconds: float) -> Database:
    database.advance(database.now + seconds)
    return database


def configure(database: Database, words: str) -> None:
    database.configure(tokens.read(words.split()))


def test_a_new_database_serves_at_once_and_is_looked_at_later() -> None:
    database = unconfigured()
    assert database.recovery.name == "configuration_never_created"
    configure(database, "new double ssd logs=2")
    after(database, 1.0)
    assert database.recovery.serves
    assert not database.has_looked
    after(database, 40.0)
    assert database.has_looked
    assert database.recovery.name == "fully_recovered"
    assert database.shards.fewest_copies(database.servers) == 2


def test_roles_go_where_they_fit() -> None:
    database = configured()
    logs = database.logs[-1].disks
    assert sorted(logs) == sorted([storage("log-1"), storage("log-2")])
    free = database.roles[storage("stateless-1")] + database.roles[storage("stateless-2")]
    assert {"master", "grv_proxy", "resolver"} <= set(free)
    assert database.roles[storage("storage-1")] == []


def test_a_lost_storage_process_is_missed_first_and_healed_later() -> None:
    database = configured()
    before = database.recovery.generation
    lose(database, "storage-5")
    after(database, 10.0)
    assert storage("storage-5") not in database.servers
    assert not database.shards.is_moving()
    assert database.shards.fewest_copies(database.servers) == 1
    after(database, 90.0)
    assert database.shards.fewest_copies(database.servers) == 2
    assert database.recovery.generation == before, "no recovery for data alone"


def test_one_that_comes_back_in_time_moves_nothing() -> None:
    database = configured()
    lose(database, "storage-5")
    after(database, 20.0)
    come_back(database, "storage-5")
    after(database, 5.0)
    assert not database.shards.is_moving()
    assert database.shards.fewest_copies(database.servers) == 2


def test_in_maintenance_nothing_is_healed() -> None:
    database = configured()
    database.begin_maintenance("z5", 600)
    lose(database, "storage-5")
    after(database, 300.0)
    assert not database.shards.is_moving()
    after(database, 400.0)
    assert database.maintained() is None
    assert database.shards.fewest_copies(database.servers) == 2


def test_maintenance_ends_where_data_of_another_zone_is_lost() -> None:
    database = configured()
    database.begin_maintenance("z5", 600)
    lose(database, "storage-5", "log-2")
    after(database, 10.0)
    assert database.maintained() is not None
    lose(database, "storage-4")
    after(database, 10.0)
    assert database.maintained() is None


def test_a_new_database_may_be_locked_and_a_configuration_may_exclude() -> None:
    database = unconfigured()
    configure(database, "new double ssd locked")
    assert len(database.store.locked_by) == 32
    configure(database, "exclude=127.0.1.5:4501")
    assert [str(it) for it in database.excluded] == ["127.0.1.5:4501"]


def test_a_lost_log_is_a_recovery() -> None:
    database = configured()
    before = database.recovery.generation
    lose(database, "log-1")
    after(database, 10.0)
    assert database.recovery.generation == before + 2
    assert storage("log-3") in database.logs[-1].disks
    assert database.recovery.causes[-1][1] == "127.0.2.1:4501 was lost"


def test_with_all_logs_lost_nobody_can_write_until_one_is_back() -> None:
    database = configured()
    lose(database, "log-1", "log-2")
    after(database, 5.0)
    assert database.recovery.name == "locking_coordinated_state"
    assert not database.recovery.serves
    come_back(database, "log-1")
    after(database, 5.0)
    assert database.recovery.serves


def test_data_leaves_whom_is_excluded() -> None:
    database = configured()
    gone = exclusions.of_instance("storage-4")
    database.exclude([gone])
    assert not data.is_drained(database, database.servers[storage("storage-4")])
    assert database.shards.fewest_copies(database.servers) == 2
    after(database, 60.0)
    assert data.is_drained(database, database.servers[storage("storage-4")])
    database.include([gone])
    assert database.excluded == set()


def test_logs_leave_whom_is_excluded_with_the_generation() -> None:
    database = configured()
    database.exclude([exclusions.parse("127.0.2.1:4501")])
    log = database.servers[storage("log-1")]
    assert not data.is_drained(database, log), "the generation before is still needed"
    after(database, 20.0)
    assert data.is_drained(database, log)


def test_an_exclusion_of_one_zone_too_many_takes_the_database_down() -> None:
    database = configured()
    for name in ("log-1", "log-2", "log-3", "storage-2", "storage-3", "storage-4", "storage-5"):
        database.exclude([exclusions.of_instance(name)])
    assert database.recovery.name == "recruiting_transaction_servers"
    configure(database, "FORCE single logs=1")
    after(database, 5.0)
    assert database.recovery.serves


def test_without_data_halls_three_data_hall_takes_it_down() -> None:
    database = configured()
    configure(database, "three_data_hall")
    assert database.recovery.name == "recruiting_transaction_servers"
    configure(database, "FORCE double")
    after(database, 1.0)
    assert database.recovery.serves


def test_a_majority_of_coordinators_away_ends_nothing_that_runs() -> None:
    database = configured()
    lose(database, "storage-1", "storage-2")
    after(database, 20.0)
    assert not database.has_quorum
    assert database.recovery.serves, "transactions go on"
    lose(database, "log-1")
    after(database, 10.0)
    assert database.recovery.name == "reading_coordinated_state"
    come_back(database, "storage-1")
    after(database, 5.0)
    assert database.recovery.serves


def test_new_coordinators_have_a_new_name() -> None:
    database = configured()
    before = database.string
    database.move_coordinators([Address("127.0.1.4", 4501)])
    assert database.string.description == before.description
    assert (database.string.id != before.id, len(database.string.id)) == (True, 32)
    after(database, 1.0)
    assert database.recovery.serves


@pytest.mark.parametrize(
    ("words", "disturbs"),
    [("double", False), ("logs=3", True), ("perpetual_storage_wiggle=1", True)],
)
def test_which_changes_are_a_recovery(words: str, disturbs: bool) -> None:
    database = configured()
    before = database.recovery.generation
    configure(database, words)
    assert (database.recovery.generation > before) == disturbs
    assert database.has_looked, "what was seen last is still told"
    after(database, 6.0)
    assert not database.has_looked, "the data distributor begins anew in any case"


def test_time_that_nothing_happens_in_costs_nothing() -> None:
    database = configured()
    database.advance(database.now + 1e9)
    assert database.recovery.serves
