"""The stand-in's status beside recordings of the real one, in the same situations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from fakes.fdb_databases import configured, server
from fakes.fdb_situations import SITUATIONS, Situation
from fakes.fdb_statuses import NAMES, recorded
from fakes.fdb_statuses import document as recording
from stateward.core.chance import Chance
from stateward.core.facts import Fact, Known
from stateward.core.version import Version
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.telling import document
from stateward.fdb.status import (
    clients,
    configuration,
    coordinators,
    health,
    maintenance,
    movement,
    processes,
    recovery,
)
from stateward.fdb.status import exclusions as leaving
from stateward.fdb.status.reading import Status, read


def told(name: str) -> dict[str, Any]:
    """Return what ours says in a situation."""
    found = SITUATIONS[name]()
    return told_by(found)


def told_by(found: Situation) -> dict[str, Any]:
    string = found.string or found.database.string
    return document.status(found.database, string, "LAB/run/m/fdb.cluster")


def test_every_recording_is_brought_about() -> None:
    assert set(NAMES) == SITUATIONS.keys()


# -------------------------------------------------------------------------- paths

#: Where keys are names.
NAMED = (
    *("cluster.processes", "cluster.machines", "cluster.layers.backup.instances"),
    "cluster.layers.backup.tags",
)
#: By beginnings of paths: why only one of the two has them.
EXPLAINED = {
    "client.messages[]": "ours says there that it is emulated",
}
#: By recording, the same of that one alone.
_AGENT = "an agent of backups had run there before"
_AMIDST = "it was asked while a recovery went on, and told of some things before, of others after"
BY_CHANCE = {
    "after_wiped_coordinator": {"cluster.layers.backup": _AGENT},
    "after_wiped_storage": {"cluster.layers.backup": _AGENT},
    "log_lost_1s": {
        "cluster.logs[].end_version": _AMIDST,
        "cluster.processes.*.roles[].commit_": _AMIDST,
        "cluster.processes.*.roles[].grv_": _AMIDST,
    },
}


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield every path of a document, with ``*`` for names of processes and machines."""
    if isinstance(value, dict):
        for key, it in value.items():
            name = "*" if path in NAMED else key
            yield from paths(it, f"{path}.{name}" if path else name)
        if not value:
            yield f"{path}{{}}"
    elif isinstance(value, list):
        yield f"{path}[]"
        for it in value:
            yield from paths(it, f"{path}[]")
    else:
        yield path


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_has_the_paths_of_the_real_one(name: str) -> None:
    ours, theirs = set(paths(told(name))), set(paths(recording(name)))
    explained = tuple(EXPLAINED | BY_CHANCE.get(name, {}))
    assert sorted(it for it in ours ^ theirs if not it.startswith(explained)) == []


def test_what_is_explained_does_differ() -> None:
    for name, reasons in BY_CHANCE.items():
        differing = set(paths(told(name))) ^ set(paths(recording(name)))
        for start in reasons:
            assert any(it.startswith(start) for it in differing), (name, start)


# -------------------------------------------------------------------------- answers

#: Where the real one answered otherwise, and why; by recording and question.
OTHERWISE: dict[tuple[str, str], str] = {}


def said(fact: Fact[Any]) -> Any:
    return fact.value if isinstance(fact, Known) else "?"


def answers(status: Status) -> dict[str, Any]:
    """Return everything that can be asked; of what is measured, whether it is known."""
    found = {
        "available": said(health.is_available(status)),
        "configured": said(health.is_configured(status)),
        "locked": said(health.is_locked(status)),
        "replicated": said(health.is_fully_replicated(status)),
        "fewest": said(health.fewest_replicas(status)),
        "may go": said(health.tolerance(status)),
        "logs lack": said(health.log_shortage(status)),
        "moving": said(movement.is_moving(status)),
        "stage": said(recovery.stage(status)),
        "may restart": said(recovery.may_restart(status)),
        "quorum": said(coordinators.quorum_is_reachable(status)),
        "excluded": said(leaving.excluded(status)),
        "cut off": said(clients.cut_off_by(status, Version(7, 3, 80))),
        "configuration": said(configuration.configuration(status)),
        "coordinators": said(coordinators.coordinators(status)),
        "at work": said(maintenance.maintenance(status)),
    }
    measured = {
        "age": recovery.age(status),
        "recoveries": recovery.count(status),
        "generations": recovery.old_generations(status),
        "load": health.load(status),
        "string": coordinators.connection_string(status),
    }
    found |= {name: isinstance(it, Known) for name, it in measured.items()}
    if found["at work"] not in (None, "?"):
        found["at work"] = found["at work"].zone
    return found | of_processes(status)


