"""The stand-in's status beside recordings of the real one, in the same situations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fakes.fdb_databases import STRING, configured, lose, server, unconfigured
from fakes.fdb_statuses import document as recording
from fakes.fdb_statuses import recorded
from stateward.core.facts import Known
from stateward.emulate.fdb import tokens
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document
from stateward.fdb.model import exclusions
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status import coordinators, health, maintenance, movement, processes, recovery
from stateward.fdb.status import exclusions as leaving
from stateward.fdb.status.reading import Status, read


def told(database: Database) -> dict[str, Any]:
    return document.status(database, ConnectionString.parse(STRING), "LAB/run/m/fdb.cluster")


def just_created() -> Database:
    database = unconfigured()
    database.configure(tokens.read(["new", "double", "ssd", "logs=2"]))
    database.advance(10.0)
    return database


def degraded() -> Database:
    database = configured(size=600_000_000)
    lose(database, "storage-5")
    database.advance(database.now + 46.0)
    return database


def excluding() -> Database:
    database = configured(size=600_000_000)
    database.exclude([exclusions.of_instance("storage-4")])
    database.advance(database.now + 2.0)
    return database


def excluded() -> Database:
    database = configured()
    database.exclude([exclusions.parse("127.0.1.5:4501")])
    database.advance(database.now + 60.0)
    return database


def maintained() -> Database:
    database = configured()
    database.begin_maintenance("z5", 600)
    return database


def quorumless() -> Database:
    database = configured()
    lose(database, "storage-2", "storage-3")
    return database


def locked() -> Database:
    database = configured()
    database.store.locked_by = "3d0b3fd4bfee6a2ceb20ca9f3475c1a4"
    return database


def log_lost() -> Database:
    database = configured()
    lose(database, "log-1")
    database.advance(database.now + 1.0)
    return database


def coordinator_lost() -> Database:
    database = configured()
    lose(database, "storage-3")
    database.advance(database.now + 10.0)
    return database


def stuck() -> Database:
    database = configured()
    database.configure(tokens.read(["three_data_hall"]))
    database.advance(database.now + 10.0)
    return database


#: By recording: how the same comes about here.
SITUATIONS: dict[str, Callable[[], Database]] = {
    "healthy": configured,
    "unconfigured": unconfigured,
    "just_created_initializing": just_created,
    "degraded_storage_lost": degraded,
    "exclude_in_progress_healing": excluding,
    "excluded_done": excluded,
    "maintenance_on": maintained,
    "majority_lost_3s": quorumless,
    "locked": locked,
    "log_lost_1s": log_lost,
    "one_coordinator_lost": coordinator_lost,
    "stuck_recruiting": stuck,
}


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield every path of a document, with ``*`` for names of processes and machines."""
    if isinstance(value, dict):
        for key, it in value.items():
            name = "*" if path in ("cluster.processes", "cluster.machines") else key
            yield from paths(it, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield f"{path}[]"
        for it in value:
            yield from paths(it, f"{path}[]")
    else:
        yield path


def test_a_healthy_one_has_every_path_of_the_real_one() -> None:
    ours, theirs = set(paths(told(configured()))), set(paths(recording("healthy")))
    clients = {it for it in theirs if it.startswith("cluster.clients.supported_versions[].")}
    assert theirs - ours == clients, "nobody is connected to it"
    assert ours - theirs == set()


def answers(status: Status) -> dict[str, Any]:
    """Return what an operator asks first."""
    facts = {
        "available": health.is_available(status),
        "configured": health.is_configured(status),
        "locked": health.is_locked(status),
        "replicated": health.is_fully_replicated(status),
        "fewest": health.fewest_replicas(status),
        "moving": movement.is_moving(status),
        "stage": recovery.stage(status),
        "quorum": coordinators.quorum_is_reachable(status),
        "may restart": recovery.may_restart(status),
        "logs lack": health.log_shortage(status),
    }
    found = {name: it.value if isinstance(it, Known) else "?" for name, it in facts.items()}
    tolerance = health.tolerance(status)
    found["may go"] = tolerance.value.spare if isinstance(tolerance, Known) else "?"
    silent = coordinators.coordinators(status)
    assert isinstance(silent, Known)
    found["silent"] = sum(not it.reachable for it in silent.value)
    at_work = maintenance.maintenance(status)
    found["at work"] = at_work.value.zone if isinstance(at_work, Known) and at_work.value else None
    return found


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_answers_as_the_real_one_did(name: str) -> None:
    database = SITUATIONS[name]()
    ours = answers(read(json.dumps(told(database)), database.now))
    assert ours == answers(recorded(name))


def test_who_may_go_by_its_word() -> None:
    database = excluded()
    status = read(json.dumps(told(database)), database.now)
    left = leaving.Leftovers(status)
    found = {
        name: fact.value.why
        for name in ("storage-1", "storage-5", "log-1")
        if isinstance(fact := left.on(name), Known)
    }
    assert found == {
        "storage-1": "it is not excluded",
        "storage-5": "",
        "log-1": "it is not excluded",
    }


def test_processes_say_who_they_are() -> None:
    database = configured()
    status = read(json.dumps(told(database)), database.now)
    found = processes.roster(status)
    assert isinstance(found, Known)
    (one,) = found.value.groups["storage-1"]
    assert str(one.addresses[0]) == str(server("storage-1").address)
    assert one.localities["zoneid"] == "z1"
    assert [it.role for it in one.entry.roles] == ["coordinator", "storage"]  # type: ignore[union-attr]


def test_who_was_just_lost_is_listed_as_the_real_one_lists_it() -> None:
    (real,) = (
        it
        for it in recording("log_lost_1s")["cluster"]["processes"].values()
        if it["address"] == "127.0.2.1:4501"
    )
    ours = told(log_lost())["cluster"]["processes"][server("log-1").disk.process_id]
    assert ours.keys() == real.keys()
    assert ours["roles"] == real["roles"] == []


def test_a_cluster_file_that_is_old_is_told() -> None:
    database = configured()
    database.move_coordinators(database.string.coordinators)
    database.advance(database.now + 60.0)
    assert told(database)["client"]["cluster_file"]["up_to_date"] is False
