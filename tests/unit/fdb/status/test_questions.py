"""What recorded statuses answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.fdb_statuses import (
    NAMES,
    document,
    recorded,
    short,
)
from stateward.core.facts import Known, Unknown
from stateward.core.version import Version
from stateward.fdb.status import (
    clients,
    configuration,
    coordinators,
    exclusions,
    health,
    maintenance,
    movement,
    processes,
    recovery,
)
from stateward.fdb.status.reading import Status, read

NEXT = Version(7, 4, 0)


def spare(status: Status) -> Any:
    found = health.tolerance(status)
    return found.value.spare if isinstance(found, Known) else "?"


# -------------------------------------------------------------------------- recorded ones

#: available, fully replicated, fewest replicas, may go, moving, recovery
ANSWERS = {
    "healthy": (True, True, 2, 1, False, "fully_recovered"),
    "just_created_initializing": (True, "?", "?", 1, "?", "fully_recovered"),
    "right_after_logs_change": (True, "?", "?", 1, "?", "all_logs_recruited"),
    "degraded_storage_lost": (True, False, 1, 0, True, "fully_recovered"),
    "exclude_in_progress": (True, True, 2, 1, True, "fully_recovered"),
    "exclude_in_progress_healing": (True, False, 2, 1, True, "fully_recovered"),
    "log_lost_1s": (True, True, 2, 0, False, "fully_recovered"),
    "one_coordinator_lost": (True, True, 2, 0, False, "fully_recovered"),
    "majority_lost_3s": (False, "?", "?", "?", "?", "?"),
    "all_logs_down": (False, "?", "?", "?", "?", "locking_coordinated_state"),
    "stuck_recruiting": (False, "?", "?", "?", "?", "recruiting_transaction_servers"),
    "unconfigured": (False, "?", "?", "?", "?", "configuration_never_created"),
    "maintenance_on": (True, True, 2, 0, False, "fully_recovered"),
    "locked": (True, True, 2, 1, False, "fully_recovered"),
}


@pytest.mark.parametrize(("name", "answers"), ANSWERS.items(), ids=ANSWERS)
def test_what_recorded_statuses_answer(name: str, answers: tuple[Any, ...]) -> None:
    status = recorded(name)
    assert (
        short(health.is_available(status)),
        short(health.is_fully_replicated(status)),
        short(health.fewest_replicas(status)),
        spare(status),
        short(movement.is_moving(status)),
        short(recovery.stage(status)),
    ) == answers


@pytest.mark.parametrize("name", NAMES)
def test_every_recording_is_read_whole(name: str) -> None:
    assert recorded(name).flaws == {}


@pytest.mark.parametrize(
    ("name", "instance", "left"),
    [
        ("healthy", "storage-5", "it is not excluded"),
        ("exclude_in_progress", "storage-5", "it has the role storage"),
        ("excluded_done", "storage-5", ""),
        ("excluded_by_locality", "storage-5", ""),
        ("excluded_4_of_5_storage_on_log_class", "storage-4", ""),
        ("excluded_4_of_5_storage_on_log_class", "storage-1", "it is not excluded"),
    ],
)
def test_what_is_left_on_a_process(name: str, instance: str, left: str) -> None:
    found = exclusions.Leftovers(recorded(name)).on(instance, 1)
    assert isinstance(found, Known)
    assert (found.value.why, found.value.is_gone) == (left, not left)


@pytest.mark.parametrize(
    ("name", "instance", "why"),
    [
        ("healthy", "storage-9", "storage-9 does not report"),
        ("majority_lost_3s", "storage-1", "no cluster.processes (quorum_not_reachable)"),
        ("exclude_stuck_too_few_zones", "s1", "the status has no cluster.processes."),
    ],
)
def test_of_whom_nobody_knows(name: str, instance: str, why: str) -> None:
    found = exclusions.Leftovers(recorded(name)).on(instance, 1)
    assert isinstance(found, Unknown)
    assert why in found.reason


def test_a_log_of_an_earlier_generation_is_something_left() -> None:
    tree = document("excluded_done")
    (process,) = (
        it
        for it in tree["cluster"]["processes"].values()
        if it["locality"]["instance_id"] == "storage-5"
    )
    old = {"address": process["address"], "healthy": True, "id": "1"}
    tree["cluster"]["logs"].append({"current": False, "epoch": 1, "log_interfaces": [old]})
    found = exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", 1)
    assert short(found) == exclusions.Left("logs of a generation are on it")


def test_who_did_not_answer_is_listed_without_roles_and_may_not_go() -> None:
    """As in log_lost_1s: a second after its end a log is still listed, and with no role at all."""
    (lost,) = (
        it
        for it in document("log_lost_1s")["cluster"]["processes"].values()
        if it["address"] == "127.0.2.1:4501"
    )
    assert (lost["roles"], "uptime_seconds" in lost) == ([], False)
    tree = document("excluded_done")
    for it in tree["cluster"]["processes"].values():
        it.pop("uptime_seconds")
    found = exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", 1)
    assert isinstance(found, Unknown)
    assert "did not answer" in found.reason


def test_who_has_just_started_may_not_have_named_its_roles() -> None:
    tree = document("excluded_done")
    found = []
    for seconds in (119.0, 120.0):
        for it in tree["cluster"]["processes"].values():
            it["uptime_seconds"] = seconds
        found.append(exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", 1))
    assert isinstance(found[0], Unknown)
    assert found[0].reason.startswith("storage-5 has run for less than 120 s"), "and no hash"
    assert isinstance(found[1], Known)


def test_who_has_a_role_that_nobody_knows_may_not_go() -> None:
    tree = document("excluded_done")
    for it in tree["cluster"]["processes"].values():
        it["roles"].append({"role": "time_keeper"})
    found = exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", 1)
    assert isinstance(found, Unknown)
    assert "a role that nobody knows: time_keeper" in found.reason


def test_a_process_without_a_name_may_be_part_of_the_pod_beside_it() -> None:
    tree = document("excluded_done")
    (mine,) = (
        it
        for it in tree["cluster"]["processes"].values()
        if it["locality"]["instance_id"] == "storage-5"
    )
    other = {**mine, "locality": {"machineid": mine["locality"]["machineid"]}}
    tree["cluster"]["processes"]["other"] = other
    found = exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", 1)
    assert found == Unknown("a process beside storage-5 does not say whose it is")
    other["locality"]["machineid"] = "elsewhere"
    assert short(exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", 1)).is_gone


def two_in_a_pod() -> dict[str, Any]:
    """Return a status in which storage-5 is two processes: one has nothing left, the other has."""
    tree = document("excluded_done")
    every = tree["cluster"]["processes"]
    (mine,) = (it for it in every.values() if it["locality"]["instance_id"] == "storage-5")
    roles = [{"role": "storage", "id": "1", "stored_bytes": 100}]
    every["second"] = {**mine, "address": "127.0.1.5:4503", "roles": roles}
    return tree


@pytest.mark.parametrize(
    ("reporting", "many", "said"),
    [
        (2, 2, "it has the role storage"),
        (1, 2, "of storage-5 1 of 2 processes report"),
        (1, 1, ""),
        (2, 1, "it has the role storage"),
        (2, 3, "of storage-5 2 of 3 processes report"),
    ],
)
def test_a_pod_of_several_processes_has_nothing_left_when_all_of_them_say_so(
    reporting: int, many: int, said: str
) -> None:
    tree = two_in_a_pod()
    if reporting == 1:
        del tree["cluster"]["processes"]["second"]
    found = exclusions.Leftovers(read(json.dumps(tree), 0.0)).on("storage-5", many)
    why = found.value.why if isinstance(found, Known) else found.reason
    assert why.startswith(said)
    assert isinstance(found, Known) == (reporting >= many)
    assert (isinstance(found, Known) and found.value.is_gone) == (not said)


def test_who_is_excluded() -> None:
    status = recorded("after_exclude_failed_by_locality")
    found = exclusions.excluded(status)
    assert sorted(map(str, short(found))) == [
        "locality_instance_id:storage-1",
        "locality_instance_id:storage-2",
    ]


def test_who_coordinates() -> None:
    seen = short(coordinators.coordinators(recorded("one_coordinator_lost")))
    assert sorted(it.reachable for it in seen) == [False, True, True]
    assert short(coordinators.quorum_is_reachable(recorded("majority_lost_3s"))) is False
    string = short(coordinators.connection_string(recorded("healthy")))
    assert [str(it.address) for it in short(coordinators.coordinators(recorded("healthy")))] == [
        str(it) for it in string.coordinators
    ]
    assert short(coordinators.connection_string(recorded("tls"))).all_tls


def test_who_is_at_work() -> None:
    assert short(maintenance.maintenance(recorded("maintenance_on"))).zone == "z5"
    assert short(maintenance.maintenance(recorded("healthy"))) is None
    assert short(maintenance.maintenance(recorded("majority_lost_3s"))) == "?"


def test_which_clients_an_upgrade_would_cut_off() -> None:
    status = recorded("healthy")
    found = short(clients.cut_off_by(status, NEXT))
    assert {it.version for it in found} == {"7.3.79"}
    assert short(clients.cut_off_by(status, Version(7, 3, 99))) == ()
    assert short(clients.cut_off_by(status, Version(7, 1, 1))) == ()


def test_a_database_that_recovers_has_no_age() -> None:
    found = recovery.age(recorded("stuck_recruiting"))
    assert isinstance(found, Unknown)
    assert "is not over" in found.reason


def test_processes_are_found_by_their_group() -> None:
    roster = short(processes.roster(recorded("healthy")))
    (one,) = roster.groups["log-1"]
    assert (str(one.addresses[0]), one.localities["zoneid"]) == ("127.0.2.1:4501", "z1")


def test_what_it_is_configured_as() -> None:
    found = short(configuration.configuration(recorded("healthy")))
    assert (found.redundancy, found.storage_engine, found.logs) == ("double", "ssd-2", 2)
    assert (found.usable_regions, found.regions) == (1, ())
    assert "double ssd-2 usable_regions=1 logs=2" in " ".join(found.tokens())
    assert short(configuration.configuration(recorded("stuck_recruiting"))) == "?"


def test_regions_and_satellites_are_read() -> None:
    tree = document("healthy")
    centers = [{"id": "dc1", "priority": 1}, {"id": "dc2", "priority": 0, "satellite": 1}]
    region = {"datacenters": centers, "satellite_logs": 2}
    tree["cluster"]["configuration"] |= {"usable_regions": 2, "regions": [region]}
    found = short(configuration.configuration(read(json.dumps(tree), 0.0)))
    (one,) = found.regions
    assert (one.main.id, one.priority, one.satellite_logs) == ("dc1", 1, 2)
    assert [it.satellite for it in one.data_centers] == [False, True]
