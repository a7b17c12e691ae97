"""What a person types to the stand-in beside what was recorded: keys, files, from where it is typed."""

from __future__ import annotations

import json

import pytest

from fakes.fdb_databases import configured, lose, unconfigured
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli.helping import SUMMARIES
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling.prose import EMULATED


def typed(database: Database, line: str, timeout: float = 30.0) -> str:
    answer = Fdbcli(database).run(line, timeout)
    assert (answer.code, answer.err) == (0, "")
    return answer.out


# -------------------------------------------------------------------------- keys


def test_ranges_are_printed_up_to_a_number() -> None:
    database = configured()
    for key in "abc":
        typed(database, f"writemode on; set {key} {key}1")
    assert (
        typed(database, "getrange a c")
        == "\nRange limited to 25 keys\n`a' is `a1'\n`b' is `b1'\n\n"
    )
    assert typed(database, 'getrangekeys "" \\xff 2') == "\nRange limited to 2 keys\n`a'\n`b'\n\n"
    typed(database, "writemode on; clearrange a c")
    assert typed(database, "getrangekeys a") == "\nRange limited to 25 keys\n`c'\n\n"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connection_string", "lab:abcdefgh@127.0.1.1:4501,127.0.1.2:4501,127.0.1.3:4501"),
        ("cluster_file_path", "fdb.cluster"),
        ("configuration/coordinators/cluster_description", "lab"),
        ("configuration/process/class_type/127.0.2.1:4501", "log"),
        ("configuration/process/class_source/127.0.2.1:4501", "command_line"),
        ("management/maintenance/z1", "600"),
        ("management/excluded/127.0.3.1:4501", ""),
    ],
)
def test_special_keys_are_read(key: str, value: str) -> None:
    database = configured()
    database.begin_maintenance("z1", 600)
    typed(database, "exclude no_wait 127.0.3.1:4501")
    assert typed(database, f"get \\xff\\xff/{key}") == f"`\\xff\\xff/{key}' is `{value}'\n"


def test_a_status_is_read_by_its_key() -> None:
    out = typed(configured(), "get \\xff\\xff/status/json")
    text = out.partition(" is `")[2].removesuffix("'\n")
    assert json.loads(text)["client"]["database_status"]["available"] is True


def test_who_leaves_is_listed_until_it_has_left() -> None:
    database, folder = configured(), "\\xff\\xff/management/in_progress_exclusion/"
    line = f"getrangekeys {folder} {folder}\\xff"
    typed_after = Fdbcli(database).run("exclude no_wait 127.0.1.5:4501", 30)
    assert typed_after.code == 0
    assert "127.0.1.5:4501" in typed(database, line)
    database.advance(database.now + 60)
    assert "127.0.1.5:4501" not in typed(database, line)


def test_special_keys_are_written_where_that_was_turned_on() -> None:
    database = configured()
    line = "writemode on; set \\xff\\xff/management/excluded/127.0.1.5:4501 x"
    assert Fdbcli(database).run(line, 30).code == 1
    on = "option on SPECIAL_KEY_SPACE_ENABLE_WRITES; "
    assert Fdbcli(database).run(on + line, 30).code == 0
    assert [str(it) for it in database.excluded] == ["127.0.1.5:4501"]
    typed(database, on + "writemode on; set \\xff\\xff/management/maintenance/z2 60")
    assert database.maintained() is not None
    typed(database, on + "writemode on; clear \\xff\\xff/management/maintenance/z2")
    assert database.maintained() is None
    database.store.locked_by = "0" * 32
    unlock = "option on LOCK_AWARE; writemode on; clear \\xff\\xff/management/db_locked"
    typed(database, on + unlock)
    assert database.store.locked_by == ""


def test_most_coordinators_are_not_given_up() -> None:
    database = configured("new single ssd")
    answer = Fdbcli(database).run("exclude failed 127.0.1.1:4501 127.0.1.2:4501", 30)
    assert "unsafe" in answer.err
    assert database.failed == set()


# -------------------------------------------------------------------------- files, help


def test_a_configuration_may_come_from_a_file() -> None:
    database = configured()
    fdbcli = Fdbcli(database)
    regions = [{"datacenters": [{"id": "dc1", "priority": 1}]}]
    wanted = {"redundancy_mode": "triple", "logs": 4, "regions": regions}
    fdbcli.files = {"new.json": json.dumps(wanted), "bad.json": "{"}.get
    assert fdbcli.run("fileconfigure new.json", 30).out == "Configuration changed\n"
    assert database.settings is not None
    assert (database.settings.redundancy, database.settings.values["logs"]) == ("triple", 4)
    assert [it.center for it in database.settings.regions] == ["dc1"]
    assert fdbcli.run("fileconfigure bad.json", 30).code == 1
    assert "Usage: " in fdbcli.run("fileconfigure nowhere.json", 30).out
    assert fdbcli.run("fileconfigure new new.json", 30).code == 1


def test_help_names_what_there_is() -> None:
    database = configured()
    out = typed(database, "help")
    assert "EMULATED" in out
    for name in SUMMARIES:
        assert f" {name} " in out
        answer = Fdbcli(database).run(name, 5)
        assert "Unknown command" not in answer.err
    assert "read a key" in typed(database, "help get")
    assert typed(database, "help nothing") == "No help available for `nothing'\n"


