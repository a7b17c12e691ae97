"""Operators of backups that die at every call: nothing is begun twice, and nothing is left over."""

from __future__ import annotations

import pytest

from fakes.fdb_backups import BackupStory, played
from fakes.fdb_crashes import Crashes, crashed
from fakes.fdb_stories import KEYS
from stateward.fdb.api.backups.kinds import RESTORES
from unit.fdb.stories.test_drills import is_over, is_proven, left

pytestmark = pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="copies processes")


def test_a_backup_is_begun_changed_and_cleaned_up() -> None:
    async def story(it: BackupStory, crashes: Crashes) -> None:
        crashes.begin(it)
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        folder = it.details()["url"].removeprefix("file://")
        it.edit(backupState="Paused", snapshotPeriodSeconds=40)
        await it.until("as asked", it.is_backed_up)
        it.drop()
        await it.until("gone", lambda: not it.backup())
        assert it.it.files.list(folder) == []
        assert len(it.typed("fdbbackup", "start")) == 1
        assert len(it.typed("fdbbackup", "abort")) == 1
        assert not it.database.backups.paused, "nobody asks for a pause any more"

    assert crashed(story, Crashes(), played) > 10


def test_a_moment_of_a_schedule_begins_one_backup() -> None:
    async def story(it: BackupStory, crashes: Crashes) -> None:
        it.back_up(backupMode="oneTime", schedule="*/20 * * * *")
        await it.until("armed", lambda: it.backup().get("status", {}).get("schedule") is not None)
        await it.rest(1100 - it.it.world.clock.now() % 1200)
        crashes.begin(it)
        await it.until("whole", lambda: it.is_backed_up() and not it.details()["running"], 400)
        assert len(it.typed("fdbbackup", "start")) == 1

    assert crashed(story, Crashes(), played) > 5


def test_a_restore_is_begun_once() -> None:
    async def story(it: BackupStory, crashes: Crashes) -> None:
        it.back_up()
        await it.backed_up()
        await it.rest(60)
        details = it.details()
        version = details["latestRestorable"]["version"]
        it.empty()
        crashes.begin(it)
        it.restore(fileURL=details["url"], backupVersion=version)
        await it.until("over", lambda: it.said(it.restored(), "Completed")[0] == "True")
        assert it.keys_there() == KEYS
        assert len(it.typed("fdbrestore", "start")) == 1
        await it.until("free to go", lambda: "finalizers" not in it.restored()["metadata"])
        it.drop("again", RESTORES)
        await it.until("gone", lambda: not it.restored())
        assert it.typed("fdbrestore", "abort") == []

    assert crashed(story, Crashes(), played) > 5


def test_keys_are_cleared_once_and_what_is_restored_stays() -> None:
    async def story(it: BackupStory, crashes: Crashes) -> None:
        it.back_up()
        await it.backed_up()
        await it.rest(60)
        details = it.details()
        version = details["latestRestorable"]["version"]
        it.database.store.write([(b"later", b"1")])
        crashes.begin(it)
        it.restore(fileURL=details["url"], backupVersion=version, destinationPolicy="clear")
        await it.until("over", lambda: it.said(it.restored(), "Completed")[0] == "True")
        assert it.keys_there() == KEYS
        await it.until("free to go", lambda: "finalizers" not in it.restored()["metadata"])

    assert crashed(story, Crashes(), played) > 5


def test_a_restore_that_is_deleted_ends_whoever_dies() -> None:
    async def story(it: BackupStory, crashes: Crashes) -> None:
        it.back_up()
        await it.backed_up()
        await it.rest(60)
        details = it.details()
        version = details["latestRestorable"]["version"]
        it.edit(backupState="Paused")
        await it.until("paused", lambda: it.said(it.backup(), "Paused")[0] == "True")
        it.empty()
        it.restore(fileURL=details["url"], backupVersion=version)
        crashes.begin(it)
        await it.until("goes on", lambda: it.restored().get("status", {}).get("running") is True)
        it.drop("again", RESTORES)
        await it.until("gone", lambda: not it.restored())
        (one,) = it.database.backups.restores.values()
        assert not one.stage.is_active
        assert len(it.typed("fdbrestore", "start")) == 1
        it.write()

    assert crashed(story, Crashes(), played) > 5


def test_a_drill_restores_once_and_leaves_nothing_whoever_dies() -> None:
    async def story(it: BackupStory, crashes: Crashes) -> None:
        it.back_up(drill={"schedule": "*/20 * * * *", "storage": "1G"})
        await it.backed_up()
        await it.rest(1190 - it.it.world.clock.now() % 1200)
        crashes.begin(it)
        await it.until("over", lambda: is_over(it), 900)
        assert is_proven(it)
        assert left(it) == []
        assert len(it.typed("fdbrestore", "start")) == 1

    # Most calls are those of the throw-away cluster, which other stories are about.
    assert crashed(story, Crashes(reads=60, befores=12, writes_too=5), played) > 5
