"""What a configuration asks of places, what is made first, and what holds a step back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes import fdb_regions
from fakes.fdb_regions import lose, two_regions
from fakes.fdb_views import cluster, group, spec, status_of
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.status import FoundationDBClusterStatus, Generations
from stateward.fdb.decide.coordinators import rule_of
from stateward.fdb.decide.layouts import engines, single, steps
from stateward.fdb.decide.layouts.needs import Place, lacking
from stateward.fdb.guards import acts
from stateward.fdb.guards import regions as guards
from stateward.fdb.guards.guard import Guard
from stateward.fdb.model.configuration import Configuration, DataCenter, Region
from stateward.fdb.status.configuration import configuration
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView


def region(name: str, priority: int, *beside: str) -> Region:
    centers = (DataCenter(name, priority), *(DataCenter(it, 1, satellite=True) for it in beside))
    return Region(centers, 2 * len(beside), "one_satellite_double" if beside else "")


BOTH = Configuration(usable_regions=2, regions=(region("dc1", 1, "dc3"), region("dc2", 0, "dc3")))
ONE = Configuration(usable_regions=1, regions=(region("dc1", 1, "dc3"), region("dc2", -1, "dc3")))
ALONE = Configuration(regions=(region("dc1", 1),))
HALLS = Configuration(redundancy="three_data_hall")


def places(text: str) -> list[Place]:
    """Read ``dc1:s2l2``: so many zones with storage, and with logs, in a place."""
    found = []
    for word in text.split():
        name, _, many = word.partition(":")
        for kind, number in zip(many[::2], many[1::2], strict=True):
            found += [
                Place(f"{name}-{kind}{it}", name, name, kind == "s", kind == "l")
                for it in range(int(number))
            ]
    return found


#: Who is there, what shall be, and words of what lacks; nothing: it can be.
LACKING = {
    "all are there": ("dc1:s2l2 dc2:s2l2 dc3:l2", BOTH, ""),
    "no data center for data": ("dc1:s2l2 dc3:l2", BOTH, "dc2 must have storage processes in 2"),
    "too few zones there": ("dc1:s2l2 dc2:s1l2 dc3:l2", BOTH, "and has them in 1"),
    "no logs there": ("dc1:s2l2 dc2:s2 dc3:l2", BOTH, "dc2 must have logs in 2 zones"),
    "no satellite": ("dc1:s2l2 dc2:s2l2", BOTH, "the satellites dc3 must have logs in 2 zones"),
    "who has no data needs nobody": ("dc1:s2l2 dc3:l2", ONE, ""),
    "three halls": ("a:s1l2 b:s1l2 c:s1", HALLS, ""),
    "two halls": ("a:s1l2 b:s1l2", HALLS, "in 3 data halls, and they are in 2: a, b"),
    "logs in one hall": ("a:s1l2 b:s1l1 c:s1", HALLS, "2 zones of 2 data halls each"),
    "a mode that nobody knows": ("a:s1", Configuration(redundancy="?"), ""),
    "zones are judged elsewhere": ("a:s1", Configuration(redundancy="triple"), ""),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_lacks_is_said(name: str) -> None:
    there, shall, words = LACKING[name]
    found = lacking(places(there), shall)
    assert bool(found) == bool(words)
    if words:
        assert any(words in it.words for it in found), found
        assert all("have processes" in it.hint for it in found)


# ------------------------------------------------------------------ what is made first
def view(database: Database, **fields: Any) -> ClusterView:
    return replace(cluster("s1", **fields), database=status_of(database))


#: Who is there, and what is made of two regions with a satellite.
FIRST = {
    "everybody": (("dc1/s3 l3 x3", "dc2/s3 l3 x3", "dc3/l3"), (2, ["dc1", "dc2"])),
    "one region and its satellite": (("dc1/s3 l3 x3", "dc3/l3"), (1, ["dc1", "dc2"])),
    "one region alone": (("dc1/s3 l3 x3",), (1, ["dc1"])),
    "none of them": (("dc9/s3 l3 x3",), (1, [])),
}


@pytest.mark.parametrize("name", FIRST)
def test_a_database_begins_with_whoever_is_there(name: str) -> None:
    there, (usable, mains) = FIRST[name]
    made = steps.first(view(fdb_regions.cluster(*there)), BOTH)
    assert made.usable_regions == usable
    assert [it.main.id for it in made.regions if it.main is not None] == mains


def test_halls_begin_as_triple() -> None:
    one_hall = fdb_regions.cluster("az1/s3 l4 x3", key="data_hall")
    assert steps.first(view(one_hall), HALLS).redundancy == "triple"
    every = fdb_regions.cluster(*(f"az{it}/s1 l2 x1" for it in (1, 2, 3)), key="data_hall")
    assert steps.first(view(every), HALLS) == HALLS


def test_while_nobody_says_who_is_there_it_is_made_as_wanted_and_not_changed() -> None:
    silent = replace(cluster("s1"), database=Status(0.0, flaws={"": "silence"}))
    assert steps.first(silent, BOTH) == BOTH
    found = steps.enough_places(silent, ALONE, BOTH)
    assert found is not None
    assert "nobody knows" in found.message


# ------------------------------------------------------------------ regions
def refused(guard: Guard, database: Database) -> str:
    found = guard(view(database))
    return "" if found is None else found.message


def test_regions_with_all_data_let_each_other_write() -> None:
    database = two_regions()
    for guard in (guards.first_region_is_whole, guards.all_regions_are_whole):
        assert refused(guard, database) == ""
    assert refused(guards.regions_keep_up, database) == ""


def test_a_region_that_lacks_copies_must_not_write_and_may_go() -> None:
    database = two_regions()
    lose(database, "dc2", seconds=200)
    assert "the other region has 0 of 2 copies" in refused(guards.all_regions_are_whole, database)
    assert refused(guards.first_region_is_whole, database) == ""


def test_a_region_that_is_behind_must_not_write() -> None:
    database = two_regions()
    database.region_lag = 100.0
    assert "100 s behind, and may be 30 s" in refused(guards.regions_keep_up, database)


@pytest.mark.parametrize(
    "guard",
    [guards.first_region_is_whole, guards.all_regions_are_whole, guards.regions_keep_up],
)
def test_what_nobody_knows_of_regions_is_refused(guard: Guard) -> None:
    found = guard(replace(cluster("s1"), database=Status(0.0, flaws={"": "silence"})))
    assert found is not None
    assert "nobody knows" in found.message


#: What shall be next in two regions that are run from dc1, and what is asked before.
GUARDS = {
    "the other one may not write any more": (
        replace(BOTH, regions=(region("dc1", 1, "dc3"), region("dc2", -1, "dc3"))),
        acts.MOVE_REGIONS,
    ),
    "the other one writes": (
        replace(BOTH, regions=(region("dc1", 0, "dc3"), region("dc2", 1, "dc3"))),
        acts.LET_WRITE,
    ),
    "the other one writes alone": (
        replace(BOTH, regions=(region("dc1", -1, "dc3"), region("dc2", 1, "dc3"))),
        acts.LET_WRITE,
    ),
    "one less": (ONE, acts.MOVE_REGIONS),
    "only counts": (replace(BOTH, logs=5), acts.CONFIGURE),
}


@pytest.mark.parametrize("name", GUARDS)
def test_more_is_asked_where_another_region_may_write(name: str) -> None:
    step, asked = GUARDS[name]
    seen = view(two_regions())
    assert steps.guards(seen, BOTH, step) == asked


def test_regions_are_changed_where_the_database_is_run() -> None:
    database = two_regions()
    live = configuration(status_of(database))
    assert steps.elsewhere(view(database, dataCenter="dc1"), live.value) == ""
    words = steps.elsewhere(view(database, dataCenter="dc2"), live.value)
    assert "data center dc1" in words
    assert steps.elsewhere(view(database, dataCenter="dc2"), Configuration()) == ""


#: Where a cluster is, the generation that was once as asked, what it asks for, and whether it waits.
AWAY = replace(BOTH, regions=(region("dc1", 0, "dc3"), region("dc2", 1, "dc3")))
MOVED = {
    "by an old wish, from here": ("dc1", 1, AWAY, True),
    "by a new wish, from here": ("dc1", 0, AWAY, False),
    "to here": ("dc2", 1, BOTH, False),
    "not at all": ("dc1", 1, replace(BOTH, logs=5), False),
    "to fewer": ("dc1", 1, replace(BOTH, regions=(region("dc1", 1),)), False),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_database_is_not_sent_away_by_a_wish_that_was_fulfilled(name: str) -> None:
    center, once, step, waits = MOVED[name]
    seen = view(two_regions(), dataCenter=center)
    status = FoundationDBClusterStatus(generations=Generations(reconciled=once))
    seen = replace(seen, status=status)
    live = configuration(seen.database)
    assert ("moved the database to data center" in steps.moved_here(seen, live.value, step)) == (
        waits
    )


# ------------------------------------------------------------------ coordinators
def test_coordinators_are_in_the_data_centers_of_the_regions() -> None:
    found = rule_of(BOTH)
    assert (found.count, found.in_a_data_center) == (9, 3)
    assert found.centers == ("dc1", "dc2", "dc3")
    two = rule_of(replace(BOTH, regions=(region("dc1", 0), region("dc2", 1))))
    assert (two.in_a_data_center, two.centers) == (5, ("dc2", "dc1"))


# ------------------------------------------------------------------ engines, and one copy
#: How data goes over by the database, by the spec, and words of why not.
ENGINES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, "storage_migration_type is disabled"),
    ({"storage_migration_type": "disabled"}, {}, "storage_migration_type is disabled"),
    ({}, {"storage_migration_type": "aggressive"}, ""),
    ({"storage_migration_type": "aggressive"}, {}, ""),
    ({}, {"storage_migration_type": "gradual"}, "perpetual_storage_wiggle must be 1 or more"),
    ({"perpetual_storage_wiggle": 1}, {"storage_migration_type": "gradual"}, ""),
    ({}, {"storage_migration_type": "gradual", "perpetual_storage_wiggle": 1}, ""),
]


@pytest.mark.parametrize(("is_", "shall", "words"), ENGINES)
def test_an_engine_changes_where_data_can_follow(
    is_: dict[str, Any], shall: dict[str, Any], words: str
) -> None:
    for engine in ("ssd-redwood-1", "ssd-rocksdb-v1", "memory"):
        live = Configuration(**is_)
        found = engines.engine_can_change(
            cluster("s1 s2 s3"), live, Configuration(storage_engine=engine, **shall)
        )
        assert (found is None) == (not words)
        if found is not None:
            assert words in found.message
            assert "set databaseConfiguration." in found.hint
            assert "back to ssd-2" in found.hint


@pytest.mark.parametrize(
    ("picture", "fits"),
    [("s1 s2", False), ("s1 s1 s2", False), ("s1 s2 s3", True), ("s1 s1 s2 s2", True)],
)
def test_one_after_another_needs_room_for_what_one_has(picture: str, fits: bool) -> None:
    step = Configuration(
        storage_engine="ssd-redwood-1", storage_migration_type="gradual", perpetual_storage_wiggle=1
    )
    found = engines.engine_can_change(cluster(picture), Configuration(), step)
    assert (found is None) == fits
    if found is not None:
        words = "must be in 3 zones, or two in each, for storage_migration_type gradual"
        assert f"{words}; they are in 2" in found.message
        assert "aggressive, which needs no room elsewhere" in found.hint


#: Who is there, what shall be, and where others have no room for what one has.
CRAMPED = {
    "in all regions": ("dc1:s3 dc2:s3", BOTH, None),
    "not in one of them": ("dc1:s2 dc2:s4", BOTH, ("dc1", 2)),
    "nor in the other": ("dc1:s4 dc2:s2", BOTH, ("dc2", 2)),
    "where data is": ("dc1:s3 dc2:s1", ONE, None),
    "and not where none is": ("dc1:s2 dc2:s4", ONE, ("dc1", 2)),
    "no regions": ("dc1:s2 dc2:s1", Configuration(), None),
    "one copy in each hall": ("a:s2 b:s2 c:s2", HALLS, None),
    "who is alone in its hall": ("a:s3 b:s2 c:s1", HALLS, ("", 3)),
    "for whom another hall is there": ("a:s1 b:s1 c:s1 d:s1", HALLS, None),
}


@pytest.mark.parametrize("name", CRAMPED)
def test_room_for_what_one_has_is_in_its_own_data_center(name: str) -> None:
    there, step, found = CRAMPED[name]
    assert engines.cramped(places(there), step) == found


def test_the_same_engine_by_another_name_is_no_change() -> None:
    live, step = Configuration(storage_engine="ssd-2"), Configuration(storage_engine="ssd")
    assert engines.engine_can_change(cluster("s1"), live, step) is None


def test_the_last_copy_does_not_go_with_its_pod() -> None:
    seen = replace(
        cluster("s1 l1 x1"),
        configured=True,
        spec=spec(databaseConfiguration={"redundancy_mode": "single"}),
        database=Status(0.0, flaws={"": "silence"}),
    )
    disk, none, stateless = group("s1"), replace(group("s2"), has_claim=False), group("x1")
    disk = replace(disk, has_claim=True)
    assert single.no_last_copy_goes(seen, [disk, stateless]) is None
    found = single.no_last_copy_goes(seen, [disk, none])
    assert found is not None
    assert "the only copy of what it has" in found.message
    assert "processGroupsToRemove" in found.hint
    assert "can not be read" in single.cost(seen, [disk])
    assert single.cost(seen, [stateless]) == ""
    twice = replace(seen, spec=spec())
    assert single.no_last_copy_goes(twice, [none]) is None
