"""What goes wrong by halves: slow, cut off, out of reach from here, without room, hardly told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.fdb_databases import configured, server
from stateward.core.facts import Known
from stateward.emulate.fdb import data, gray
from stateward.emulate.fdb.asking.clogs import Silence
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document
from stateward.fdb.status import coordinators, health, processes
from stateward.fdb.status.reading import Status, read


def disk(name: str) -> str:
    return server(name).disk.process_id


def told(database: Database, *blocked: str) -> dict[str, Any]:
    view = Viewpoint(frozenset(blocked))
    return document.status(database, database.string, "fdb.cluster", view)


def complaints(seen: dict[str, Any]) -> list[str]:
    """Return what the one who asks complains of, beside that all is emulated."""
    return [it["name"] for it in seen["client"]["messages"] if it["name"] != "emulated"]


def asked(database: Database, *blocked: str) -> Status:
    return read(json.dumps(told(database, *blocked)), database.now)


def after(database: Database, seconds: float) -> Database:
    database.advance(database.now + seconds)
    return database


# -------------------------------------------------------------------------- slow


def test_a_slow_process_says_so_and_is_behind() -> None:
    database = configured()
    gray.slow_down(database, disk("storage-4"), lag=70.4)
    found = told(database)
    entry = found["cluster"]["processes"][disk("storage-4")]
    assert (entry["degraded"], entry["run_loop_busy"]) == (True, 0.98)
    assert entry["messages"] == [
        {
            "description": "Storage server lagging by 70 seconds.",
            "name": "storage_server_lagging",
        }
    ]
    assert found["cluster"]["degraded_processes"] == 1
    assert found["client"]["database_status"] == {"available": True, "healthy": False}
    load = health.load(asked(database))
    assert isinstance(load, Known)
    assert (load.value.data_lag, load.value.durability_lag) == (70.4, 75.4)
    gray.speed_up(database, disk("storage-4"))
    assert told(database)["client"]["database_status"]["healthy"] is True


def test_a_slow_one_is_chosen_last() -> None:
    database = configured()
    gray.slow_down(database, disk("log-1"))
    database.recover("a test")
    assert disk("log-1") not in database.logs[-1].disks


def test_what_a_process_complains_of_is_told() -> None:
    database = configured()
    gray.complain(database, disk("log-2"), "io_error", "it cannot write")
    found = told(database)
    assert found["cluster"]["processes"][disk("log-2")]["messages"] == [
        {"description": "it cannot write", "name": "io_error"}
    ]
    assert found["client"]["database_status"]["healthy"] is False


# -------------------------------------------------------------------------- cut off


def test_who_is_cut_off_is_missed_and_comes_back_as_old_as_it_is() -> None:
    database = configured()
    gray.cut_off(database, disk("storage-5"))
    after(database, 10.0)
    roster = processes.roster(asked(database))
    assert isinstance(roster, Known)
    assert "storage-5" not in roster.value.groups
    gray.reconnect(database, disk("storage-5"))
    (one,) = (
        it for it in told(database)["cluster"]["processes"].values() if "1.5" in it["address"]
    )
    assert one["uptime_seconds"] == 70.0
    assert not database.shards.is_moving()


def test_coordinators_out_of_reach_from_here_are_so_from_here_only() -> None:
    database = configured()
    seen = coordinators.coordinators(asked(database, "127.0.1.3:4501"))
    assert isinstance(seen, Known)
    assert [it.reachable for it in seen.value] == [True, True, False]
    assert told(database)["client"]["coordinators"]["coordinators"][2]["reachable"] is True
    assert health.is_available(asked(database, "127.0.1.3:4501")).value is True  # type: ignore[union-attr]


def test_without_most_coordinators_nothing_is_heard_here() -> None:
    database = configured()
    seen = told(database, "127.0.1.2:4501", "127.0.1.3:4501")
    assert seen["cluster"] == {"layers": {"_valid": False}}
    assert complaints(seen) == ["quorum_not_reachable"]
    assert database.has_quorum


def test_without_its_controller_nothing_is_heard_here() -> None:
    database = configured()
    controller = database.holder("cluster_controller")
    assert controller is not None
    seen = told(database, controller.address.plain)
    assert seen["client"]["coordinators"]["quorum_reachable"] is True
    assert complaints(seen) == ["unreachable_cluster_controller"]


def test_right_after_its_controller_died_there_is_none() -> None:
    database = configured()
    controller = database.holder("cluster_controller")
    assert controller is not None
    database.leave(controller.disk.process_id)
    after(database, 1.0)
    assert complaints(told(database)) == ["no_cluster_controller"]
    after(database, 10.0)
    assert complaints(told(database)) == []


# -------------------------------------------------------------------------- hardly told


@pytest.mark.parametrize("silence", Silence)
def test_a_clogged_status_tells_nothing_of_the_cluster(silence: Silence) -> None:
    database = configured()
    database.clog.silence = silence
    status = asked(database)
    assert complaints(told(database)) == [str(silence)]
    assert isinstance(coordinators.coordinators(status), Known)
    for question in (health.tolerance, health.is_fully_replicated, processes.roster):
        fact = question(status)
        assert not isinstance(fact, Known)
        assert str(silence) in fact.reason
    database.clog.silence = None
    assert complaints(told(database)) == []


@pytest.mark.parametrize("section", ["data", "processes", "configuration", "qos", "logs"])
def test_what_could_not_be_found_out_is_missing_and_said_to_be(section: str) -> None:
    database = configured()
    database.clog.lose([section])
    found = told(database)
    assert section not in found["cluster"]
    (message,) = found["cluster"]["messages"]
    assert message["name"] == "status_incomplete"
    assert found["client"]["database_status"] == {"available": True, "healthy": False}


# -------------------------------------------------------------------------- no room


def test_where_nobody_has_room_nobody_is_excluded() -> None:
    database = configured(size=60_000_000_000)
    assert data.leaves_room(database, [disk("storage-5")])
    for name in ("storage-1", "storage-2", "storage-3", "storage-4"):
        gray.fill_up(database, disk(name))
    answer = Fdbcli(database).run("exclude no_wait 127.0.1.5:4501", 30)
    assert answer.code == 1
    assert "drop below 10%" in answer.err
    assert database.excluded == set()
    assert Fdbcli(database).run("exclude FORCE no_wait 127.0.1.5:4501", 30).code == 0
