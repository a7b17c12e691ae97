"""Who is excluded. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_views import KINDS, cluster, entry, group, healthy, names
from stateward.fdb.decide.exclusions import ExclusionPlan, exclusions_of, is_listed, plan
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.exclusions import ByAddress, ByLocality, parse
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.status.reading import Status
from stateward.fdb.views import GroupView

BY_ADDRESS = {"useLocalitiesForExclusion": False}
DOUBLE = {"s": 3, "l": 3, "x": 2}


def planned(picture: str, listed: Iterable[str] = (), **fields: Any) -> ExclusionPlan:
    fields.setdefault("counts", DOUBLE)
    entries = frozenset(ByLocality("instance_id", it) for it in listed)
    return plan(cluster(picture, **fields), entries)


LOGS = "l1 l2 l3"
STATELESS = "x1 x2"
REST = f"{LOGS} {STATELESS}"

#: Groups, those on the list, who is excluded.
TABLE: dict[str, tuple[str, str, list[str]]] = {
    "nobody is marked": (f"s1 s2 s3 {REST}", "", []),
    "the replacement is there": (f"s1 s2 s3 s4- {REST}", "", ["storage-4"]),
    "on the list already": (f"s1 s2 s3 s4- {REST}", "storage-4", []),
    "it holds nothing any more": (f"s1 s2 s3 s4! {REST}", "storage-4", []),
    "somebody took the exclusion back": (f"s1 s2 s3 s4! {REST}", "", ["storage-4"]),
    "it is let go, and may be gone": (f"s1 s2 s3 s4!> {REST}", "", []),
    "it goes with what it holds": (f"s1 s2 s3 s4~ {REST}", "", []),
    "testers are never excluded": (f"s1 s2 s3 {REST} T1-", "", []),
    "the replacement is not there": (f"s1 s2 s3- {REST}", "", []),
    "the replacement does not report": (f"s1 s2 s3? s4- {REST}", "", []),
    "one of another class is away": (f"s1 s2 s3 s4- {LOGS} x1 x2?", "", []),
    "a tester may be away": (f"s1 s2 s3 s4- {REST} T1?", "", ["storage-4"]),
    "a marked one may be away": (f"s1 s2 s3 s4- s5-? {REST}", "", ["storage-4", "storage-5"]),
    "storage that waits holds nobody": (f"s1 s2 s3- {REST} x3-", "", ["stateless-3"]),
    "a log that waits holds all": (f"s1 s2 s3 s4- l1 l2 l3- {STATELESS}", "", []),
    "all of a class that is not wanted": (f"s1 s2 s3 {REST} t1- t2-", "",
                                          ["transaction-1", "transaction-2"]),
    "deleted by somebody": (f"s1 s2 s3 s4-> {REST}", "", ["storage-4"]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_who_is_excluded(name: str) -> None:
    picture, listed, expected = TABLE[name]
    assert names(planned(picture, listed.split()).exclude) == expected


def test_who_waits_is_told_why() -> None:
    found = planned(f"s1 s2 s3? s4- {REST}")
    assert names(found.held) == ["storage-4"]
    assert found.held[0].why == "processes that shall stay do not report: storage-3"


@pytest.mark.parametrize("kept", ["storage-4", "*"])
def test_who_stays_after_all_counts_once_it_is_included(kept: str) -> None:
    """Else those that came for it would be empty as well, and fewer would serve than shall."""
    options = {"cancelReplacementsForProcessGroups": [kept]}
    picture = f"s1 s2 s3- s4 {REST}"
    found = planned(picture, ["storage-4"], automationOptions=options)
    assert names(found.exclude) == []
    assert found.held[0].why == "of those that stay some have yet to be included: storage-4"
    assert names(planned(picture, automationOptions=options).exclude) == ["storage-3"]


def test_a_log_that_waits_is_said_to_hold_others() -> None:
    found = planned(f"s1 s2 s3 s4- l1 l2 l3- {STATELESS}")
    assert set(names(found.held)) == {"storage-4", "log-3"}
    assert any("each exclusion is a recovery" in it.why for it in found.held)


def test_copies_need_zones() -> None:
    found = planned(f"s1 s1 s1 s2- {REST}")
    assert names(found.exclude) == []
    assert "in 1 zones, and 2 are needed" in found.held[0].why


def test_copies_of_now_need_zones_whatever_is_asked_for() -> None:
    found = planned(f"s1 s1 s1 s2- {REST}", databaseConfiguration={"redundancy_mode": "single"})
    assert names(found.exclude) == []
    assert "in 1 zones, and 2 are needed" in found.held[0].why


def test_zones_of_other_clusters_of_the_database_count() -> None:
    far = entry(group("s9@9"), locality={"instance_id": "far-storage-9", "zoneid": "z9"})
    found = planned(f"s1 s1 s1 s2- {REST}", strangers={"far": far})
    assert names(found.exclude) == ["storage-4"]
    found = planned(f"s1 s1 s1 s2- {REST}", strangers={"far": {**far, "excluded": True}})
    assert names(found.exclude) == []


def test_a_data_center_keeps_what_the_database_needs_there() -> None:
    tree = healthy()
    center = {"datacenters": [{"id": "dc1", "priority": 1}]}
    tree["cluster"]["configuration"].update(usable_regions=1, regions=[center])
    far = entry(group("s9@9"))
    far["locality"] = {"instance_id": "far-storage-9", "zoneid": "z9", "dcid": "dc9"}
    found = planned(f"s1 s1 s1 s2- {REST}", tree=tree, strangers={"far": far})
    assert names(found.exclude) == []
    assert "data center dc1 must have storage processes in 2 zones" in found.held[0].why


def test_without_a_status_nobody_is_excluded() -> None:
    view = cluster(f"s1 s2 s3 s4- {REST}", counts=DOUBLE)
    view = replace(view, database=Status(0.0, flaws={"": "it was not asked"}))
    found = plan(view, frozenset())
    assert names(found.exclude) == []
    assert "it was not asked" in found.held[0].why


def test_who_was_marked_first_goes_first() -> None:
    def when(it: GroupView) -> GroupView:
        return replace(it, marked_since=100.0 - it.id.number) if it.marked else it

    found = planned(f"s1 s2 s3 s4- s5- {REST}", change=when)
    assert names(found.exclude) == ["storage-5", "storage-4"]


# ------------------------------------------------------------------ what stands for a group
def test_a_group_goes_by_its_locality() -> None:
    assert exclusions_of(group("s1"), by_locality=True) == (ByLocality("instance_id", "storage-1"),)


def test_a_group_goes_by_every_address_it_has_or_had() -> None:
    it = replace(group("s1"), addresses=("10.0.0.2", "10.0.0.1", "a.name"))
    assert exclusions_of(it, by_locality=False) == (ByAddress("10.0.0.2"), ByAddress("10.0.0.1"))


def test_all_addresses_must_be_on_the_list() -> None:
    it = replace(group("s1"), addresses=("10.0.0.2", "10.0.0.1"))
    one = frozenset({parse("10.0.0.2")})
    assert not is_listed(it, one, by_locality=False)
    assert is_listed(it, one | {parse("10.0.0.1")}, by_locality=False)
    assert not is_listed(it, one | {parse("10.0.0.1")}, by_locality=True)
    assert is_listed(it, frozenset({parse("locality_instance_id:storage-1")}), by_locality=False)


def test_a_group_without_an_address_waits() -> None:
    def lost(it: GroupView) -> GroupView:
        return replace(it, addresses=()) if it.marked else it

    picture = f"s1 s2 s3 s4-? s5- {REST}"
    found = planned(picture, change=lost, automationOptions=BY_ADDRESS)
    assert names(found.exclude) == ["storage-5"]
    assert names(found.held) == ["storage-4"]
    assert "no address" in found.held[0].why


# ------------------------------------------------------------------ laws
WORDS = st.builds(
    "".join, st.tuples(st.sampled_from("slxt"), st.sampled_from("1234"), st.sampled_from(
        ["", "", "", "-", "-", "!", "~", "?", "-?"]))
)  # fmt: skip


@given(
    st.lists(WORDS, max_size=12),
    st.fixed_dictionaries({it: st.integers(0, 3) for it in "slxt"}),
    st.sets(st.sampled_from([f"{KINDS[it]}-{n}" for it in "slxt" for n in (1, 2, 3)])),
)
def test_whoever_is_excluded_is_replaced(
    words: list[str], counts: dict[str, int], listed: set[str]
) -> None:
    picture = " ".join(words)
    found = planned(picture, listed, counts=counts)
    view = cluster(picture, counts=counts)
    told = {*names(found.exclude), *names(found.held)}
    assert len(told) == len(found.exclude) + len(found.held)
    wanted = {str(it.id) for it in view.groups if it.marked and not it.skipped}
    assert told == wanted - listed
    if not found.exclude:
        return
    assert all(it.processes for it in view.staying())
    for it in found.exclude:
        assert it.marked
        assert not it.skipped
        every = view.of_class(it.process_class)
        wanted_ = view.counts[it.process_class]
        assert len([one for one in every if not one.marked]) >= wanted_
        # No more become empty at a time than are there beyond those that must be.
        valid = [one for one in every if one.processes]
        ongoing = [one for one in valid if one.marked and str(one.id) in listed]
        now = [one for one in found.exclude if one in every and one.processes]
        assert len(now) <= len(valid) + 1 - wanted_ - len(ongoing)
    held = {ProcessGroupID.parse(it.group).process_class for it in found.held}
    gone = {it.process_class for it in found.exclude}
    assert held - gone <= {ProcessClass.STORAGE}