def of_processes(status: Status) -> dict[str, Any]:
    """Return who reports, and what is left on each."""
    roster, left = processes.roster(status), leaving.Leftovers(status)
    if not isinstance(roster, Known):
        return {"reporting": "?"}
    found: dict[str, Any] = {"reporting": sorted(roster.value.groups)}
    for name in roster.value.groups:
        on = left.on(name, 1)
        found[f"left on {name}"] = on.value.why if isinstance(on, Known) else "?"
    return found


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_answers_as_the_real_one_did(name: str) -> None:
    ours = answers(read(json.dumps(told(name)), 0.0))
    theirs = answers(recorded(name))
    differing = {
        it: (ours.get(it), theirs.get(it)) for it in ours | theirs if ours.get(it) != theirs.get(it)
    }
    explained = {question for about, question in OTHERWISE if about == name}
    assert {it: both for it, both in differing.items() if it not in explained} == {}
    assert explained <= differing.keys(), "what is explained must differ"


# -------------------------------------------------------------------------- more of it


def test_processes_say_who_they_are() -> None:
    status = read(json.dumps(told("healthy")), 0.0)
    found = processes.roster(status)
    assert isinstance(found, Known)
    (one,) = found.value.groups["storage-1"]
    assert str(one.addresses[0]) == str(server("storage-1").address)
    assert one.localities["zoneid"] == "z1"
    assert [it.role for it in one.entry.roles] == ["coordinator", "storage"]  # type: ignore[union-attr]


def test_processes_of_a_hurried_database_are_as_old_as_the_world_says() -> None:
    """An operator compares that with the age of their pods, which live no faster."""
    database = configured(seconds=600)
    patient, database.times = told_by(Situation(database)), 30
    hurried = told_by(Situation(database))
    for name, one in patient["cluster"]["processes"].items():
        told_age = hurried["cluster"]["processes"][name]["uptime_seconds"]
        assert told_age == pytest.approx(one["uptime_seconds"] / 30, abs=0.001)
    assert saving.restored(saving.saved(database), Chance(1), lambda _born: 600.0).times == 1


def test_who_was_just_lost_is_listed_as_the_real_one_lists_it() -> None:
    (real,) = (
        it
        for it in recording("log_lost_1s")["cluster"]["processes"].values()
        if it["address"] == "127.0.2.1:4501"
    )
    ours = told("log_lost_1s")["cluster"]["processes"][server("log-1").disk.process_id]
    assert ours.keys() == real.keys()
    assert ours["roles"] == real["roles"] == []


def test_a_cluster_file_that_is_old_is_told() -> None:
    found = SITUATIONS["readonly_cluster_file"]()
    seen = told_by(found)["client"]
    assert seen["cluster_file"]["up_to_date"] is False
    (real,) = recording("readonly_cluster_file")["client"]["messages"]
    ours, _ = seen["messages"]
    assert ours["description"].splitlines()[0] == real["description"].splitlines()[0]
    assert ours["description"].splitlines()[3:] == real["description"].splitlines()[3:]


@pytest.mark.parametrize("name", ["unconfigured", "all_logs_down", "stuck_recruiting", "tls"])
def test_messages_are_those_of_the_real_one(name: str) -> None:
    ours, theirs = told(name), recording(name)
    assert ours["cluster"]["messages"] == theirs["cluster"]["messages"]
    *rest, emulated = ours["client"]["messages"]
    assert rest == theirs["client"]["messages"]
    assert emulated["description"].startswith("EMULATED: ")


def test_a_healthy_one_is_called_so() -> None:
    assert told_by(Situation(configured()))["client"]["database_status"] == {
        "available": True,
        "healthy": True,
    }
