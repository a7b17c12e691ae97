"""One operator of several namespaces sees the objects of one database in all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES, FoundationDBBackup
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.backups import beside
from stateward.fdb.backups import caches as waking
from stateward.fdb.backups.caches import (
    BackupCaches,
    Everywhere,
    backups_by_cluster,
    restores_by_cluster,
)
from stateward.fdb.build.backup_agents import WHOLE_DEPLOYMENTS
from stateward.kube.meta import ObjectKey
from stateward.runtime.cache import Cache

ONE = "shop:a@10.0.0.1:4501"


def cluster(namespace: str, string: str) -> FoundationDBCluster:
    metadata = {"name": "shop", "namespace": namespace, "uid": namespace}
    status = {"connectionString": string}
    document = {"metadata": metadata, "spec": {"version": "7.3.63"}, "status": status}
    return msgspec.convert(document, FoundationDBCluster)


def backup(namespace: str, **over: Any) -> FoundationDBBackup:
    born = over.pop("born", "2")
    metadata = {
        "name": "nightly", "namespace": namespace, "uid": namespace, "creationTimestamp": born,
        "resourceVersion": "1",
    }  # fmt: skip
    spec = {"version": "7.3.63", "clusterName": "shop", "fileURL": "file:///b", **over}
    return msgspec.convert({"metadata": metadata, "spec": spec}, FoundationDBBackup)


def rooms(*some: tuple[FoundationDBCluster, FoundationDBBackup]) -> list[BackupCaches]:
    """Return what is watched in each namespace by itself."""
    everywhere, found = Everywhere(), []
    for one, it in some:
        clusters, backups = Cache(CLUSTERS), Cache(BACKUPS, (backups_by_cluster(),))
        restores = Cache(RESTORES, (restores_by_cluster(),))
        clusters.put(one)
        backups.put(it)
        watched: Any = [SimpleNamespace(cache=it) for it in (clusters, backups, restores)]
        everywhere.clusters.append(watched[0])
        everywhere.backups.append(watched[1])
        everywhere.restores.append(watched[2])
        others = clusters, Cache(WHOLE_DEPLOYMENTS)
        found.append(BackupCaches(backups, restores, *others, everywhere=everywhere))
    return found


@pytest.mark.parametrize(("string", "are_one"), [(ONE, True), ("shop:b@10.0.0.2:4501", False)])
def test_who_has_the_tag_and_who_asks_for_a_pause_is_known_everywhere(
    string: str, *, are_one: bool
) -> None:
    older, mine = backup("a", backupState="Paused", born="1"), backup("b")
    _, here = rooms((cluster("a", ONE), older), (cluster("b", string), mine))
    found = list(beside.neighbours(here, mine))
    assert (older in found) is are_one
    assert (beside.holder(mine, found) == "nightly") is are_one


def test_nobody_is_woken_who_is_looked_after_in_another_namespace() -> None:
    first, second = backup("a"), backup("b")
    _, here = rooms((cluster("a", ONE), first), (cluster("b", ONE), second))
    assert list(waking.neighbours(here)(second)) == [ObjectKey("b", "nightly")]
