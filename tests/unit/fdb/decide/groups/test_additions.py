"""Which groups are to be made, and that nobody gets a name that somebody still has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count, repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_groups import SILENT, cluster, group
from fakes.fdb_statuses import recorded
from stateward.fdb.decide.groups.additions import LAST_NUMBER, missing, new_ids
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.views import ClusterView

STORAGE, LOG = ProcessClass.STORAGE, ProcessClass.LOG


def ids(view: ClusterView, *numbers: int, taken: tuple[str, ...] = ()) -> list[str]:
    """Return who is made when chance gives these numbers, and then all from 50 on."""
    return [str(it) for it in new_ids(view, chain(numbers, count(50)), taken)]


def seen(*groups: Any, storage: int = 1, **said: Any) -> ClusterView:
    return cluster(*groups, counts={STORAGE: storage}, **said)


def test_as_many_are_missing_as_there_shall_be_more() -> None:
    some = [group("storage-1"), group("storage-2", marked=True), group("log-1"), group("log-2")]
    assert missing(cluster(*some, counts={STORAGE: 3, LOG: 1})) == {STORAGE: 2}


def test_one_whose_object_is_deleted_does_not_count() -> None:
    assert missing(seen(group("storage-1", leaving=True))) == {STORAGE: 1}


def test_where_all_are_there_nobody_is_made() -> None:
    assert ids(seen(group("storage-1"))) == []


def test_numbers_come_by_chance() -> None:
    assert ids(seen(storage=2), 17, 4) == ["storage-17", "storage-4"]


@pytest.mark.parametrize("number", [0, -5, LAST_NUMBER + 1])
def test_numbers_are_in_bounds(number: int) -> None:
    assert ids(seen(), number, 4) == ["storage-4"]


@pytest.mark.parametrize("said", [{}, {"marked": True}, {"leaving": True}])
def test_no_number_of_a_group_that_is_there(said: dict[str, bool]) -> None:
    assert ids(seen(group("storage-7", **said), storage=9), 7)[0] == "storage-50"


def test_numbers_of_other_classes_are_free() -> None:
    assert ids(seen(group("log-7")), 7) == ["storage-7"]


def test_a_prefix_stands_before_it() -> None:
    assert ids(seen(spec={"processGroupIDPrefix": "dc1"}), 7) == ["dc1-storage-7"]


def test_with_another_prefix_the_pod_would_have_the_same_name() -> None:
    view = seen(group("dc0-storage-7", marked=True), spec={"processGroupIDPrefix": "dc1"})
    assert ids(view, 7, 8) == ["dc1-storage-8"]


def test_no_number_that_is_excluded() -> None:
    assert ids(seen(database=recorded("excluded_by_locality")), 5, 6) == ["storage-6"]


def test_exclusions_that_nobody_knows_hold_nothing_up() -> None:
    assert ids(seen(database=SILENT), 5) == ["storage-5"]


@pytest.mark.parametrize("name", ["processGroupsToRemove", "processGroupsToRemoveWithoutExclusion"])
def test_no_number_that_is_named_for_removal(name: str) -> None:
    assert ids(seen(spec={name: ["storage-5"]}), 5, 6) == ["storage-6"]


def test_no_number_that_is_named_to_stay() -> None:
    kept = {"cancelReplacementsForProcessGroups": ["storage-5"]}
    assert ids(seen(spec={"automationOptions": kept}), 5, 6) == ["storage-6"]


@pytest.mark.parametrize("taken", ["storage-5", "shop-storage-5"])
def test_no_number_that_is_taken_otherwise(taken: str) -> None:
    assert ids(seen(), 5, 6, taken=(taken,)) == ["storage-6"]


@pytest.mark.parametrize("numbers", [iter(()), repeat(7)])
def test_where_chance_is_of_no_help_the_first_free_number_is_taken(numbers: Iterator[int]) -> None:
    view = seen(group("storage-1", marked=True), group("storage-7", marked=True), storage=2)
    assert [str(it) for it in new_ids(view, numbers, ())] == ["storage-2", "storage-3"]


@given(
    st.sets(st.integers(1, 40), max_size=20),
    st.lists(st.integers(-1, 45)),
    st.dictionaries(st.sampled_from([STORAGE, LOG]), st.integers(0, 30)),
)
def test_nobody_is_named_twice(
    there: set[int], numbers: list[int], counts: dict[ProcessClass, int]
) -> None:
    view = cluster(*(group(f"storage-{it}", marked=it % 2 == 0) for it in there), counts=counts)
    found = new_ids(view, iter(numbers), ())
    every = [*(it.id for it in view.groups), *found]
    assert len(set(every)) == len(every)
    assert len(found) == sum(missing(view).values())
