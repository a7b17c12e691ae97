"""Clusters of one database are known as such while its coordinators change, and no others are."""

from __future__ import annotations

import pytest

from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.backups.kinship import Kinship
from stateward.kube.codec import decode


def cluster(uid: str, string: str) -> FoundationDBCluster:
    return decode(
        f"""{{"metadata": {{"name": "{uid}", "uid": "{uid}"}}, "spec": {{"version": "7.3.63"}},
        "status": {{"connectionString": "{string}"}}}}""".encode(),
        FoundationDBCluster,
    )


OLD = "shop:a@10.0.0.1:4501,10.0.0.2:4501"


@pytest.mark.parametrize(
    ("string", "is_one"),
    [
        (OLD, True),
        ("shop:b@10.0.0.2:4501,10.0.0.3:4501", True),
        ("shop:b@10.0.0.2:4501:tls,10.0.0.3:4501:tls", True),
        ("shop:b@10.0.0.3:4501", False),
        ("sale:b@10.0.0.2:4501", False),
        ("", False),
        ("?", False),
    ],
)
def test_by_an_id_or_by_coordinators_that_stayed(string: str, *, is_one: bool) -> None:
    it = Kinship()
    assert bool(it.marks(cluster("1", OLD)) & it.marks(cluster("2", string))) is is_one


def test_by_ids_of_before_where_all_coordinators_change() -> None:
    it = Kinship()
    it.marks(cluster("1", OLD))
    moved = it.marks(cluster("1", "shop:b@10.0.0.8:4501"))
    assert moved & it.marks(cluster("2", OLD))
    assert not moved & it.marks(cluster("3", "shop:c@10.0.0.9:4501"))
