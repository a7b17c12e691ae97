"""Stories of backups that somebody else moves: another operator of the database, or a person."""

from __future__ import annotations

from fakes.fdb_backups import PLACE, BackupStory, played


def test_one_that_somebody_moves_is_let_alone_and_is_begun_here_when_that_ends() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        await it.by_hand("modify", "-t", "default", "-d", "file:///theirs/backup-1")
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "MovedByOthers")
        assert it.said(it.backup(), "Degraded") == ("True", "MovedByOthers")
        assert it.said(it.backup(), "Restorable") == ("False", "MovedByOthers")
        it.edit(snapshotPeriodSeconds=40)
        await it.rest(200)
        assert it.typed("fdbbackup", "modify") == []
        await it.by_hand("abort", "-t", "default")
        await it.backed_up()
        assert len(it.typed("fdbbackup", "start")) == 2
        it.edit(fileURL="file:///elsewhere")
        await it.until("moved", lambda: it.details().get("url", "").startswith("file:///elsewhere"))
        it.edit(fileURL=PLACE)
        await it.until("and back", lambda: it.details().get("url", "").startswith(PLACE))
        await it.backed_up()

    played(story)
