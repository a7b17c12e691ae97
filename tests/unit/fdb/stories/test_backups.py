"""Stories of backups: begun, paused, changed, ended, shared, deleted; with agents that die."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_backups import BackupStory, played
from fakes.fdb_stories import KEYS
from stateward.emulate.fdb.backups import containers
from stateward.emulate.fdb.backups.cli import describing
from stateward.emulate.fdb.backups.files import Unusable
from stateward.emulate.fdb.keys import A_SECOND
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.decide.backups import retaining
from stateward.kube.resources import DEPLOYMENTS


def begun(it: BackupStory) -> int:
    return len(it.typed("fdbbackup", "start"))


def test_a_backup_becomes_restorable_and_then_nothing_is_asked_for_again() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.backed_up()
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled")
        assert it.said(it.backup(), "Restorable") == ("True", "Restorable")
        assert it.backup()["status"]["agentCount"] == 2
        await it.rest(300)
        assert begun(it) == 1

    played(story)


def test_what_stands_still_is_not_written_about() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(backupState="Paused")
        await it.until("paused", lambda: it.details().get("paused") is True)
        await it.at_rest()
        it.edit(backupState="Stopped")
        await it.until("told", lambda: it.said(it.backup(), "Progressing")[1] == "BackupEnding")
        await it.at_rest()

    played(story)


def test_a_pause_is_for_all_agents_and_ends_again() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.backed_up()
        it.edit(backupState="Paused")
        await it.until("paused", lambda: it.said(it.backup(), "Paused") == ("True", "Paused"))
        await it.until("as asked", it.is_backed_up)
        it.edit(backupState="Running")
        await it.until("goes on", lambda: it.said(it.backup(), "Paused") == ("False", "NotPaused"))
        assert [line.split()[1] for line in it.it.lines if line.split()[1] != "status"] == [
            *("start", "pause", "resume"),
        ]

    played(story)


def test_of_two_that_disagree_who_pauses_has_it_and_both_say_so() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        it.back_up("hourly", tag="hourly")
        await it.backed_up()
        await it.backed_up("hourly")
        it.edit("hourly", backupState="Paused")
        await it.until("told", lambda: it.said(it.backup(), "Paused")[1] == "PausedByOthers")
        hourly = it.backup("hourly")
        assert it.said(hourly, "Paused") == ("True", "PausedForOthers")
        assert it.said(it.backup(), "Degraded") == ("True", "BackupPaused")
        await it.rest(200)
        assert len(it.typed("fdbbackup", "pause")) == 1
        assert it.typed("fdbbackup", "resume") == []
        it.drop("hourly")
        await it.until("resumed", lambda: it.said(it.backup(), "Paused")[1] == "NotPaused")

    played(story)


def test_period_and_place_of_one_that_goes_on_are_changed_and_no_folder_is_shared() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.backed_up()
        it.edit(snapshotPeriodSeconds=40)
        await it.until("slower", lambda: it.details().get("snapshotTime") == 40)
        it.edit(fileURL="file:///elsewhere")
        await it.until("there", lambda: it.details()["url"].startswith("file:///elsewhere/backup-"))
        assert it.said(it.backup(), "Restorable") == ("False", "NotRestorable")
        await it.backed_up()
        assert it.said(it.backup(), "Restorable") == ("True", "Restorable")
        assert "moved" not in it.details()
        assert begun(it) == 1
        assert len(it.typed("fdbbackup", "modify")) == 2
        await it.rest(200)
        assert len(it.typed("fdbbackup", "modify")) == 2

    played(story)


def test_one_that_is_stopped_ends_and_one_that_shall_run_again_is_begun_anew() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.backed_up()
        it.edit(backupState="Stopped")
        await it.until("over", lambda: it.details().get("running") is False)
        await it.until("as asked", it.is_backed_up)
        await it.rest(200)
        assert begun(it) == 1
        it.edit(backupState="Running")
        await it.until("runs", lambda: it.details().get("running") is True)
        await it.backed_up()
        assert begun(it) == 2

    played(story)


def test_one_that_somebody_aborts_is_begun_anew() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.backed_up()
        first = it.details()["uid"]
        await it.by_hand("abort", "-t", "default")
        await it.until("another", lambda: it.details()["uid"] != first)
        await it.backed_up()

    played(story)


def test_one_that_is_made_once_is_made_once_whatever_its_tag_had_before() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up("before", backupMode="oneTime")
        await it.until("whole", lambda: it.is_backed_up("before"))
        it.drop("before")
        await it.until("gone", lambda: not it.backup("before"))
        it.back_up(backupMode="oneTime")
        await it.until("whole", lambda: it.is_backed_up() and not it.details()["running"])
        await it.rest(300)
        assert begun(it) == 2
        assert all(" -z" not in line for line in it.typed("fdbbackup", "start"))

    played(story)


def test_agents_that_die_in_the_middle_cost_nothing_but_time() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        await it.until("begun", lambda: begun(it) == 1)
        for _ in range(3):
            for name in list(it.it.agents):
                it.it.hurt(name)
            await it.rest(3)
        await it.backed_up()
        it.it.idle = True
        await it.until("told", lambda: not it.it.agents)
        it.edit(agentCount=0)
        await it.until("no deployment", lambda: not it.it.world.api.list(DEPLOYMENTS).items)
        it.it.idle = False
        it.edit(agentCount=3)
        await it.until("three", lambda: it.backup()["status"].get("agentCount") == 3)
        await it.backed_up()

    played(story)


def test_two_tags_are_two_backups_and_the_older_of_one_tag_keeps_it() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up()
        it.back_up("other", tag="other")
        await it.backed_up()
        await it.backed_up("other")
        assert it.details()["url"] != it.details("other")["url"]
        it.back_up("late", backupState="Stopped", deletionPolicy="cleanup")
        await it.until("told", lambda: it.said(it.backup("late"), "Ready")[1] == "TagTaken")
        assert it.details()["running"] is True
        it.drop("late")
        await it.until("gone", lambda: not it.backup("late"))
        await it.rest(60)
        assert it.details()["running"] is True
        assert it.typed("fdbbackup", "abort") == it.typed("fdbbackup", "delete") == []

    played(story)


@pytest.mark.parametrize(
    ("policy", "runs", "files"),
    [("noop", True, True), ("stop", False, True), ("cleanup", False, False)],
)
def test_what_becomes_of_a_backup_whose_object_is_deleted(
    policy: str, runs: bool, files: bool
) -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy=policy)
        await it.backed_up()
        folder = it.details()["url"].removeprefix("file://")
        it.drop()
        await it.until("gone", lambda: not it.backup())
        state = it.database.backups
        await it.rest(30)
        assert any(one.stage.is_active for one in state.backups.values()) is runs
        assert bool(it.it.files.list(folder)) is files

    played(story)


def test_files_that_take_long_to_delete_hold_nobody_up_and_are_deleted_whoever_dies() -> None:
    async def story(it: BackupStory) -> None:
        it.it.backing.deleting = 400.0
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        it.drop()
        await it.until("at it", lambda: it.typed("fdbbackup", "delete") != [])
        it.back_up("other", tag="other")
        await it.until("the other", lambda: it.is_backed_up("other"), within=200)
        assert it.backup()["status"]["doing"] == "the files of the backup are being deleted"
        it.it.crash(it.slots[0], rest=5)
        await it.until("gone", lambda: not it.backup())
        assert len(it.typed("fdbbackup", "delete")) == 2

    played(story)


@pytest.mark.parametrize("policy", ["stop", "cleanup"])
def test_an_object_whose_cluster_is_gone_goes_too(policy: str) -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy=policy)
        await it.backed_up()
        folder = it.details()["url"].removeprefix("file://")
        it.delete(CLUSTERS, "shop")
        await it.until("told", lambda: it.said(it.backup(), "Degraded")[1] == "ClusterMissing")
        it.drop()
        await it.until("gone", lambda: not it.backup(), within=600)
        assert bool(it.it.files.list(folder)) is (policy == "stop")

    played(story)


def test_one_is_begun_at_each_moment_of_a_schedule_and_one_for_all_that_passed_unseen() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(backupMode="oneTime", schedule="*/10 * * * *")
        await it.until("waits", lambda: it.backup().get("status", {}).get("schedule") is not None)
        assert begun(it) == 0
        await it.until("first", lambda: it.is_backed_up() and not it.details()["running"], 900)
        first = it.details()["url"]
        assert begun(it) == 1
        await it.until("second", lambda: begun(it) == 2, 900)
        await it.until("another", lambda: it.details()["url"] != first)
        await it.until("whole", lambda: it.is_backed_up() and not it.details()["running"])
        told = it.backup()["status"]["schedule"]
        assert told["last"] < told["next"]
        assert told["lastURL"] == it.details()["url"]
        assert it.backup()["status"]["doing"] == f"waits until {told['next']}"
        it.stop()
        await it.rest(3000)
        it.slots = it.it.operate(it.assembly)
        await it.until("caught up", lambda: begun(it) == 3, 100)
        await it.rest(120)
        assert begun(it) == 3

    played(story)


def test_a_moment_at_which_the_one_before_goes_on_is_left_out_and_that_is_told() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(backupMode="oneTime", schedule="*/10 * * * *")
        it.it.idle = True
        await it.until("begun", lambda: begun(it) == 1, 900)
        await it.until("told", lambda: it.backup()["status"]["schedule"].get("skipped"), 900)
        await it.rest(60)
        assert begun(it) == 1
        it.it.idle = False
        await it.until("the next", lambda: begun(it) == 2, 900)

    played(story)


def test_what_is_too_old_is_deleted_and_the_rest_can_be_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(describing, "_DAY", 60 * A_SECOND)  # of ten days that are ten minutes
    monkeypatch.setattr(retaining, "EVERY", 200.0)

    async def story(it: BackupStory) -> None:
        it.back_up(snapshotPeriodSeconds=120, retention={"days": 10})
        await it.backed_up()
        await it.rest(500)
        assert it.typed("fdbbackup", "expire") == []
        assert it.backup()["status"]["retention"]["tried"]
        await it.until("expired", lambda: len(it.typed("fdbbackup", "expire")) > 2, 3000)
        assert len(it.typed("fdbbackup", "describe")) < 15
        told = it.backup()["status"]["retention"]
        assert told["lastExpired"]
        assert "trouble" not in told
        assert not any(line.endswith(" -f") for line in it.typed("fdbbackup", "expire"))
        folder = it.details()["url"].removeprefix("file://")
        left = containers.contents(it.it.files, folder)
        assert left.restorable is not None
        assert left.restorable[0] == told["restorableAfter"]
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled")
        it.edit(retention=None)
        many = len(it.typed("fdbbackup", "describe"))
        await it.rest(600)
        assert len(it.typed("fdbbackup", "describe")) <= many + 1

    played(story)


def test_what_another_backup_shares_or_a_restore_reads_is_not_looked_at_for_what_is_too_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retaining, "EVERY", 200.0)

    async def story(it: BackupStory) -> None:
        store = {"accountName": "key@store", "backupName": "n"}
        over = {"fileURL": None, "blobStoreConfiguration": store}
        it.back_up(**over)
        await it.backed_up()
        it.back_up("other", tag="other", **over)
        await it.backed_up("other")
        it.edit(retention={"days": 1})
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "BackupShared")
        looked = len(it.typed("fdbbackup", "describe"))
        await it.rest(600)
        assert len(it.typed("fdbbackup", "describe")) == looked == 1  # before it was begun
        assert it.typed("fdbbackup", "expire") == []
        it.it.idle = True
        it.empty()
        it.restore(backupName="nightly")
        await it.until("begun", lambda: "queued" in str(it.restored().get("status")))
        it.drop("other")
        await it.until("gone", lambda: not it.backup("other"))
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "BackupBeingRestored")
        assert len(it.typed("fdbbackup", "describe")) == looked
        it.it.idle = False
        await it.until("restored", lambda: it.said(it.restored(), "Completed")[0] == "True")
        await it.until("looked", lambda: len(it.typed("fdbbackup", "describe")) > looked)

    played(story)


def test_what_could_not_be_deleted_is_told() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(retention={"days": 1})
        await it.until("looked", lambda: it.typed("fdbbackup", "describe") != [])
        await it.until("told", lambda: "tried" in it.backup()["status"].get("retention", {}))
        told = {"retention": {"trouble": "no such bucket"}}
        it.tell(BACKUPS, "nightly", told)
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "BackupNotExpired")
        await it.rest(3700)
        await it.until("mended", it.is_backed_up)
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled")

    played(story)


def test_nothing_is_assumed_of_a_database_that_does_not_answer() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="stop")
        await it.backed_up()
        before = it.details()
        it.it.unreachable[""] += 1
        await it.until("told", lambda: it.said(it.backup(), "Restorable")[0] == "Unknown", 900)
        assert it.said(it.backup(), "Ready") == ("Unknown", "BackupUnknown")
        assert {**it.details(), "latestRestorable": 0} == {**before, "latestRestorable": 0}
        it.drop()
        await it.rest(300)
        assert it.backup(), "nobody knows whether it still goes on"
        it.it.unreachable[""] -= 1
        await it.until("gone", lambda: not it.backup())
        assert len(it.typed("fdbbackup", "abort")) == 1

    played(story)


@pytest.mark.parametrize(
    ("over", "word"),
    [
        ({"fileURL": "file:///a/../b"}, "spec.fileURL"),
        ({"fileURL": None}, "must say where"),
        ({"tag": "a tag"}, "spec.tag"),
        ({"schedule": "0 3 31 2 *", "backupMode": "oneTime"}, "spec.schedule"),
        ({"schedule": "@every 30s", "backupMode": "oneTime"}, "spec.schedule"),
        ({"schedule": "61 * * * *", "backupMode": "oneTime"}, "spec.schedule: unparseable"),
        ({"customParameters": ["--knob_a=1"]}, "customParameters[0]"),
    ],
)
def test_what_cannot_be_honoured_is_told(over: dict[str, Any], word: str) -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**over)
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "SpecInvalid")
        (blocker,) = it.backup()["status"]["blockers"]
        assert word in blocker["message"]
        assert "spec.schedule: spec" not in blocker["message"]
        assert it.it.lines == []

    played(story)


def test_one_that_cannot_write_says_so_and_goes_on_when_it_can() -> None:
    async def story(it: BackupStory) -> None:
        def refuse(path: str, raw: bytes) -> None:
            raise Unusable(f"Permission denied ({path})")

        write, it.it.files.write = it.it.files.write, refuse  # type: ignore[method-assign]
        it.back_up()
        await it.until(
            "told", lambda: it.said(it.backup(), "Degraded") == ("True", "WritesFail"), 200
        )
        told = it.backup()["status"]["conditions"]
        assert any("Permission denied" in one["message"] for one in told)
        assert it.said(it.backup(), "Restorable") == ("False", "NotRestorable")
        it.it.files.write = write  # type: ignore[method-assign]
        await it.backed_up()
        await it.until("well", lambda: it.said(it.backup(), "Degraded")[1] == "AllWell")

    played(story)


def test_one_whose_spec_is_spoilt_says_what_keeps_it_from_going() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        it.edit(version="latest")
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "SpecInvalid")
        it.delete(CLUSTERS, "shop")
        await it.rest(60)
        it.drop()
        await it.rest(120)
        (blocker,) = it.backup()["status"]["blockers"]
        assert "spec.version must be" in blocker["message"]
        it.edit(version="7.3.63")
        await it.until("gone", lambda: not it.backup())
        assert len(it.typed("fdbbackup", "delete")) == 1

    played(story)


def test_one_that_was_begun_by_hand_with_a_secret_is_taken_over_and_deleted_without_it() -> None:
    async def story(it: BackupStory) -> None:
        place = "store:443/n?bucket=fdb-backups"
        words = ("-d", f"blobstore://key:secret@{place}", "-s", "20", "-z")
        await it.by_hand("start", "-t", "default", *words)
        store = {"accountName": "key@store", "backupName": "n"}
        it.back_up(fileURL=None, blobStoreConfiguration=store, deletionPolicy="cleanup")
        await it.backed_up()
        assert "secret" not in str(it.backup())
        it.drop()
        await it.until("gone", lambda: not it.backup())
        assert it.typed("fdbbackup", "delete") == [f"fdbbackup delete -d blobstore://key@{place}"]

    played(story)


def test_files_are_not_deleted_while_a_restore_reads_them() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        known = it.details()
        it.back_up("other", tag="other", backupState="Paused")
        await it.until("paused", lambda: it.said(it.backup("other"), "Paused")[0] == "True")
        it.empty()
        version = known["latestRestorable"]["version"]
        it.restore(fileURL=known["url"], backupVersion=version)
        await it.until("begun", lambda: "queued" in str(it.restored().get("status")))
        it.drop()
        await it.until(
            "waits", lambda: it.said(it.backup(), "Progressing")[1] == "BackupBeingRestored"
        )
        it.edit("other", backupState="Running")
        await it.until("restored", lambda: it.said(it.restored(), "Completed")[0] == "True")
        await it.until("gone", lambda: not it.backup())
        assert it.keys_there() == KEYS
        assert it.it.files.list(known["url"].removeprefix("file://")) == []

    played(story)


def test_of_two_in_one_place_that_are_both_deleted_the_older_one_goes_first() -> None:
    async def story(it: BackupStory) -> None:
        store = {"accountName": "key@store", "backupName": "n"}
        over = {"fileURL": None, "blobStoreConfiguration": store, "deletionPolicy": "cleanup"}
        it.back_up(**over)
        await it.backed_up()
        it.back_up("other", tag="other", **over)
        await it.backed_up("other")
        it.drop()
        await it.until("waits", lambda: it.said(it.backup(), "Progressing")[1] == "BackupShared")
        it.drop("other")
        await it.until("gone", lambda: not it.backup() and not it.backup("other"))

    played(story)
