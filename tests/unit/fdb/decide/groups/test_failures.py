"""Who is replaced because it failed. A limit counts what is under way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_groups import AWAY, NOW, SILENT, cluster, group
from fakes.fdb_statuses import document, recorded
from fakes.fdb_views import status_of
from stateward.core.moments import to_rfc3339
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.decide.groups.failures import FAILURES, failed, held, storm, to_replace
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.conditions import Condition

#: Others, in fault domains of their own.
WELL = tuple(group(f"stateless-{it}") for it in range(91, 96))


def view(*groups: GroupView, options: dict[str, Any] | None = None, **said: Any) -> ClusterView:
    """Return a cluster whose failed groups are replaced."""
    words = said.pop("spec", {})
    automation = {
        "replacements": {"enabled": True, **(options or {})},
        **said.pop("automation", {}),
    }
    return cluster(*groups, *WELL, spec={"automationOptions": automation, **words}, **said)


def ill(name: str, *kinds: Kind, seconds: float = 2000, **said: Any) -> GroupView:
    return group(name, *(kinds or (Kind.MISSING_PROCESSES,)), since=NOW - seconds, **said)


def chosen(some: ClusterView) -> list[str]:
    return [str(it.group.id) for it in to_replace(some)]


def why(some: ClusterView) -> str:
    (found,) = held(some)
    return found.why


@pytest.mark.parametrize("kind", FAILURES)
def test_each_failure_is_one(kind: Kind) -> None:
    (found,) = failed(view(ill("storage-1", kind)))
    assert (found.condition, found.lasts) == (kind, 2000)


@pytest.mark.parametrize(
    "kind",
    [Kind.READY, Kind.INCORRECT_POD_SPEC, Kind.INCORRECT_COMMAND_LINE, Kind.INCORRECT_CONFIG_MAP,
     Kind.INCORRECT_POD_METADATA, Kind.RESOURCES_TERMINATING, Kind.PROCESS_HAS_HIGH_RUN_LOOP_BUSY],
)  # fmt: skip
def test_what_can_be_mended_is_no_failure(kind: Kind) -> None:
    assert failed(view(ill("storage-1", kind))) == ()


def test_by_default_nothing_is_replaced() -> None:
    some = cluster(ill("storage-1", seconds=10**6))
    assert len(failed(some)) == 1
    assert chosen(some) == []
    assert why(some) == "automatic replacements are not enabled"


@pytest.mark.parametrize(("seconds", "many"), [(1799, 0), (1800, 1)])
def test_it_takes_half_an_hour(seconds: float, many: int) -> None:
    assert len(to_replace(view(ill("storage-1", seconds=seconds)))) == many


def test_what_is_wrong_for_longest_counts() -> None:
    conditions = {Kind.MISSING_POD: NOW - 2500, Kind.MISSING_PROCESSES: NOW - 2000, Kind.READY: 0.0}
    (found,) = failed(view(group("storage-1", conditions=conditions)))
    assert (found.condition, found.lasts) == (Kind.MISSING_POD, 2500)


def test_one_at_a_time_longest_first() -> None:
    some = view(ill("storage-1"), ill("storage-2", seconds=3000), ill("log-3"))
    assert chosen(some) == ["storage-2"]
    assert len(held(some)) == 2


@pytest.mark.parametrize(
    ("said", "many"), [({}, 0), ({"excluded": True}, 1), ({"skipped": True}, 1)]
)
def test_one_that_still_holds_something_counts(said: dict[str, Any], many: int) -> None:
    some = view(ill("storage-1"), group("storage-2", marked=True, **said))
    assert len(to_replace(some)) == many


def test_a_limit_of_none_replaces_none() -> None:
    assert chosen(view(ill("storage-1"), options={"maxConcurrentReplacements": 0})) == []


def test_more_at_a_time() -> None:
    some = [ill(f"storage-{it}") for it in range(1, 5)]
    assert chosen(view(*some, options={"maxConcurrentReplacements": 3})) == [
        "storage-1",
        "storage-2",
        "storage-3",
    ]


def test_by_fault_domain_all_of_one_are_replaced() -> None:
    some = [ill("storage-1", zone="a"), ill("storage-2", zone="b"), ill("log-3", zone="a")]
    options = {"faultDomainBasedReplacements": True}
    assert chosen(view(*some, options=options)) == ["log-3", "storage-1"]
    under_way = group("storage-9", marked=True, zone="b")
    assert chosen(view(*some, under_way, options=options)) == ["storage-2"]
    more = group("storage-8", marked=True, zone="c")
    assert chosen(view(*some, under_way, more, options=options)) == []


def test_by_fault_domain_one_that_is_nowhere_counts_for_itself() -> None:
    some = [ill("storage-1", zone=""), ill("storage-2", zone="")]
    assert chosen(view(*some, options={"faultDomainBasedReplacements": True})) == ["storage-1"]


def test_marked_ones_are_not_marked_again() -> None:
    assert failed(view(ill("storage-1", marked=True))) == ()


def test_whoever_shall_crash_has_not_failed_whichever_container_it_is() -> None:
    containers = [
        {"containerName": "foundationdb", "targets": ["storage-1"]},
        {"containerName": "other", "targets": ["storage-2"]},
    ]
    some = [ill(f"storage-{it}") for it in (1, 2, 3)]
    found = failed(view(*some, spec={"buggify": {"crashLoopContainers": containers}}))
    assert [str(it.group.id) for it in found] == ["storage-3"]
    every = [{"containerName": "foundationdb", "targets": ["*"]}, *containers]
    assert failed(view(*some, spec={"buggify": {"crashLoopContainers": every}})) == ()


@pytest.mark.parametrize(("database", "said"), [(AWAY, "not available"), (SILENT, "nobody knows")])
def test_nothing_is_replaced_unless_the_database_serves(database: Any, said: str) -> None:
    some = view(ill("storage-1"), database=database)
    assert chosen(some) == []
    assert said in why(some)


@pytest.mark.parametrize(
    ("status", "seconds", "many"),
    [
        ("True", 121, 1),
        ("True", 119, 0),
        ("False", 9000, 0),
        ("Unknown", 9000, 0),
        ("True", -9000, 1),
        ("True", 1e9, 1),
    ],
    ids=["serves", "is back", "was away", "was not heard", "a clock was ahead", "nonsense"],
)
def test_who_may_come_back_with_its_database_is_given_time(
    status: str, seconds: float, many: int
) -> None:
    since = to_rfc3339(NOW - seconds) if seconds < 1e9 else "yesterday"
    told = Condition(type="Available", status=status, last_transition_time=since)
    seen = view(ill("storage-1"), status=FoundationDBClusterStatus(conditions=(told,)))
    assert len(to_replace(seen)) == many
    assert many or "others may be coming back" in why(seen)


@pytest.mark.parametrize(("watched", "many"), [(0, 0), (119, 0), (120, 1)])
def test_whoever_has_just_begun_to_look_replaces_nobody(watched: float, many: int) -> None:
    seen = replace(view(ill("storage-1")), watched=watched)
    assert len(to_replace(seen)) == many
    assert many or "others may be coming back" in why(seen)


def test_nothing_is_replaced_where_no_process_shall_run() -> None:
    assert chosen(view(ill("storage-1"), spec={"buggify": {"emptyMonitorConf": True}})) == []


@pytest.mark.parametrize("name", ["storage-1", "log-1", "stateless-1"])
def test_who_is_in_a_zone_under_maintenance_is_not_replaced(name: str) -> None:
    """F-S13: whoever works there brings all of them back, and not only those that keep data."""
    database = recorded("maintenance_on")
    assert why(view(ill(name, zone="z5"), database=database)) == "its zone is under maintenance"
    assert chosen(view(ill(name, zone="z4"), database=database)) == [name]
    nowhere = view(ill(name, zone=""), database=database)
    assert chosen(nowhere) == [name]


@pytest.mark.parametrize("name", ["storage-1", "log-1"])
def test_nobody_is_replaced_while_no_one_knows_which_zone_is_under_maintenance(name: str) -> None:
    tree = document("maintenance_on")
    del tree["cluster"]["maintenance_seconds_remaining"]
    found = why(view(ill(name), database=status_of(tree)))
    assert found.startswith("nobody knows which zone is under maintenance")


def test_who_is_never_to_be_replaced_is_not() -> None:
    kept = {"cancelReplacementsForProcessGroups": ["storage-1"]}
    assert chosen(view(ill("storage-1"), ill("storage-2"), automation=kept)) == ["storage-2"]


def test_who_is_never_to_be_replaced_hears_so_at_once() -> None:
    """What others wait for passes, and this does not: who reads the former would wait in vain."""
    kept = {"cancelReplacementsForProcessGroups": ["storage-1"]}
    seen = replace(view(ill("storage-1"), ill("storage-2"), automation=kept), watched=1.0)
    assert [it.why for it in held(seen)] == [
        "it is never to be replaced",
        "the operator has looked at it for a moment only, and others may be coming back",
    ]


def test_what_cannot_be_excluded_is_not_replaced() -> None:
    by_address = {"useLocalitiesForExclusion": False}
    assert "no address" in why(view(ill("storage-1", addresses=()), automation=by_address))
    assert chosen(view(ill("storage-1"), automation=by_address)) == ["storage-1"]
    assert chosen(view(ill("storage-1", addresses=()))) == ["storage-1"]


# ------------------------------------------------------------------ who never came
def test_while_others_do_not_come_nobody_is_replaced() -> None:
    """What keeps them away, as a quota that is used up does, keeps who would come next, too."""
    newcomer = group("storage-9", Kind.MISSING_POD, pod=None, processes=(), zone="", since=NOW - 60)
    assert why(view(ill("storage-1"), newcomer)) == "others have yet to come: storage-9"
    young = replace(newcomer, created=NOW - 200)
    assert chosen(view(ill("storage-1"), young)) == ["storage-1"], "it has five minutes"
    was_there = replace(newcomer, reported=True)
    assert chosen(view(ill("storage-1"), was_there)) == ["storage-1"]
    going = replace(newcomer, marked=True, excluded=True)
    assert chosen(view(ill("storage-1"), going)) == ["storage-1"]


@pytest.mark.parametrize(
    ("name", "said", "waits"),
    [
        ("storage-9", {}, True),
        ("stateless-9", {}, False),  # its class may be for other nodes
        ("stateless-9", {"pod": None}, True),  # a quota is for all
    ],
)
def test_pods_of_another_class_that_find_no_node_hold_nobody_up(
    name: str, said: dict[str, Any], waits: bool
) -> None:
    newcomer = group(name, Kind.POD_PENDING, processes=(), zone="", since=NOW - 400, **said)
    seen = view(ill("storage-1"), newcomer)
    assert chosen(seen) == ([] if waits else ["storage-1"])


def test_who_was_never_made_is_not_replaced_by_another() -> None:
    unmade = ill("storage-9", Kind.MISSING_POD, pod=None, processes=(), zone="")
    assert "its pod was never made" in why(view(unmade))
    waiting = ill("storage-9", Kind.POD_PENDING, processes=(), zone="")
    assert chosen(view(waiting)) == ["storage-9"], "it may wait for a disk that is lost"


# ------------------------------------------------------------------ taints and storms
def tainted(number: int, seconds: float = 2000, **said: Any) -> GroupView:
    kinds = (Kind.READY, Kind.NODE_TAINT_DETECTED, Kind.NODE_TAINT_REPLACING)
    return ill(f"storage-{number}", *kinds, seconds=seconds, **said)


@pytest.mark.parametrize(
    ("options", "seconds", "many"),
    [({}, 1799, 0), ({}, 1800, 1), ({"taintReplacementTimeSeconds": 5}, 5, 1)],
)
def test_a_taint_has_a_patience_of_its_own(
    options: dict[str, Any], seconds: float, many: int
) -> None:
    some = view(tainted(1, seconds), options={"failureDetectionTimeSeconds": 9999, **options})
    assert len(to_replace(some)) == many


def test_a_taint_that_is_only_detected_replaces_nobody() -> None:
    assert failed(view(ill("storage-1", Kind.READY, Kind.NODE_TAINT_DETECTED))) == ()


@pytest.mark.parametrize(
    ("limit", "zones", "sick", "calm"),
    [
        ("10%", 6, 1, True),  # a tenth, and at least one
        ("10%", 6, 2, False),
        ("10%", 20, 2, True),
        ("10%", 20, 3, False),
        ("50%", 6, 3, True),
        ("100%", 6, 6, True),
        ("0%", 6, 1, False),
        (0, 6, 1, False),
        (3, 6, 3, True),
        (3, 6, 4, False),
    ],
)
def test_a_storm_of_taints_replaces_nobody(
    limit: int | str, zones: int, sick: int, calm: bool
) -> None:
    some = [tainted(it) for it in range(1, sick + 1)]
    well = [group(f"log-{it}") for it in range(sick + 1, zones + 1)]
    options = {
        "enabled": True,
        "maxFaultDomainsWithTaintedProcessGroups": limit,
        "maxConcurrentReplacements": 10,
    }
    seen = cluster(*some, *well, spec={"automationOptions": {"replacements": options}})
    assert bool(storm(seen)) is not calm
    assert len(to_replace(seen)) == (sick if calm else 0)


def test_in_a_storm_of_taints_who_failed_is_not_replaced_either() -> None:
    some = view(tainted(1), tainted(2), ill("log-3"))
    assert chosen(some) == []
    assert {it.why for it in held(some)} == {"2 of 8 fault domains are tainted, and 1 may be"}


@pytest.mark.parametrize(("sick", "calm"), [(1, True), (3, True), (4, False), (6, False)])
def test_when_more_than_half_has_failed_nobody_is_replaced(sick: int, calm: bool) -> None:
    some = [ill(f"storage-{it}") for it in range(1, sick + 1)]
    well = [group(f"log-{it}") for it in range(sick + 1, 7)]
    seen = cluster(*some, *well, spec={"automationOptions": {"replacements": {"enabled": True}}})
    assert len(to_replace(seen)) == calm


@pytest.mark.parametrize("limit", [6, "100%"])
@pytest.mark.parametrize("kinds", [(), (Kind.NODE_TAINT_REPLACING,)], ids=["well", "tainted"])
def test_that_many_may_be_tainted_does_not_mean_that_many_may_fail(
    limit: int | str, kinds: tuple[Kind, ...]
) -> None:
    some = [ill(f"storage-{it}", Kind.MISSING_PROCESSES, *kinds) for it in range(1, 5)]
    well = [group(f"log-{it}") for it in (5, 6)]
    options = {"enabled": True, "maxFaultDomainsWithTaintedProcessGroups": limit}
    seen = cluster(*some, *well, spec={"automationOptions": {"replacements": options}})
    assert storm(seen) == "4 of 6 fault domains have failed"
    assert chosen(seen) == []


def test_who_goes_and_who_is_nowhere_makes_no_storm() -> None:
    going = [tainted(it, marked=True) for it in (1, 2)]
    nowhere = [tainted(it, zone="") for it in (3, 4)]
    assert storm(view(tainted(5), *going, *nowhere)) == ""


groups = st.lists(
    st.tuples(
        st.booleans(), st.booleans(), st.sampled_from(["", "a", "b", "c"]), st.integers(0, 4000)
    ),
    max_size=8,
)


@given(groups, st.integers(0, 4), st.booleans())
def test_never_more_than_the_limit(
    some: list[tuple[bool, bool, str, int]], limit: int, by_zone: bool
) -> None:
    made = [
        ill(
            f"storage-{number}",
            seconds=seconds,
            marked=marked,
            excluded=marked and excluded,
            zone=zone,
        )
        for number, (marked, excluded, zone, seconds) in enumerate(some, start=1)
    ]
    seen = view(
        *made, options={"maxConcurrentReplacements": limit, "faultDomainBasedReplacements": by_zone}
    )
    found, waiting = to_replace(seen), held(seen)
    under_way = [it for it in made if it.marked and not it.holds_nothing]
    after = {(by_zone and it.zone) or it.name for it in [*under_way, *(it.group for it in found)]}
    assert not found or len(after) <= limit
    assert {it.group.name for it in found} | {it.group for it in waiting} == {
        it.group.name for it in failed(seen)
    }
