"""What takes long: asked for again wherever it was not done, and never for another place."""

from __future__ import annotations

from typing import Any

from stateward.core.version import Version
from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.backups.chores import Chore, ChoreReconciler, Chores
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey

KEY = ObjectKey("default", "nightly")
ASKED = Chore(KEY, "u", "file:///b/backup-1", Version(7, 3, 63))
ELSEWHERE = Chore(KEY, "u", "file:///b/backup-2", Version(7, 3, 63))


class World:
    """A Kubernetes with one object, and files."""

    def __init__(self) -> None:
        self.policy = "cleanup"
        self.deleted: list[str] = []
        self.chores = Chores()
        self.it = ChoreReconciler(self.chores, self, self, self, self)  # type: ignore[arg-type]

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


async def test_what_was_done_at_one_place_is_not_done_at_another() -> None:
    it = World()
    it.chores.ask(ASKED)
    await it.it.reconcile(KEY)
    assert it.chores.ask(ELSEWHERE) is None
    await it.it.reconcile(KEY)
    assert it.deleted == [ASKED.url, ELSEWHERE.url]
