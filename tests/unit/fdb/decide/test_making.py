"""Whether there are places for more copies. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_views import cluster
from stateward.fdb.decide.making import enough_zones
from stateward.fdb.model.configuration import Configuration, Region
from stateward.fdb.status.reading import Status

FIVE = "s1 s2 s3 s4 s5 l1 l2 l3 l4"
#: Groups, what is, what shall be, and words of why not; nothing: there are places enough.
TABLE: dict[str, tuple[str, str, str, str]] = {
    "places enough": (FIVE, "double", "triple", ""),
    "too few for data": ("s1 s2 l3 l4 l5", "double", "triple", "2 zones have storage"),
    "too few for logs and data": ("s1 s2 l1 l2", "double", "triple", "2 logs"),
    "too few to coordinate": ("s1 s2 s3 l1 l2 l3", "double", "triple", "3 could have a coord"),
    "of two in a zone one counts": ("s1 s1 l1 l1", "single", "double", "1 zones have storage"),
    "fewer copies always have places": ("s1 l1", "triple", "single", ""),
    "as many copies are not judged": ("s1 l1", "triple", "triple", ""),
    "of halls the database judges": ("s1 l1", "double", "three_data_hall", ""),
    "who goes coordinates no more": ("s1 s2 s3- l1 l2", "single", "double", "2 could have a coord"),
}


@pytest.mark.parametrize("name", TABLE)
def test_more_copies_need_places(name: str) -> None:
    picture, is_, shall, words = TABLE[name]
    view = cluster(picture, databaseConfiguration={"redundancy_mode": shall})

    found = enough_zones(view, Configuration(redundancy=is_), Configuration(redundancy=shall))

    assert (found is None) == (not words)
    if found is not None:
        assert words in found.message
        assert "must have" in found.message
        assert is_ in found.hint


def test_where_regions_are_the_database_judges() -> None:
    step = Configuration(redundancy="triple", regions=(Region(()),))

    assert enough_zones(cluster("s1"), Configuration(redundancy="double"), step) is None


def test_of_a_mode_that_nobody_knows_nothing_is_said() -> None:
    live, step = Configuration(redundancy="?"), Configuration(redundancy="triple")

    assert enough_zones(cluster("s1"), live, step) is None


def test_that_nobody_says_who_reports_is_no_place() -> None:
    view = replace(cluster(FIVE), database=Status(0.0, flaws={"": "silence"}))
    live, step = Configuration(redundancy="double"), Configuration(redundancy="triple")

    found = enough_zones(view, live, step)

    assert found is not None
    assert "nobody knows" in found.message
