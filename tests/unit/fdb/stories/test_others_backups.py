"""Stories of backups of which another operator, or a person, has a say as well."""

from __future__ import annotations

from functools import partial

from fakes.fdb_backups import PLACE, BackupStory, operator, played


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


def test_of_what_another_operator_looks_after_nothing_is_told_whatever_its_spec() -> None:
    async def story(it: BackupStory) -> None:
        it.stop()
        it.start(partial(operator, selector="place=b"))
        it.back_up(tag="a tag")
        it.restore(fileURL="file:///a/../b")
        await it.rest(120)
        assert "status" not in it.backup()
        assert "status" not in it.restored()
        it.back_up("nobodys", clusterName="none")
        await it.until("told", lambda: it.said(it.backup("nobodys"), "Ready")[1] != "")
        words = {one["message"] for one in it.backup("nobodys")["status"]["conditions"]}
        assert "there is no FoundationDBCluster none" in words

    played(story)
