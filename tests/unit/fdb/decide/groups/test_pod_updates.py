"""Whose pods are made anew. A group is written ``storage-1@a``: its zone behind it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_groups import NOW, cluster, group, pod, process
from fakes.fdb_statuses import recorded
from stateward.core.version import Version
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus, RequiredAddresses
from stateward.fdb.decide.groups.pod_updates import PodUpdatePlan, plan
from stateward.fdb.views import ClusterView, GroupView


def old(text: str, *kinds: Kind, **said: Any) -> GroupView:
    """Return a group whose pod is not as asked."""
    return fine(text, Kind.INCORRECT_POD_SPEC, *kinds, **said)


def fine(text: str, *kinds: Kind, **said: Any) -> GroupView:
    name, _, zone = text.partition("@")
    return group(name, *kinds, **{"zone": zone, **said})


def seen(
    *groups: GroupView, mode: str = "Zone", automation: dict[str, Any] | None = None, **said: Any
) -> ClusterView:
    words = {
        "automationOptions": {"deletionMode": mode, **(automation or {})},
        **said.pop("spec", {}),
    }
    return cluster(*groups, spec=words, **said)


def ids(found: PodUpdatePlan) -> list[str]:
    return [str(it.id) for it in found.obsolete]


THREE = [old("storage-1@b"), old("log-2@a"), old("storage-3@a")]


@pytest.mark.parametrize(
    ("mode", "said", "zone"),
    [
        ("Zone", ["log-2", "storage-3"], "a"),
        ("ProcessGroup", ["log-2"], "a"),
        ("All", ["log-2", "storage-1", "storage-3"], ""),
    ],
)
def test_how_much_at_a_time(mode: str, said: list[str], zone: str) -> None:
    found = plan(seen(*THREE, mode=mode))
    assert (ids(found), found.zone, found.held) == (said, zone, ())


def test_mode_none_leaves_it_to_people() -> None:
    found = plan(seen(*THREE, mode="None"))
    assert found.obsolete == ()
    assert "deletionMode is None" in found.held[0].why


def test_where_all_are_as_asked_nothing_is_said() -> None:
    assert (
        plan(seen(fine("storage-1@a"), fine("storage-2@b", pod=None), mode="None"))
        == PodUpdatePlan()
    )


def test_zones_where_something_is_away_come_first() -> None:
    assert ids(plan(seen(*THREE[1:], old("storage-1@b", Kind.MISSING_PROCESSES)))) == ["storage-1"]


def test_the_order_does_not_depend_on_the_order_of_groups() -> None:
    assert ids(plan(seen(*reversed(THREE)))) == ids(plan(seen(*THREE)))


def test_those_that_never_said_where_they_are_go_one_by_one() -> None:
    found = plan(seen(old("storage-1@"), old("storage-2@")))
    assert (ids(found), found.zone) == (["storage-1"], "")


def test_marked_groups_are_left_alone() -> None:
    assert plan(seen(old("storage-1@a", marked=True))) == PodUpdatePlan()
    assert plan(seen(old("storage-1@a", leaving=True))) == PodUpdatePlan()


def pod_of(number: int, **said: Any) -> Any:
    return pod(f"shop-storage-{number}", **said)


#: What is said of another group, in another zone; and what holds all others up, if it does.
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "it is well": ({}, ""),
    "its pod terminates": ({"pod": pod_of(9, terminating_since=NOW - 599)}, "its pod terminates"),
    "its pod terminates for long": ({"pod": pod_of(9, terminating_since=NOW - 600)}, ""),
    "its pod terminates, and it is marked": ({"pod": pod_of(9, terminating_since=NOW - 1), "marked": True}, ""),
    "its pod is missing": ({"pod": None, "conditions": {Kind.MISSING_POD: NOW - 89}}, "its pod is missing"),
    "its pod is missing, and nobody has said so": ({"pod": None, "conditions": {}}, "its pod is missing"),
    "its pod is missing for long": ({"pod": None, "conditions": {Kind.MISSING_POD: NOW - 90}}, ""),
    "its pod is about to be made anew": ({"obsolete_pod": "uid-shop-storage-9"}, "its pod is about to be made anew"),
    "its pod was made anew": ({"obsolete_pod": "uid of before"}, ""),
    "its pod is new and reports": ({"pod": pod_of(9, created=NOW - 59), "processes": (process("storage-9", uptime_seconds=50.0),)}, ""),
    "its pod is new and does not report": ({"pod": pod_of(9, created=NOW - 59), "processes": ()}, "its pod is new"),
    "its pod is new and one before it reports": ({"pod": pod_of(9, created=NOW - 59)}, "its pod is new"),
    "its pod is new and one of two reports": ({"pod": pod_of(9, created=NOW - 59), "servers": 2, "processes": (process("storage-9", uptime_seconds=50.0),)}, "its pod is new"),
    "its pod is not so new": ({"pod": pod_of(9, created=NOW - 60), "processes": ()}, ""),
    "its pod pends": ({"pod": pod_of(9, created=NOW - 299, phase="Pending"), "conditions": {Kind.POD_PENDING: NOW - 299}}, "its pod is new"),
    "its pod pends for long": ({"pod": pod_of(9, created=NOW - 300, phase="Pending"), "conditions": {Kind.POD_PENDING: NOW - 300}}, ""),
    "its processes are not back": ({"pod": pod_of(9, created=NOW - 61), "conditions": {Kind.MISSING_PROCESSES: NOW - 61}}, "its pod is new"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_holds_all_of_them(name: str) -> None:
    said, why = OTHERS[name]
    found = plan(seen(old("storage-1@a"), fine("storage-9@z", **said)))
    assert ids(found) == ([] if why else ["storage-1"])
    assert [why in it.why and it.group == "shop-storage-9" for it in found.held] == (
        [True] if why else []
    )


def test_one_in_flight_holds_the_rest_of_its_zone_too() -> None:
    one = old("storage-2@a", obsolete_pod="uid-shop-storage-2")
    assert ids(plan(seen(old("storage-1@a"), one))) == []


def test_patience_with_terminating_pods_is_set_by_the_spec() -> None:
    gone = fine("storage-9@z", pod=pod_of(9, terminating_since=NOW - 100))
    patience = {"ignoreTerminatingPodsSeconds": 60}
    assert ids(plan(seen(old("storage-1@a"), gone, automation=patience))) == ["storage-1"]


@pytest.mark.parametrize(
    ("most", "away", "said"),
    [
        (0, [], []),
        (1, [], ["storage-1"]),
        (1, ["storage-8@y"], []),
        (1, ["storage-8@a"], ["storage-1"]),
        (2, ["storage-8@y"], ["storage-1"]),
        (1, ["storage-8@y", "storage-9@z"], []),
        (1, ["storage-8@a", "storage-9@z"], []),
        (1, ["stateless-8@y"], ["storage-1"]),
    ],
)
def test_zones_with_unavailable_pods_are_limited(
    most: int, away: list[str], said: list[str]
) -> None:
    others = [fine(it, Kind.MISSING_PROCESSES) for it in away]
    found = plan(seen(old("storage-1@a"), *others, spec={"maxZonesWithUnavailablePods": most}))
    assert ids(found) == said
    assert bool(found.held) == (not said)


def test_while_another_zone_is_under_maintenance_whatever_keeps_data_waits() -> None:
    database = recorded("maintenance_on")
    some = [old("storage-1@a"), old("stateless-1@a"), old("log-2@b"), old("storage-5@z5")]
    assert ids(plan(seen(*some, database=database))) == ["storage-5"]
    assert ids(plan(seen(*some, old("stateless-2@c"), database=database))) == ["stateless-2"]
    assert ids(plan(seen(some[0], some[3], database=database))) == ["storage-5"]
    (found,) = plan(seen(some[0], database=database)).held
    assert found.why == "zone z5 is under maintenance for at most 600 s more"


def test_nothing_is_made_anew_in_an_upgrade_or_while_addresses_change() -> None:
    assert plan(seen(*THREE, staging=True)).obsolete == ()
    assert plan(seen(*THREE, running_version=Version(7, 1, 60))).obsolete, "it has not begun"
    both = FoundationDBClusterStatus(required_addresses=RequiredAddresses(tls=True, non_tls=True))
    assert plan(seen(*THREE, status=both)).obsolete == ()


def test_a_pod_that_pends_is_made_anew_first() -> None:
    pending = old("storage-9@z", Kind.POD_PENDING, pod=pod_of(9, phase="Pending"))
    assert ids(plan(seen(*THREE, pending))) == ["storage-9"]


# ------------------------------------------------------------------ laws
worlds: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.builds(
        dict,
        zone=st.sampled_from(["", "a", "b", "c"]),
        wrong=st.booleans(),
        marked=st.booleans(),
        kinds=st.lists(
            st.sampled_from([Kind.MISSING_PROCESSES, Kind.POD_PENDING, Kind.MISSING_POD])
        ),
        pod=st.sampled_from(["old", "new", "going", "gone long", "none", "obsolete"]),
    ),
    max_size=8,
)


def world(some: list[dict[str, Any]]) -> list[GroupView]:
    found = []
    for number, it in enumerate(some, start=1):
        pods = {
            "old": pod_of(number), "new": pod_of(number, created=NOW - 5), "obsolete": pod_of(number),
            "going": pod_of(number, terminating_since=NOW - 5),
            "gone long": pod_of(number, terminating_since=NOW - 5000), "none": None,
        }  # fmt: skip
        kinds = [Kind.INCORRECT_POD_SPEC] * it["wrong"] + it["kinds"]
        obsolete = f"uid-shop-storage-{number}" if it["pod"] == "obsolete" else ""
        found.append(
            fine(
                f"storage-{number}@{it['zone']}",
                *kinds,
                marked=it["marked"],
                pod=pods[it["pod"]],
                obsolete_pod=obsolete,
            )
        )
    return found


@given(
    worlds, st.sampled_from(["Zone", "ProcessGroup", "All", "None"]), st.none() | st.integers(0, 3)
)
def test_a_plan_keeps_to_its_rules(some: list[dict[str, Any]], mode: str, most: int | None) -> None:
    limit = {} if most is None else {"maxZonesWithUnavailablePods": most}
    groups = world(some)
    found = plan(seen(*groups, mode=mode, spec=limit))
    assert all(not it.marked and it.has(Kind.INCORRECT_POD_SPEC) for it in found.obsolete)
    assert all(it.pod is not None and it.pod.terminating_since is None for it in found.obsolete)
    if mode == "Zone":
        assert len({it.zone or it.name for it in found.obsolete}) <= 1
    if mode == "ProcessGroup":
        assert len(found.obsolete) <= 1
    if mode == "None" or any(it["pod"] == "going" and not it["marked"] for it in some):
        assert found.obsolete == ()
    assert plan(seen(*reversed(groups), mode=mode, spec=limit)).obsolete == found.obsolete