def test_the_long_status_says_first_that_it_is_emulated() -> None:
    database = configured()
    for line in ("status", "status details"):
        assert typed(database, line).splitlines()[0] == EMULATED
    assert "EMULATED" not in typed(database, "status minimal")


def test_data_stays_where_it_is_while_somebody_wants_that() -> None:
    database = configured(size=100_000_000)
    typed(database, "datadistribution off")
    Fdbcli(database).run("exclude no_wait 127.0.1.5:4501", 30)
    database.advance(database.now + 300)
    assert not database.shards.is_moving()
    assert "127.0.1.5:4501" in typed(
        database,
        "getrangekeys \\xff\\xff/management/in_progress_exclusion/"
        " \\xff\\xff/management/in_progress_exclusion0",
    )
    assert json.loads(typed(database, "status json"))["cluster"]["data_distribution_disabled"]
    typed(database, "datadistribution on")
    database.advance(database.now + 60)
    assert "Successfully" in typed(database, "exclude 127.0.1.5:4501")


def test_the_check_of_copies_is_turned_off_and_on() -> None:
    database = configured()
    assert typed(database, "consistencycheck") == "consistency check: on\n"
    typed(database, "consistencycheck off")
    assert typed(database, "consistencycheck") == "consistency check: off\n"
    typed(database, "consistencycheck on")
    assert not database.unchecked


# -------------------------------------------------------------------------- how long it takes


def without(*gone: str) -> Database:
    database = configured()
    lose(database, *gone)
    database.advance(database.now + 10)
    return database


@pytest.mark.parametrize(
    ("database", "seconds"),
    [
        (configured(), 0.0),
        (unconfigured(), 15.0),
        (without("log-1", "log-2"), 15.0),
        (without("storage-2", "storage-3"), 2.0),
        (without("storage-1", "storage-2", "storage-3"), 5.0),
    ],
    ids=["healthy", "unconfigured", "no logs", "no majority", "no coordinator"],
)
def test_a_status_takes_as_long_as_it_took_there(database: Database, seconds: float) -> None:
    """Seconds as recorded, without those that a program takes to start."""
    began = database.now
    Fdbcli(database).run("status json", 60)
    assert database.now - began == seconds


# -------------------------------------------------------------------------- from where


def test_from_where_nothing_is_reached_it_looks_down() -> None:
    database = configured()
    every = frozenset(it.address.plain for it in database.servers.values())
    fdbcli = Fdbcli(database, view=Viewpoint(every))
    assert "unavailable" in fdbcli.run("status minimal", 30).out
    assert "(unreachable)" in fdbcli.run("status", 30).out
    assert fdbcli.run("getversion", 5).code == 1
    assert fdbcli.run("waitconnected", 5).code == 1
    assert typed(database, "waitconnected; waitopen").splitlines() == [
        ">>> waitconnected",
        ">>> waitopen",
    ]


def test_a_cluster_without_its_controller_is_out_of_reach_for_a_moment() -> None:
    database = configured()
    controller = database.holder("cluster_controller")
    assert controller is not None
    database.leave(controller.disk.process_id)
    assert "no_cluster_controller" in Fdbcli(database).run("status json", 30).out
    database.advance(database.now + 10)
    assert typed(database, "status minimal") == "The database is available.\n"


def test_each_call_counts_as_three_clients_for_a_while() -> None:
    database = configured()
    for _ in range(2):
        typed(database, "getversion")
    found = json.loads(typed(database, "status json"))["cluster"]["clients"]
    assert found["count"] == 9
    database.advance(database.now + 200)
    assert json.loads(typed(database, "status json"))["cluster"]["clients"]["count"] == 3


@pytest.mark.parametrize(
    ("line", "stands"), [("suspend 4 {}", False), ("suspend 4 {}; sleep 3", True)]
)
def test_suspensions_leave_only_with_time(line: str, stands: bool) -> None:
    database = configured()
    fdbcli = Fdbcli(database)
    told: list[tuple[str, float]] = []
    fdbcli.suspended = lambda address, seconds: told.append((address, seconds))
    fdbcli.run("suspend; " + line.format("127.0.1.4:4501"), 20)
    assert told == ([("127.0.1.4:4501", 4.0)] if stands else [])


def test_an_old_file_that_cannot_be_written_is_told_and_goes_on_working() -> None:
    database = configured()
    fdbcli = Fdbcli(database)
    fdbcli.is_writable = False
    typed(database, "coordinators 127.0.1.1:4501 127.0.1.2:4501 127.0.1.4:4501")
    assert "127.0.1.4" in fdbcli.run("coordinators", 30).out
    assert fdbcli.run("getversion", 30).code == 0
    seen = json.loads(fdbcli.run("status json", 30).out)
    assert seen["client"]["cluster_file"]["up_to_date"] is False
    lose(database, "storage-1", "storage-2", "storage-3")
    assert fdbcli.run("getversion", 5).code == 1, "nobody is left who would tell it the way"
