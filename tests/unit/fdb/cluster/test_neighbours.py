"""Pods of clusters that share a database go one cluster at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_views import NOW, cluster, healthy
from stateward.fdb.cluster.hands.turns import Neighbours
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.views import ClusterView
from stateward.kube.meta import ObjectKey

ALL = "s1 s2 s3 l1 l2 l3 x1 x2"
FOUND = ConnectionString.parse("shop:a@10.0.0.1:4501")


def view(name: str = "a", at: float = 0.0, mine: int = 4) -> ClusterView:
    """Return a cluster that has so many of the groups of its database."""
    found = cluster(ALL, healthy())
    return replace(
        found,
        key=ObjectKey("prod", name),
        now=NOW + at,
        connection=FOUND,
        groups=found.groups[:mine],
    )


def test_who_has_a_database_alone_waits_for_nobody() -> None:
    turns = Neighbours()
    assert turns.take(view(mine=8)) is None
    assert turns.take(view("b", mine=8)) is None


def test_the_next_cluster_waits_until_the_database_has_noticed() -> None:
    turns = Neighbours()
    assert turns.take(view()) is not None, "another operator may have been here before us"
    assert turns.take(view(at=90)) is None
    assert turns.take(view(at=100)) is None, "its own zones are its own to count"
    refused = turns.take(view(name="b", at=150))
    assert refused is not None
    assert refused.after == pytest.approx(40)
    assert "prod/a" in refused.message
    assert turns.take(view(name="b", at=190)) is None
    assert turns.take(view(at=191)) is not None


def test_while_some_do_not_say_whose_they_are_nobody_is_alone() -> None:
    """A process that just started tells nothing yet: another's pods may have just gone."""
    turns, tree = Neighbours(), healthy()
    assert turns.take(view(at=0)) is not None
    assert turns.take(view(at=90)) is None
    for entry in tree["cluster"]["processes"].values():
        entry.pop("locality")
    silent = replace(view("b", at=100), database=cluster(ALL, tree).database)
    assert turns.take(silent) is not None
