"""What one copy means for every judgement that looks at redundancy, as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from fakes.fdb_views import cluster, healthy
from stateward.fdb.decide import coordinating, exclusions, making
from stateward.fdb.decide.configuration import wanted
from stateward.fdb.decide.layouts import single
from stateward.fdb.status.configuration import configuration
from stateward.fdb.views import ClusterView, GroupView

REFUSED = "the only copy of what it has would go with the pod"
AWAY = "until they are back, what they have can not be read"


class Row(NamedTuple):
    """A group whose pod is to be made anew, and whether it may be, and what that costs."""

    group: str
    live: str
    asked: str
    claim: bool
    refused: bool
    costs: bool


TABLE = {
    "data, without a volume": Row("s1", "single", "single", False, True, True),
    "data, with a volume": Row("s1", "single", "single", True, False, True),
    "logs, without a volume": Row("l1", "single", "single", False, True, True),
    "logs, with a volume": Row("l1", "single", "single", True, False, True),
    "nothing to lose": Row("x1", "single", "single", False, False, False),
    "two copies": Row("s1", "double", "double", False, False, False),
    "two copies of which one shall go": Row("s1", "double", "single", False, False, False),
    "two copies that are not there yet": Row("s1", "single", "double", False, True, True),
}


def seen(picture: str, live: str, asked: str = "", *, claim: bool = True) -> ClusterView:
    def held(it: GroupView) -> GroupView:
        return replace(it, has_claim=claim)

    tree = healthy(configuration__redundancy_mode=live)
    mode = {"redundancy_mode": asked or live}
    kinds = {it[0] for it in picture.split()}
    counts = {it: sum(word[0] == it for word in picture.split()) for it in kinds}
    return cluster(picture, tree, counts=counts, change=held, databaseConfiguration=mode)


@pytest.mark.parametrize("name", TABLE)
def test_a_pod_is_made_anew(name: str) -> None:
    row = TABLE[name]
    view = seen(row.group, row.live, row.asked, claim=row.claim)
    found = single.no_last_copy_goes(view, view.groups)
    assert (found is not None) == row.refused
    if found is not None:
        assert REFUSED in found.message
        assert "processGroupsToRemove" in found.hint
        assert str(view.groups[0].id) in found.message
    assert (AWAY in single.cost(view, view.groups)) == row.costs


def test_nobody_is_held_back_before_there_is_a_database() -> None:
    view = replace(seen("s1", "single", claim=False), configured=False)
    assert single.no_last_copy_goes(view, view.groups) is None


def test_there_is_one_coordinator() -> None:
    assert coordinating.rule(seen("s1 s2 s3", "single")).count == 1


def test_the_only_one_goes_when_its_replacement_is_there() -> None:
    alone = replace(seen("s1-", "single"), counts=dict.fromkeys(seen("s1", "single").counts, 1))
    found = exclusions.plan(alone, frozenset())
    assert found.exclude == ()
    assert [it.why for it in found.held] == ["of the class storage 0 report that stay, and 1 shall"]
    both = replace(seen("s1- s2", "single"), counts=alone.counts)
    assert [str(it.id) for it in exclusions.plan(both, frozenset()).exclude] == ["storage-1"]


@pytest.mark.parametrize(
    ("picture", "says"),
    [
        ("s1 l1", "double must have 2 zones with storage processes"),
        ("s1 s1 l1 l1", "1 zones have storage processes"),
        ("s1 s2 l1 l2", "and 2 could have a coordinator"),
        ("s1 s2 l1 l2 l3", ""),
    ],
)
def test_more_copies_need_zones(picture: str, says: str) -> None:
    view = seen(picture, "single", "double")
    live = configuration(view.database)
    found = making.enough_zones(view, live.value, wanted(view.spec))  # type: ignore[union-attr]
    assert (found is None) == (says == "")
    if found is not None:
        assert says in found.message
        assert "set databaseConfiguration.redundancy_mode back to single" in found.hint
