"""Who is named, to go or to stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_groups import cluster, group
from stateward.fdb.decide.groups.listed import Listing, listed
from stateward.fdb.views import GroupView

REMOVE, BARE = "processGroupsToRemove", "processGroupsToRemoveWithoutExclusion"
ONE, TWO = group("storage-1"), group("storage-2")


def marks(found: Listing) -> list[tuple[str, bool]]:
    return [(str(it.group.id), it.skip) for it in found.to_mark]


def lists(*groups: GroupView, keep: list[str] | None = None, **words: Any) -> Listing:
    automation = {"cancelReplacementsForProcessGroups": keep or []}
    return listed(cluster(*groups, spec={**words, "automationOptions": automation}))


def test_where_nobody_is_named_nothing_is_said() -> None:
    assert lists(ONE, TWO) == Listing()


def test_who_is_named_is_marked() -> None:
    found = lists(ONE, TWO, processGroupsToRemove=["storage-2"])
    assert marks(found) == [("storage-2", False)]
    assert found.to_mark[0].why == "processGroupsToRemove names it"


def test_who_is_named_without_exclusion_goes_with_what_it_holds() -> None:
    found = lists(ONE, TWO, **{REMOVE: ["storage-2"], BARE: ["storage-2"]})
    assert marks(found) == [("storage-2", True)]


def test_testers_are_not_excluded() -> None:
    assert marks(lists(group("test-1"), **{REMOVE: ["test-1"]})) == [("test-1", True)]


def test_who_is_marked_is_not_marked_again() -> None:
    gone = group("storage-1", marked=True)
    assert marks(lists(gone, **{REMOVE: ["storage-1"]})) == []
    assert marks(lists(gone, **{BARE: ["storage-1"]})) == [("storage-1", True)]
    assert (
        marks(lists(group("storage-1", marked=True, skipped=True), **{BARE: ["storage-1"]})) == []
    )


def test_an_object_that_is_deleted_asks_for_another_group() -> None:
    found = lists(group("storage-1", leaving=True), group("storage-2", leaving=True, marked=True))
    assert marks(found) == [("storage-1", False)]
    assert found.to_mark[0].why == "its object is deleted"


def test_names_of_nobody_are_told() -> None:
    found = lists(ONE, **{REMOVE: ["storage-1", "storage-9"], BARE: ["log-9", "storage-9"]})
    assert found.unknown == ("storage-9", "log-9")
    assert marks(found) == [("storage-1", False)]


def test_names_of_nobody_that_shall_stay_are_told_as_well() -> None:
    found = lists(ONE, keep=["storage-1", "storage-9", "*", "storage-9"])
    assert found.unknown_kept == ("storage-9",)
    assert found.unknown == ()


def test_who_goes_already_cannot_stay_which_is_told() -> None:
    going = group("storage-1", marked=True, excluded=True, leaving=True)
    (told,) = lists(going, TWO, keep=["storage-1"]).held
    assert (told.group, "deleted already" in told.why) == ("shop-storage-1", True)
    assert lists(going, TWO, keep=["storage-2"]).held == ()


@pytest.mark.parametrize("name", [REMOVE, BARE])
def test_all_of_them_cannot_go(name: str) -> None:
    found = lists(ONE, TWO, **{name: ["*"]})
    assert (found.to_mark, found.unknown) == ((), ())
    assert found.held[0].why == f"{name} names all groups, of which some must be there"


def test_who_is_to_stay_stays() -> None:
    found = lists(ONE, TWO, keep=["storage-1"], **{REMOVE: ["storage-1", "storage-2"]})
    assert marks(found) == [("storage-2", False)]
    assert [it.group for it in found.held] == ["shop-storage-1"]


def test_a_mark_is_taken_off_whoever_is_to_stay_while_it_is_there() -> None:
    gone, leaving = (
        group("storage-1", marked=True, excluded=True),
        group("storage-2", marked=True, leaving=True),
    )
    assert lists(gone, leaving, keep=["*"]).to_keep == (gone,)
    assert lists(ONE, keep=["storage-1"]).to_keep == ()


names = st.lists(st.sampled_from(["storage-1", "storage-2", "test-3", "log-9", "*"]))
flags = st.tuples(*[st.booleans()] * 3)


@given(st.tuples(flags, flags, flags), names, names, names)
def test_nobody_is_both_marked_and_kept(
    some: Any, remove: list[str], bare: list[str], keep: list[str]
) -> None:
    groups = [
        group(name, marked=marked, skipped=skipped, leaving=leaving)
        for name, (marked, skipped, leaving) in zip(
            ("storage-1", "storage-2", "test-3"), some, strict=True
        )
    ]
    found = lists(*groups, keep=keep, **{REMOVE: remove, BARE: bare})
    going = {it.group.name for it in found.to_mark}
    assert not going & {it.name for it in found.to_keep}
    assert all(str(it.group.id) not in keep for it in found.to_mark)
    for it in found.to_mark:
        assert it.skip == (str(it.group.id) in bare or str(it.group.id) == "test-3")
