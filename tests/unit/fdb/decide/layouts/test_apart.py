"""Clusters of one database that keep their lock at different places of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.decide.layouts.sharing import locks_apart
from stateward.kube.codec import Json

SHOP = "shop:k3s8@10.0.0.1:4501"


def cluster(name: str, place: str = "", *, seed: str = "", found: str = SHOP, **more: Any) -> Any:
    """Return a cluster that keeps its lock at a place of the database that it is found by."""
    options: Json = {"disableLocks": False, "lockKeyPrefix": place, **more}
    body = {
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {"version": "7.3.63", "seedConnectionString": seed, "lockOptions": options},
        "status": {"connectionString": found},
    }
    return msgspec.convert(body, FoundationDBCluster)


OTHER = "else:a1b2@10.0.0.9:4501"

#: The other cluster -> whether it looks for the lock elsewhere than one that says nothing of it.
OTHERS: dict[str, tuple[FoundationDBCluster, bool]] = {
    "at the same place": (cluster("b"), False),
    "elsewhere": (cluster("b", "/b"), True),
    "elsewhere, and has yet to come": (cluster("b", "/b", seed=SHOP, found=""), True),
    "elsewhere, after coordinators moved": (
        cluster("b", "/b", seed="shop:old@10.0.0.1:4501"),
        True,
    ),
    "of another database": (cluster("b", "/b", found=OTHER), False),
    "of none yet": (cluster("b", "/b", found=""), False),
    "of what nobody can read": (cluster("b", "/b", found="?"), False),
    "without locks": (cluster("b", "/b", disableLocks=True), False),
}


@pytest.mark.parametrize("how", OTHERS)
def test_who_keeps_the_lock_elsewhere(how: str) -> None:
    other, apart = OTHERS[how]
    mine = cluster("a")
    assert locks_apart(mine, [mine, other]) == (["prod/b"] if apart else [])
    if apart:
        assert locks_apart(other, [mine, other]) == ["prod/a"]


def test_one_that_goes_does_not_count() -> None:
    other = cluster("b", "/b")
    going = msgspec.structs.replace(other.metadata, deletion_timestamp="2026-11-18T00:00:00Z")
    assert locks_apart(cluster("a"), [msgspec.structs.replace(other, metadata=going)]) == []
