"""Which exclusions are taken back. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_views import cluster, group, names
from stateward.fdb.decide.including import cancelled, inclusions, retained
from stateward.fdb.model.exclusions import ByAddress, of_instance


@pytest.mark.parametrize(("other", "many"), [("s2", 1), ("s2-", 0)])
def test_an_address_stays_only_with_another_that_shall_go(other: str, many: int) -> None:
    gone = group("s1!>", 1)
    heir = replace(group(other, 2), addresses=gone.addresses)
    (found,) = inclusions([gone], [heir], {ByAddress(gone.addresses[0])})
    assert len(found.entries) == many


def test_only_who_is_named_to_stay_is_included() -> None:
    options = {"cancelReplacementsForProcessGroups": ["storage-1", "storage-2"]}
    view = cluster("s1 s2- s3", automationOptions=options)
    assert names(cancelled(view)) == ["storage-1"]
    every = {of_instance(str(it.id)) for it in view.groups}
    assert retained(view, every) == (of_instance("storage-1"),)
    assert cancelled(cluster("s1 s2", automationOptions={})) == ()
    everybody = {"cancelReplacementsForProcessGroups": ["*"]}
    assert names(cancelled(cluster("s1 s2-", automationOptions=everybody))) == ["storage-1"]


@pytest.mark.parametrize(
    ("kept", "by_locality", "many"),
    [("storage-1", True, 2), ("storage-1", False, 2), ("*", False, 2), ("*", True, 1)],
)
def test_who_stays_is_included_by_all_that_stands_for_it(
    kept: str, by_locality: bool, many: int
) -> None:
    """With all of them, where groups go by their names, an address is a person's."""
    options = {
        "cancelReplacementsForProcessGroups": [kept],
        "useLocalitiesForExclusion": by_locality,
    }
    view = cluster("s1 s2-", automationOptions=options)
    mine = {of_instance("storage-1"), ByAddress(view.groups[0].addresses[0])}
    others = {of_instance("storage-2"), ByAddress("10.9.9.9")}
    found = retained(view, mine | others)
    assert {*found} <= mine
    assert len(found) == many


def test_the_address_of_one_who_shall_go_stays_excluded() -> None:
    options = {"cancelReplacementsForProcessGroups": ["storage-1"]}
    view = cluster("s1 s2-", automationOptions=options)
    one, other = view.groups
    heir = replace(view, groups=(one, replace(other, addresses=one.addresses)))
    assert retained(heir, {ByAddress(one.addresses[0])}) == ()
