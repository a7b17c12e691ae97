"""Whose backups are where one shall lie: of this database, of others, and who comes first."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.backups import beside
from stateward.fdb.backups.caches import BackupCaches, cluster_of

HERE = "blobstore://k@store:443/n?bucket=fdb-backups"


def backup(name: str, *, born: str = "1", namespace: str = "a", **over: Any) -> FoundationDBBackup:
    store = {"accountName": "k@store", "backupName": over.pop("place", "n")}
    status: dict[str, Any] = {"clusterUID": over.pop("home", "c1")}
    if "url" in over:
        status["backupDetails"] = {"url": over.pop("url")}
    if "last" in over:
        status["schedule"] = {"last": over.pop("last")}
    document = {
        "metadata": {
            "name": name, "namespace": namespace, "uid": name, "creationTimestamp": born,
        },
        "spec": {
            "version": "7.3.63", "clusterName": "shop", "blobStoreConfiguration": store, **over,
        },
        "status": status,
    }  # fmt: skip
    return msgspec.convert(document, FoundationDBBackup)


class Caches:
    """Backups; clusters of one namespace are one database."""

    def __init__(self, *some: FoundationDBBackup) -> None:
        self.backups = list(some)

    def every_backup(self) -> Iterator[FoundationDBBackup]:
        yield from self.backups

    def cluster(self, _: Any) -> Any:
        return SimpleNamespace(metadata=SimpleNamespace(uid="c1"))

    def alike(self, cluster: Any) -> list[Any]:
        return [cluster]

    def backups_of(self, cluster: Any) -> list[FoundationDBBackup]:
        return [it for it in self.backups if cluster_of(it) == cluster]


MINE = backup("mine", born="2")
#: One for each day lies by itself: of the last it is on record where.
EACH = {"schedule": "@daily", "backupMode": "oneTime", "place": "n/each"}


@pytest.mark.parametrize(
    ("mine", "other", "found"),
    [
        (MINE, backup("o", namespace="b", url=HERE, born="3"), ("b/o",)),
        (MINE, backup("o", namespace="b", born="1"), ("b/o",)),
        (MINE, backup("o", namespace="b", born="3"), ()),
        (MINE, backup("o", namespace="b", born="1", place="m"), ()),
        (MINE, backup("o", namespace="b", born="1", backupType="unmanaged"), ()),
        (MINE, backup("o", namespace="b", **EACH), ()),
        (MINE, backup("o", namespace="b", last="2026-01-01T00:00:00Z", **EACH), ("b/o",)),
        (backup("mine", born="2", url=HERE), backup("o", namespace="b", born="1"), ()),
        (MINE, backup("o", url=HERE, born="1", tag="o"), ()),  # of the same database
    ],
)
def test_strangers(mine: FoundationDBBackup, other: FoundationDBBackup, found: object) -> None:
    caches: BackupCaches = Caches(mine, other)  # type: ignore[assignment]
    assert beside.strangers(caches, mine, HERE) == found


def test_mates() -> None:
    other = backup("o", url=HERE, tag="o")
    caches: BackupCaches = Caches(MINE, other)  # type: ignore[assignment]
    assert beside.mates(caches, MINE, HERE) == ("o",)


def test_what_is_told_of_a_database_of_before_is_none_of_this_one() -> None:
    other = backup("o", url=HERE, tag="o", home="c0")
    caches: BackupCaches = Caches(MINE, other)  # type: ignore[assignment]
    assert beside.mates(caches, MINE, HERE) == ()
