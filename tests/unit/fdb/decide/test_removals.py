"""Who is too many. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_views import cluster, healthy, names
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.removals import contradicted, surplus, without_too_few
from stateward.fdb.status.reading import Status
from stateward.fdb.views import GroupView

#: Groups, how many shall be, who goes.
TABLE: dict[str, tuple[str, dict[str, int], list[str]]] = {
    "as many as shall be": ("s1 s2 s3", {"s": 3}, []),
    "too few": ("s1 s2", {"s": 3}, []),
    "the zone with most": ("s1 s2 s2 s3", {"s": 3}, ["storage-3"]),
    "whoever is away goes first": ("s1? s2 s2 s3", {"s": 3}, ["storage-1"]),
    "marked ones do not count": ("s1 s2 s3 s4-", {"s": 3}, []),
    "those that somebody deletes do not count": ("s1 s2 s3 s4>", {"s": 3}, []),
    "a class that is not wanted": ("s1 s2 x1 x2", {"s": 2}, ["stateless-1", "stateless-2"]),
    "others are not touched": ("s1 s2 s3? x1 x2 x3", {"s": 3, "x": 2}, ["stateless-3"]),
    "zones, then evenly": ("s1 s1 s1 s2 s2", {"s": 4}, ["storage-3"]),
}


@pytest.mark.parametrize("name", TABLE)
def test_who_is_too_many(name: str) -> None:
    picture, counts, expected = TABLE[name]
    assert names(surplus(cluster(picture, counts=counts))) == expected


@pytest.mark.parametrize(
    ("kept", "wanted", "goes", "told"),
    [
        (["storage-1"], 2, ["storage-3"], ""),
        (["storage-1", "storage-2", "storage-3"], 3, [], ""),
        (["storage-1", "storage-3"], 1, ["storage-2"], "1 of class storage are wanted, and 2 are"),
        (["*"], 2, [], "2 of class storage are wanted, and 3 are never to be removed"),
    ],
)
def test_who_is_never_to_be_removed_stays_which_may_be_too_many(
    kept: list[str], wanted: int, goes: list[str], told: str
) -> None:
    options = {"cancelReplacementsForProcessGroups": kept}
    view = cluster("s1 s2 s3", counts={"s": wanted}, automationOptions=options)
    assert names(surplus(view)) == goes
    found = "; ".join(it.why for it in contradicted(view))
    assert found.startswith(told)
    assert bool(found) == bool(told)


def test_whoever_is_not_well_goes_before_zones_count() -> None:
    def sick(it: GroupView) -> GroupView:
        return (
            replace(it, conditions={GroupConditionType.POD_FAILING: 1.0})
            if it.id.number == 1
            else it
        )

    assert names(surplus(cluster("s1 s2 s2 s3", counts={"s": 3}, change=sick))) == ["storage-1"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # Each hall keeps two: its copies and its coordinators must be in it.
        ("three_data_hall", ["storage-3", "storage-4", "storage-5"]),
        ("double", ["storage-7", "storage-8", "storage-9"]),
    ],
)
def test_halls_count_for_more_than_zones_where_they_are_used(
    mode: str, expected: list[str]
) -> None:
    def within(it: GroupView) -> GroupView:
        hall = {"data_hall": "a" if it.id.number <= 5 else "b" if it.id.number <= 7 else "c"}
        there = tuple(replace(one, localities={**one.localities, **hall}) for one in it.processes)
        return it.reporting(there)

    view = cluster(
        "s1 s2 s3 s4 s5 s6 s7 s8 s9",
        counts={"s": 6},
        databaseConfiguration={"redundancy_mode": mode},
    )
    assert names(surplus(replace(view, groups=tuple(map(within, view.groups))))) == expected


def test_ready_is_nothing_wrong() -> None:
    def ready(it: GroupView) -> GroupView:
        return replace(it, conditions={GroupConditionType.READY: 1.0}) if it.id.number == 1 else it

    assert names(surplus(cluster("s1 s2 s3", counts={"s": 2}, change=ready))) == ["storage-3"]


def test_coordinators_would_rather_stay() -> None:
    view = cluster("s1 s2 s3 s4", counts={"s": 3}, coordinating="storage-2 storage-3 storage-4")
    assert names(surplus(view)) == ["storage-1"]
    view = cluster("s1 s1 s2", counts={"s": 2}, coordinating="storage-2")
    assert names(surplus(view)) == ["storage-1"]


@pytest.mark.parametrize(
    ("picture", "newest", "goes"),
    [
        ("s1 s2 s3 s4", 1, "storage-1"),
        ("s1 s2 s3 s4", 2, "storage-2"),
        ("s1 s1 s2 s3", 4, "storage-1"),  # it has a zone for itself
        ("s1 s1 s2 s3", 1, "storage-1"),
        ("s1 s2 s3? s4", 1, "storage-3"),  # it is away
    ],
)
def test_of_equals_who_came_last_goes(picture: str, newest: int, goes: str) -> None:
    """Else cancelling a replacement would empty one that has data since long."""

    def born(it: GroupView) -> GroupView:
        return replace(it, created=9_000.0 if it.id.number == newest else 10.0 - it.id.number)

    assert names(surplus(cluster(picture, counts={"s": 3}, change=born))) == [goes]


def test_nobody_is_too_many_while_nobody_knows_who_reports() -> None:
    view = cluster("s1 s2 s3 s4", counts={"s": 3})
    assert surplus(replace(view, database=Status(0.0, flaws={"": "it was not asked"}))) == ()


def test_whom_somebody_asked_to_keep_is_kept() -> None:
    keep: dict[str, Any] = {"cancelReplacementsForProcessGroups": ["storage-3", "storage-4"]}
    view = cluster("s1 s2 s3 s4?", counts={"s": 2}, automationOptions=keep)
    assert names(surplus(view)) == ["storage-1", "storage-2"]
    assert names(surplus(replace(view, counts={}))) == ["storage-1", "storage-2"]


def test_where_those_are_that_must_stay_fewer_others_do() -> None:
    keep: dict[str, Any] = {"cancelReplacementsForProcessGroups": ["storage-3"]}
    view = cluster("s1 s2 s1", counts={"s": 2}, automationOptions=keep)
    assert names(surplus(view)) == ["storage-1"]


WORDS = st.builds(
    "".join, st.tuples(st.sampled_from("sl"), st.sampled_from("1234"), st.sampled_from(["", "?"]))
)


def zones(groups: Sequence[GroupView]) -> int:
    return len({it.zone for it in groups})


@given(st.lists(WORDS, max_size=8), st.integers(0, 4), st.integers(0, 4))
def test_those_that_stay_are_enough_and_in_as_many_zones_as_can_be(
    words: list[str], storage: int, logs: int
) -> None:
    view = cluster(" ".join([*words, "x1"]), counts={"s": storage, "l": logs, "x": 1})
    gone = {it.name for it in surplus(view)}
    for kind in {it.process_class for it in view.groups}:
        mine, wanted = view.of_class(kind), view.counts.get(kind, 0)
        kept = [it for it in mine if it.name not in gone]
        assert len(kept) == min(len(mine), wanted)
        well = sum(bool(it.processes) for it in kept)
        assert well == min(len(kept), sum(bool(it.processes) for it in mine))
        best = max(
            zones(some)
            for some in combinations(mine, len(kept))
            if sum(bool(it.processes) for it in some) == well
        )
        assert zones(kept) == best


#: Groups, how many shall be, the redundancy, and of which class nobody goes.
TOO_FEW: dict[str, tuple[str, dict[str, int], str, str]] = {
    "one copy of two": ("s1 s2 s3", {"s": 1}, "double", "storage"),
    "two copies of three": ("s1 s2 s3 s4 s5", {"s": 2}, "triple", "storage"),
    "logs of two copies": ("s1 s2 l1 l2 l3", {"s": 2, "l": 1}, "double", "log"),
    "enough, in one zone": ("s1 s1 s1 s2", {"s": 2}, "triple", "storage"),
    "as many as copies": ("s1 s2 s3", {"s": 2}, "double", ""),
    "one copy": ("s1 s2 s3", {"s": 1}, "single", ""),
    "a class that has no copies": ("s1 s2 x1 x2 x3", {"s": 2, "x": 1}, "double", ""),
    "a class as a whole": ("s1 s2 l1 l2", {"s": 2}, "double", ""),
}


@pytest.mark.parametrize("name", TOO_FEW)
def test_nobody_goes_where_copies_would_find_no_zones(name: str) -> None:
    picture, counts, mode, kind = TOO_FEW[name]
    tree = healthy(configuration__redundancy_mode=mode)
    asked = {"redundancy_mode": mode}
    view = cluster(picture, tree, counts=counts, databaseConfiguration=asked)
    going, refused = without_too_few(view, surplus(view))
    assert [it.guard for it in refused] == (["enough_zones_stay"] if kind else [])
    if kind:
        assert f"{kind} processes must be in" in refused[0].message
        assert mode in refused[0].message
        assert f"set processCounts.{kind} to" in refused[0].hint
        assert not [it for it in going if it.process_class == kind]
    else:
        assert going == surplus(view)


#: Processes are in dc1, which is a satellite of another data center, with two copies of logs.
SATELLITE = {
    "usable_regions": 1,
    "regions": [
        {
            "datacenters": [
                {"id": "dc9", "priority": 1},
                {"id": "dc1", "priority": 1, "satellite": 1},
            ],
            "satellite_redundancy_mode": "one_satellite_double",
            "satellite_logs": 2,
        }
    ],
}


@pytest.mark.parametrize(
    ("picture", "counts", "is_missed"),
    [
        ("l1 l2 l3", {"l": 1}, True),
        ("l1 l2 l3", {}, True),
        ("l1 l2 l2", {"l": 2}, False),
        ("l1 l2 x1 x2", {"l": 2, "x": 1}, False),
        ("l1 l2 l3- x1 x2", {"l": 2, "x": 1}, False),
        ("l1 l2 l3-", {"l": 1}, True),
    ],
)
def test_nobody_goes_who_would_be_missed_in_a_satellite(
    picture: str, counts: dict[str, int], is_missed: bool
) -> None:
    tree = healthy(configuration__redundancy_mode="single")
    tree["cluster"]["configuration"].update(SATELLITE)
    asked = {"redundancy_mode": "single"}
    # Zones elsewhere are enough for all copies, and do not stand in.
    far = {"class_type": "log", "excluded": False, "address": "10.9.9.9:4501"}
    far["locality"] = {"instance_id": "far-log-1", "zoneid": "z9", "dcid": "dc9"}
    view = cluster(
        picture, tree, counts=counts, databaseConfiguration=asked, strangers={"far": far}
    )
    going, refused = without_too_few(view, surplus(view))
    if not is_missed:
        assert (going, refused) == (surplus(view), ())
        return
    assert going == ()
    assert [it.guard for it in refused] == ["enough_zones_stay"]
    assert "the satellites dc1 must have logs in 2 zones" in refused[0].message
