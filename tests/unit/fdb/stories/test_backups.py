"""Stories of backups: begun, paused, changed, ended, shared, deleted; with agents that die."""

from __future__ import annotations

from fakes.fdb_backups import BackupStory, played


def test_a_backup_is_begun_and_becomes_restorable_and_then_nothing_is_asked_for_again():
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.backed_up()
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled")
        assert it.said(it.backup(), "Restorable") == ("True", "Restorable")
        await it.rest(300)
        assert len(it.typed("fdbbackup", "start")) == 1
        assert it.backup()["status"]["agentCount"] == 2

    played(story)
