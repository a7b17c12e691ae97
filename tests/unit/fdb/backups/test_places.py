"""Whose backups are where one shall lie: of this database, of others, and who comes first."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.backups import beside
from stateward.fdb.backups.caches import BackupCaches, cluster_of

HERE = "blobstore://k@store:443/n?bucket=fdb-backups"


def backup(name: str, *, born: str = "1", namespace: str = "a", **over: Any) -> FoundationDBBackup:
    store = {"accountName": "k@store", "backupName": over.pop("place", "n")}
    status = {"backupDetails": {"url": over.pop("url")}} if "url" in over else {}
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

    def alike(self, cluster: Any) -> list[Any]:
        return [cluster]

    def backups_of(self, cluster: Any) -> list[FoundationDBBackup]:
        return [it for it in self.backups if cluster_of(it) == cluster]


MINE = backup("mine", born="2")


@pytest.mark.parametrize(
    ("mine", "other", "found"),
    [
        (MINE, backup("o", namespace="b", url=HERE, born="3"), ("b/o",)),
        (MINE, backup("o", namespace="b", born="1"), ("b/o",)),
        (MINE, backup("o", namespace="b", born="3"), ()),
        (MINE, backup("o", namespace="b", born="1", place="m"), ()),
        (MINE, backup("o", namespace="b", born="1", backupType="unmanaged"), ()),
        (MINE, backup("o", namespace="b", schedule="@daily", backupMode="oneTime"), ()),
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
