"""Guards over a status: each lets a healthy database pass, and refuses what is not said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_statuses import NAMES, recorded
from fakes.fdb_views import cluster, healthy, spec, status_of
from stateward.fdb.guards import acts
from stateward.fdb.guards import database as on
from stateward.fdb.guards.guard import Guard, refusals
from stateward.fdb.guards.transport import certificates_are_good
from stateward.fdb.model.transport import Papers, Transport
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView

EVERY: dict[str, Guard] = {
    "database_is_available": on.database_is_available,
    "few_generations": on.few_generations,
    "one_generation": on.one_generation,
    "recovered_long_enough": on.recovered_for(60),
    "recovery_is_complete": on.recovery_is_complete,
    "data_is_healthy": on.data_is_healthy,
    "load_is_light": on.load_is_light,
    "most_coordinators_answer": on.most_coordinators_answer,
    "can_lose_a_fault_domain": on.can_lose_a_fault_domain,
    "may_bounce": on.may_bounce,
    "configuration_is_readable": on.configuration_is_readable,
    "configuration_is_told": on.configuration_is_told,
    "all_roles_are_told": on.all_roles_are_told,
}
ACTS = {
    "EXCLUDE": acts.EXCLUDE,
    "INCLUDE": acts.INCLUDE,
    "CONFIGURE": acts.CONFIGURE,
    "COORDINATORS_LOST": acts.COORDINATORS_LOST,
    "COORDINATORS_UNDESIRED": acts.COORDINATORS_UNDESIRED,
    "BOUNCE": acts.BOUNCE,
    "PROOF": acts.PROOF,
    "REMOVE": acts.REMOVE,
}


def view(status: Status | dict[str, Any], **fields: Any) -> ClusterView:
    read = status if isinstance(status, Status) else status_of(status)
    return replace(cluster(""), database=read, spec=spec(**fields))


def refused(name: str, status: Status | dict[str, Any], **fields: Any) -> str:
    found = EVERY[name](view(status, **fields))
    if found is None:
        return ""
    assert found.guard == name
    return found.message


def with_client(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    tree = healthy()
    change(tree["client"])
    return tree


@pytest.mark.parametrize("name", EVERY)
def test_a_healthy_database_passes(name: str) -> None:
    assert refused(name, healthy()) == ""


@pytest.mark.parametrize("name", EVERY)
def test_what_nobody_knows_is_refused_and_said(name: str) -> None:
    assert "the status has no" in refused(name, {})
    assert "it was not asked" in refused(name, Status(0.0, flaws={"": "it was not asked"}))


@pytest.mark.parametrize("name", ACTS)
def test_every_act_is_held_back_by_an_unknown_database(name: str) -> None:
    about_it = [it for it in ACTS[name] if it is not certificates_are_good]
    assert len(refusals(ACTS[name], view({}))) == len(about_it)
    assert refusals(ACTS[name], view(healthy())) == ()


@pytest.mark.parametrize("name", ["BOUNCE", "UPDATE_PODS", "COORDINATORS_UNDESIRED"])
def test_bad_certificates_hold_back_what_would_start_by_them(name: str) -> None:
    flawed = Transport(tls=True, plain=False, papers=Papers(flaws=("secret a/b must be there",)))

    [found] = refusals(getattr(acts, name), replace(view(healthy()), transport=flawed))

    assert found.guard == "certificates_are_good"
    assert found.message == "secret a/b must be there"


#: Guard, what a status says, and what is refused because of it; nothing: it passes.
TABLE: list[tuple[str, dict[str, Any], str]] = [
    ("database_is_available", {"database_available": False}, "not available"),
    ("few_generations", {"recovery_state__active_generations": 10}, ""),
    ("few_generations", {"recovery_state__active_generations": 11}, "11 generations"),
    ("one_generation", {"recovery_state__active_generations": 2}, "2 generations"),
    ("recovered_long_enough", {"recovery_state__seconds_since_last_recovered": 60.0}, ""),
    (
        "recovered_long_enough",
        {"recovery_state__seconds_since_last_recovered": 59.0},
        "less than 60 s ago",
    ),
    ("recovered_long_enough", {"recovery_state__seconds_since_last_recovered": -1}, "not over"),
    ("recovery_is_complete", {"recovery_state__name": "fully_recovered"}, ""),
    ("recovery_is_complete", {"recovery_state__name": "all_logs_recruited"}, ""),
    ("recovery_is_complete", {"recovery_state__name": "accepting_commits"}, "accepting_commits"),
    ("data_is_healthy", {"data__state__healthy": False}, "not all its copies"),
    ("data_is_healthy", {"data__state__name": "initializing"}, "initializing"),
    ("load_is_light", {"qos__worst_data_lag_storage_server__seconds": 60.0}, ""),
    ("load_is_light", {"qos__worst_data_lag_storage_server__seconds": 61.0}, "data lags"),
    ("load_is_light", {"qos__worst_durability_lag_storage_server__seconds": 61}, "durability lags"),
    ("load_is_light", {"qos__worst_queue_bytes_log_server": 250 * 2**20}, ""),
    ("load_is_light", {"qos__worst_queue_bytes_log_server": 250 * 2**20 + 1}, "a log server"),
    ("load_is_light", {"qos__worst_queue_bytes_storage_server": 3e8}, "a storage server"),
    ("load_is_light", {"qos__worst_queue_bytes_storage_server": ...}, "nobody knows"),
    ("configuration_is_readable", {"messages": [{"name": "client_issues"}]}, ""),
    ("configuration_is_readable", {"messages": [{"name": "unreadable_configuration"}]}, "unread"),
    ("configuration_is_readable", {"messages": [{}]}, "nobody knows"),
    ("configuration_is_readable", {"messages": [{"name": "storage_servers_error"}]}, ""),
    ("all_roles_are_told", {"messages": [{"name": "storage_servers_error"}]}, "storage_servers"),
    ("all_roles_are_told", {"messages": [{"name": "log_servers_error"}]}, "log_servers"),
    ("all_roles_are_told", {"messages": [{"name": "full_replication_timeout"}]}, "full_repl"),
    ("can_lose_a_fault_domain", {"data__state__min_replicas_remaining": 1}, "1 copies"),
    ("can_lose_a_fault_domain", {"data__team_trackers": []}, "team_trackers"),
    ("can_lose_a_fault_domain", {"logs__0__log_fault_tolerance": 0}, "copies of the logs"),
    ("can_lose_a_fault_domain", {"database_available": False}, "not available"),
    ("may_bounce", {"bounce_impact__can_clean_bounce": False}, "cannot be restarted"),
    ("may_bounce", {"bounce_impact": ...}, "nobody knows"),
    ("may_bounce", {"recovery_state__seconds_since_last_recovered": 599.0}, "one has not"),
]


@pytest.mark.parametrize(("name", "changes", "why"), TABLE)
def test_a_guard_refuses_what_it_is_for(name: str, changes: dict[str, Any], why: str) -> None:
    plain = {path: it for path, it in changes.items() if "__0__" not in path}
    tree = healthy(**plain)
    for path in set(changes) - set(plain):
        around, last = path.split("__0__")
        tree["cluster"][around][0][last] = changes[path]
    found = refused(name, tree)
    assert why in found
    assert bool(found) is bool(why)


def test_as_many_copies_as_the_spec_asks_for() -> None:
    triple = {"redundancy_mode": "triple"}
    found = refused("can_lose_a_fault_domain", healthy(), databaseConfiguration=triple)
    assert "2 copies, and must have 3" in found


def test_as_many_copies_as_the_database_has_whatever_the_spec_asks_for() -> None:
    tree = healthy(data__state__min_replicas_remaining=1)
    for mode in ("single", "double"):
        asked = {"redundancy_mode": mode}
        found = refused("can_lose_a_fault_domain", tree, databaseConfiguration=asked)
        assert "1 copies, and must have 2" in found


def test_one_coordinator_away_is_one_too_many() -> None:
    def lose(client: dict[str, Any]) -> None:
        client["coordinators"]["coordinators"][0]["reachable"] = False

    assert "127.0.1.1:4501" in refused("can_lose_a_fault_domain", with_client(lose))


def test_a_database_without_coordinators_is_none() -> None:
    def lose(client: dict[str, Any]) -> None:
        client["coordinators"]["coordinators"] = []

    assert "there are none" in refused("can_lose_a_fault_domain", with_client(lose))


def test_what_cannot_be_read_may_be_anything() -> None:
    assert "cannot be read" in refused("may_bounce", one_with(uptime_seconds="long"))
    broken = healthy(messages=[{"name": "client_issues"}, 7])
    assert "cannot be read" in refused("configuration_is_readable", broken)
    tree = healthy()
    tree["cluster"]["processes"]["broken"] = 7
    assert "cannot be read" in refused("may_bounce", tree)


def test_without_a_majority_nothing_goes() -> None:
    def lose(client: dict[str, Any]) -> None:
        client["coordinators"]["quorum_reachable"] = False

    assert "no majority" in refused("can_lose_a_fault_domain", with_client(lose))
    assert "no majority" in refused("most_coordinators_answer", with_client(lose))


# ------------------------------------------------------------------ restarts
def one_with(**entry: Any) -> dict[str, Any]:
    tree = healthy()
    next(iter(tree["cluster"]["processes"].values())).update(entry)
    return tree


def test_one_that_has_just_started_holds_a_bounce_back() -> None:
    found = on.may_bounce(view(one_with(uptime_seconds=100.0)))
    assert found is not None
    assert found.after == 500.0


def test_testers_and_excluded_processes_may_have_just_started() -> None:
    assert refused("may_bounce", one_with(uptime_seconds=1.0, class_type="test")) == ""
    assert refused("may_bounce", one_with(uptime_seconds=1.0, excluded=True)) == ""


def test_the_spec_says_how_long_all_must_have_run() -> None:
    tree = one_with(uptime_seconds=100.0)
    assert refused("may_bounce", tree, minimumUptimeSecondsForBounce=100) == ""


def test_a_process_without_an_uptime_holds_a_bounce_back() -> None:
    tree = healthy()
    key, entry = next(iter(tree["cluster"]["processes"].items()))
    del entry["uptime_seconds"]
    assert f"{key}.uptime_seconds" in refused("may_bounce", tree)


def test_a_guard_says_when_it_may_pass() -> None:
    tree = healthy(recovery_state__seconds_since_last_recovered=20.0)
    for act, seconds in {"EXCLUDE": 100, "INCLUDE": 580, "CONFIGURE": 40}.items():
        (found,) = refusals(ACTS[act], view(tree))
        assert found.after == seconds
    for act, seconds in {"COORDINATORS_LOST": 100, "COORDINATORS_UNDESIRED": 280}.items():
        (found,) = refusals(ACTS[act], view(tree))
        assert found.after == seconds
    (found,) = refusals(ACTS["BOUNCE"], view(tree))
    assert found.after == 580


@pytest.mark.parametrize("name", NAMES)
def test_whatever_was_recorded_is_answered_in_words(name: str) -> None:
    for guard in EVERY.values():
        found = guard(view(recorded(name)))
        assert found is None or found.message


def test_a_lost_log_lets_nothing_be_removed() -> None:
    assert refused("can_lose_a_fault_domain", recorded("log_lost_1s"))


def test_a_planned_exclusion_lets_others_be_removed() -> None:
    assert refused("can_lose_a_fault_domain", recorded("exclude_in_progress")) == ""
