"""What takes long: asked for again wherever it was not done, and never for another place."""

from __future__ import annotations

from typing import Any

from stateward.core.version import Version
from stateward.fdb.api.backups.kinds import (
    BACKUPS,
    RESTORES,
    FoundationDBBackup,
    FoundationDBRestore,
)
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.backups.caches import BackupCaches, backups_by_cluster, restores_by_cluster
from stateward.fdb.backups.cleaning.chores import Chore, ChoreReconciler, Chores
from stateward.fdb.build.backup_agents import WHOLE_DEPLOYMENTS
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.runtime.cache import Cache

KEY = ObjectKey("default", "nightly")
ASKED = Chore(KEY, "u", "file:///b/backup-1", Version(7, 3, 63))
ELSEWHERE = Chore(KEY, "u", "file:///b/backup-2", Version(7, 3, 63))
READER = decode(
    b"""{"metadata": {"name": "again", "namespace": "default", "uid": "r"},
    "spec": {"destinationClusterName": "shop", "backupName": "nightly"},
    "status": {"begun": {"clusterName": "shop", "clusterUID": "c"}, "running": true}}""",
    FoundationDBRestore,
)


class World:
    """A Kubernetes with one object, and files."""

    def __init__(self) -> None:
        self.policy = "cleanup"
        self.deleted: list[str] = []
        self.chores = Chores()
        self.restores = Cache(RESTORES, (restores_by_cluster(),))
        others = Cache(BACKUPS, (backups_by_cluster(),)), self.restores
        caches = BackupCaches(*others, Cache(CLUSTERS), Cache(WHOLE_DEPLOYMENTS))
        self.it = ChoreReconciler(self.chores, self, self, self, self, caches=caches)  # type: ignore[arg-type]

    async def get(self, *_: Any) -> FoundationDBBackup:
        return decode(
            f"""{{"metadata": {{"name": "nightly", "namespace": "default", "uid": "u",
            "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            "spec": {{"version": "7.3.63", "clusterName": "shop",
            "deletionPolicy": "{self.policy}"}}}}""".encode(),
            FoundationDBBackup,
        )

    def check(self) -> None:
        """Lead."""

    def files(self, _: Version) -> World:
        return self

    async def delete(self, url: str) -> None:
        self.deleted.append(url)


async def test_who_changes_a_policy_and_changes_it_back_has_files_deleted() -> None:
    it = World()
    assert it.chores.ask(ASKED) is None
    it.policy = "stop"
    await it.it.reconcile(KEY)
    assert it.deleted == []
    it.policy = "cleanup"
    assert it.chores.ask(ASKED) is None, "nothing was deleted"
    await it.it.reconcile(KEY)
    assert it.chores.ask(ASKED) == ""
    assert it.deleted == [ASKED.url]


async def test_who_waited_for_a_turn_deletes_nothing_that_somebody_reads_by_then() -> None:
    it = World()
    it.chores.ask(ASKED)
    it.restores.put(READER)
    await it.it.reconcile(KEY)
    assert it.deleted == []
    assert it.chores.ask(ASKED) is None, "nothing was deleted"
    it.chores.withdraw(KEY)
    it.restores.remove(READER.metadata.key)
    await it.it.reconcile(KEY)
    assert it.deleted == [], "nobody asks for it any more"
    it.chores.ask(ASKED)
    await it.it.reconcile(KEY)
    assert it.deleted == [ASKED.url]


async def test_what_was_done_at_one_place_is_not_done_at_another() -> None:
    it = World()
    it.chores.ask(ASKED)
    await it.it.reconcile(KEY)
    assert it.chores.ask(ELSEWHERE) is None
    await it.it.reconcile(KEY)
    assert it.deleted == [ASKED.url, ELSEWHERE.url]
