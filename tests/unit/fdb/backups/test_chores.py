"""What takes long: asked for again wherever it was not done, and never for another place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakes.hand_clock import HandClock
from stateward.core.outcome import Retry
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
from stateward.fdb.backups.steps.strange import Strange
from stateward.fdb.build.backup_agents import WHOLE_DEPLOYMENTS
from stateward.kube.client import Malformed
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.runtime.cache import Cache
from unit.fdb.decide.test_backing import view

KEY = ObjectKey("default", "nightly")
ASKED = Chore(KEY, "u", "file:///b/backup-1", Version(7, 3, 63))
ELSEWHERE = Chore(KEY, "u", "file:///b/backup-2", Version(7, 3, 63))
#: Whoever is asked where nobody must be.
NOBODY: Any = None
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
        self.watch: Callable[[], None] = lambda: None
        self.chores = Chores()
        self.restores = Cache(RESTORES, (restores_by_cluster(),))
        others = Cache(BACKUPS, (backups_by_cluster(),)), self.restores
        caches = self.caches = BackupCaches(*others, Cache(CLUSTERS), Cache(WHOLE_DEPLOYMENTS))
        self.it = ChoreReconciler(self.chores, self, self, self, self, caches=caches)  # type: ignore[arg-type]

    async def get(self, *_: Any) -> FoundationDBBackup:
        self.watch()
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
        self.watch()
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


async def test_nothing_is_begun_in_a_store_while_files_there_are_being_deleted() -> None:
    chores = Chores()
    chore = Chore(KEY, "u", "blobstore://key@store:443/n?bucket=b", Version(7, 3, 63))
    strange = Strange(HandClock(), chores)
    place, beside = "blobstore://other@store:443/n/more?bucket=b", "file:///b"
    it = view("-", mates=("nightly",))  # so that nobody has to look whose it is
    with chores.deleting(chore):
        found = await strange.at(it, NOBODY, place)
        assert isinstance(found, Retry)
        assert found.reason == "LeftoverLeaving"
        assert await strange.at(it, NOBODY, beside) is None
    assert await strange.at(it, NOBODY, place) is None


async def test_files_are_being_deleted_from_before_it_is_judged_until_it_is_over() -> None:
    it = World()
    seen: list[object] = []
    it.watch = lambda: seen.append(it.chores.empties(ASKED.url))
    it.chores.ask(ASKED)
    await it.it.reconcile(KEY)
    assert seen == [KEY, KEY]
    assert it.chores.empties(ASKED.url) is None


def test_files_are_being_deleted_until_the_last_who_deletes_them_is_through() -> None:
    chores = Chores()
    with chores.deleting(ASKED):
        with chores.deleting(ASKED):
            pass
        assert chores.empties(ASKED.url) == KEY
    assert chores.empties(ASKED.url) is None


async def test_nothing_is_deleted_while_somebody_who_may_need_it_cannot_be_read() -> None:
    it = World()
    it.chores.ask(ASKED)
    odd = Malformed(READER.metadata, "spec: Expected object, got str")
    it.restores.put_malformed(odd)
    await it.it.reconcile(KEY)
    assert it.deleted == []
    assert "default/again must be readable" in it.caches.unseen()
    it.restores.remove(odd.metadata.key)
    it.chores.ask(ASKED)
    await it.it.reconcile(KEY)
    assert it.deleted == [ASKED.url]
