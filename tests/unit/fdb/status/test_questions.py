"""What recorded statuses answer, and that no broken one answers "safe" where the whole one does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from fakes.fdb_statuses import (
    NAMES,
    alike,
    breaks,
    document,
    mangled,
    places,
    put,
    recorded,
    text,
)
from fakes.fdb_told import REGIONAL, told
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


def short(fact: Any) -> Any:
    """Return the value of a fact, or "?"."""
    return fact.value if isinstance(fact, Known) else "?"


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


# -------------------------------------------------------------------------- broken ones


def _gone(status: Status, whole: Status) -> Iterator[str]:
    """Yield who may go, by positive proof; each has as many processes as the whole status says."""
    roster, every = processes.roster(status), processes.roster(whole)
    left = exclusions.Leftovers(status)
    groups = every.value.groups if isinstance(every, Known) else {}
    for name in roster.value.groups if isinstance(roster, Known) else ():
        found = left.on(name, max(1, len(groups.get(name, ()))))
        if isinstance(found, Known) and found.value.is_gone:
            yield name


def _silent(status: Status) -> Any:
    found = coordinators.coordinators(status)
    if not isinstance(found, Known):
        return "?"
    return -sum(not it.reachable for it in found.value)


def _old_clients(status: Status) -> Any:
    found = clients.cut_off_by(status, NEXT)
    return -len(found.value) if isinstance(found, Known) else "?"


def _negative(question: Callable[[Status], Any]) -> Callable[[Status], Any]:
    def ask(status: Status) -> Any:
        found = short(question(status))
        return found if found == "?" else -found

    return ask


def _positive(question: Callable[[Status], Any]) -> Callable[[Status], Any]:
    return lambda status: short(question(status))


def _nobody_at_work(status: Status) -> Any:
    found = maintenance.maintenance(status)
    return found.value is None if isinstance(found, Known) else "?"


#: Each as a number that is greater the safer it is; "?" is never safe.
SAFETY: dict[str, Callable[[Status], Any]] = {
    "available": _positive(health.is_available),
    "replicated": _positive(health.is_fully_replicated),
    "replicas": _positive(health.fewest_replicas),
    "may go": spare,
    "logs": _negative(health.log_shortage),
    "unlocked": _negative(health.is_locked),
    "configured": _negative(health.is_configured),
    "at rest": _negative(movement.is_moving),
    "recovered": _positive(recovery.age),
    "generations": _negative(recovery.old_generations),
    "restart": _positive(recovery.may_restart),
    "coordinators": _silent,
    "quorum": _positive(coordinators.quorum_is_reachable),
    "clients": _old_clients,
    "nobody at work": _nobody_at_work,
}


def _is_silent(whole: Status, broken: Status) -> bool:
    """Tell whether nothing at all is left that spoke of maintenance: a zone that is wholly away.

    Real ones say nothing of it where there is none, so this one cannot be told from those.
    """
    left, had = broken.document.cluster, whole.document.cluster
    if left is UNSET or had is UNSET or had.processes is UNSET:
        return False
    is_told = any(it.under_maintenance is True for it in had.processes.values())
    words = {"maintenance_zone", "maintenance_seconds_remaining"}
    is_there = any(getattr(left, it) is not UNSET or broken.flaw(f"cluster.{it}") for it in words)
    return not is_told and not is_there


def judge(whole: Status, broken: Status) -> None:
    """Raise if the broken one says of anything that it is safer than the whole one says."""
    for name, ask in SAFETY.items():
        if name == "nobody at work" and _is_silent(whole, broken):
            continue
        said, truth = ask(broken), ask(whole)
        assert said == "?" or (truth != "?" and said <= truth), f"{name}: {truth} became {said}"
    assert set(_gone(broken, whole)) <= set(_gone(whole, whole))
    listed = exclusions.excluded(broken)
    assert not isinstance(listed, Known) or listed.value == short(exclusions.excluded(whole))


EXHAUSTED = [
    "excluded_done",
    "exclude_in_progress",
    "degraded_storage_lost",
    "log_lost_1s",
    "maintenance_zone_down",
]


@pytest.mark.parametrize("name", EXHAUSTED)
def test_nothing_that_breaks_makes_it_safe(name: str) -> None:
    """Every place that we read, missing or null or of another type."""
    tree = document(name)
    for number, (around, key) in enumerate(list(places(tree))):
        every, whole = breaks(around, key), around[key]
        for value in (every[0], every[1], every[2 + number % (len(every) - 2)]):
            put(around, key, value)
            judge(recorded(name), read(json.dumps(tree), 0.0))
            around[key] = whole


@settings(max_examples=300)
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_a_mangled_status_never_says_safe_where_the_whole_one_does_not(
    data: st.DataObject, name: str
) -> None:
    judge(recorded(name), read(data.draw(mangled(text(name))), 0.0))


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(REGIONAL))
def test_nor_does_one_of_a_database_in_two_regions(data: st.DataObject, name: str) -> None:
    judge(read(told(name), 0.0), read(data.draw(mangled(told(name))), 0.0))


@pytest.mark.parametrize("name", [*EXHAUSTED, *REGIONAL])
def test_nothing_that_is_lost_together_makes_it_safe(name: str) -> None:
    """Any two parts of the same object: a number, and what says how large it should be."""
    raw = told(name) if name in REGIONAL else text(name)
    tree, whole = json.loads(raw), read(raw, 0.0)
    for around, keys in alike(tree):
        for pair in combinations(keys, 2):
            kept = dict(around)
            for key in pair:
                del around[key]
            judge(whole, read(json.dumps(tree), 0.0))
            around.clear()
            around.update(kept)


#: In two regions: what happened, what else is lost of the status, how many copies lack by it.
LOGS = [
    ("healthy", (), 0),
    ("satellite log lost", (), 1),
    ("satellite log lost", ("satellite",), "?"),
    ("satellite log lost", ("remote",), "?"),
    ("remote log lost", (), 1),
    ("remote log lost", ("remote",), "?"),
    ("remote log lost, no satellites", (), 1),
    ("remote log lost, no satellites", ("remote",), "?"),
    ("remote log lost, no satellites", ("regions",), "?"),
    ("satellite log lost", ("usable_regions",), "?"),
    ("satellite log lost", ("configuration",), "?"),
    ("satellite log lost", ("satellite", "active_primary_dc"), "?"),
    ("satellite log lost", ("satellite", "satellite_redundancy_mode"), "?"),
    ("satellite log lost", ("satellite", "datacenters"), "?"),
]


@pytest.mark.parametrize(("name", "lost", "lacking"), LOGS)
def test_copies_of_what_was_just_written_lack_or_nobody_knows(
    name: str, lost: tuple[str, ...], lacking: Any
) -> None:
    tree = json.loads(told(name))
    for around, key in list(places(tree)):
        if key in lost or any(str(key).startswith(f"{it}_log_") for it in lost):
            around.pop(key, None)
    assert short(health.log_shortage(read(json.dumps(tree), 0.0))) == lacking


def test_only_a_region_that_has_satellites_must_speak_of_their_logs() -> None:
    tree = json.loads(told("remote log lost, no satellites"))
    (second,) = (
        it
        for it in tree["cluster"]["configuration"]["regions"]
        if it["datacenters"][0]["id"] == "dc2"
    )
    second["satellite_redundancy_mode"] = "one_satellite_double"
    assert short(health.log_shortage(read(json.dumps(tree), 0.0))) == 1
    tree["cluster"]["active_primary_dc"] = "dc2"
    assert short(health.log_shortage(read(json.dumps(tree), 0.0))) == "?"


@settings(max_examples=100)
@given(name=st.sampled_from(NAMES), part=st.floats(0, 1))
def test_a_truncated_status_answers_nothing(name: str, part: float) -> None:
    whole = text(name).rstrip()
    broken = read(whole[: int(part * (len(whole) - 1))], 0.0)
    assert {ask(broken) for ask in SAFETY.values()} == {"?"}
    assert health.is_available(broken) == Unknown(f"the status cannot be read: {broken.flaws['']}")


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_garbage_makes_the_reader_fall(garbage: bytes | str) -> None:
    broken = read(garbage, 0.0)
    assert {ask(broken) for ask in SAFETY.values()} == {"?"}


def test_warnings_around_a_status_are_left_away() -> None:
    noisy = b"\nWARNING: Long delay (Ctrl-C to interrupt)\n" + text("healthy") + b"\nbye\n"
    assert read(noisy, 0.0) == recorded("healthy")


def test_a_nest_without_end_is_garbage() -> None:
    assert read(b"[" * 100_000 + b"{}" + b"]" * 100_000, 0.0).document == Status(0.0).document
    assert "" in read(b'{"client":' * 5_000 + b"1" + b"}" * 5_000, 0.0).flaws
