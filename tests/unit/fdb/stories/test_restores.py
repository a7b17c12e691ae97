"""Stories of restores: begun once each, one after another, followed, refused, ended."""

from __future__ import annotations

from typing import Any

from fakes.fdb_backups import BackupStory, played
from fakes.fdb_stories import KEYS, NAMESPACE, USER
from stateward.fdb.api.backups.kinds import RESTORES
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey


async def saved(it: BackupStory) -> dict[str, Any]:
    """Have a backup of all keys; return what restores it as it is now, whatever comes later."""
    it.back_up()
    await it.backed_up()
    await it.rest(60)
    details = it.details()
    return {"fileURL": details["url"], "backupVersion": details["latestRestorable"]["version"]}


def begun(it: BackupStory) -> list[str]:
    return [line for line in it.typed("fdbrestore", "start") if " -n" not in line]


def ended(it: BackupStory, name: str = "again", kind: str = "Completed") -> bool:
    return it.said(it.restored(name), kind)[0] == "True"


def test_a_restore_brings_all_keys_back_once_and_then_nobody_is_asked_any_more() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.empty()
        it.restore(**known)
        await it.until("restored", lambda: ended(it))
        assert it.keys_there() == KEYS
        status = it.restored()["status"]
        assert (status["state"], status["running"]) == ("completed", False)
        assert status["tag"] == f"restore-{it.restored()['metadata']['uid']}"
        assert status["progress"]["percent"] == 100
        assert it.said(it.restored(), "Ready") == ("True", "RestoreCompleted")
        await it.until("free to go", lambda: "finalizers" not in it.restored()["metadata"])
        asked = len(it.typed("fdbrestore"))
        await it.rest(300)
        assert len(it.typed("fdbrestore")) == asked
        assert len(begun(it)) == 1

    played(story)


def test_the_backup_may_be_named_and_its_latest_point_is_taken() -> None:
    async def story(it: BackupStory) -> None:
        it.restore(backupName="nightly")
        await it.until("waits", lambda: it.said(it.restored(), "Ready")[1] == "BackupUnknown")
        await saved(it)
        await it.until("refused", lambda: ended(it, kind="Failed"))
        it.empty()
        await it.until("restored", lambda: ended(it))
        assert it.keys_there() == KEYS

    played(story)


def test_keys_come_back_as_they_were_at_an_earlier_version_and_only_those_asked_for() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        version = known["backupVersion"]
        it.database.store.write([(b"order/1", b"spoilt"), (b"later", b"1")])
        await it.until(
            "later ones, too", lambda: it.details()["latestRestorable"]["version"] > version + 10**8
        )
        it.empty()
        said = {"customParameters": ["knob_a = 1"], "encryptionKeyPath": "/key"}
        it.restore(**known, **said, keyRanges=[{"start": "order/1", "end": "order/2"}])
        await it.until("restored", lambda: ended(it))
        assert it.keys_there() == {
            key: value for key, value in KEYS.items() if b"order/1" <= key < b"order/2"
        }
        assert it.restored()["status"]["version"] == version
        (line,) = it.typed("fdbrestore", "start")
        assert line.endswith(" --encryption-key-file /key --knob_a=1")

    played(story)


def test_several_restores_one_after_another_are_each_begun_and_each_tells_of_itself() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        for name in ("first", "second", "third"):
            it.empty()
            it.restore(name, **known)
            await it.until(f"{name} is restored", lambda name=name: ended(it, name))  # type: ignore[misc]
            assert it.keys_there() == KEYS
        uids = {it.restored(name)["status"]["uid"] for name in ("first", "second", "third")}
        assert len(uids) == len(begun(it)) == 3

    played(story)


def test_while_one_goes_on_the_next_waits_and_no_agents_or_a_pause_are_told() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.edit(backupState="Paused")
        await it.until("paused", lambda: it.said(it.backup(), "Paused")[0] == "True")
        it.empty()
        it.restore("first", **known, keyRanges=[{"start": "order/", "end": "order/5"}])
        await it.until("told", lambda: it.said(it.restored("first"), "Paused")[1] == "AgentsPaused")
        it.restore("second", **known, keyRanges=[{"start": "order/5", "end": "order0"}])
        await it.until(
            "waits", lambda: it.said(it.restored("second"), "Ready")[1] == "AnotherRestoreRuns"
        )
        await it.rest(60)
        assert len(begun(it)) == 1
        it.edit(backupState="Running")
        await it.until("both", lambda: ended(it, "first") and ended(it, "second"))
        assert it.keys_there() == KEYS

    played(story)


def test_nothing_is_restored_over_what_is_there() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.restore(**known)
        await it.until("told", lambda: ended(it, kind="Failed"))
        assert it.said(it.restored(), "Failed") == ("True", "DestinationNotEmpty")
        assert it.keys_there() == KEYS
        it.drop("again", RESTORES)
        await it.until("gone", lambda: not it.restored())
        assert it.typed("fdbrestore", "abort") == []

    played(story)


def test_what_is_there_is_cleared_where_that_is_asked_for_and_nothing_else_is() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.database.store.write([(b"order/1x", b"new"), (b"other", b"stays")])
        ranges = [{"start": "order/1", "end": "order/2"}]
        it.restore(**known, keyRanges=ranges, destinationPolicy="clear")
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "ClearingSoon")
        before = it.keys_there()
        await it.rest(20)
        assert it.keys_there() == before
        await it.until("restored", lambda: ended(it))
        assert it.keys_there() == {**KEYS, b"other": b"stays"}
        assert it.restored()["status"]["clearing"]["done"] is True
        assert len(begun(it)) == 2
        it.database.store.write([(b"order/1x", b"newer")])
        await it.rest(300)
        assert it.keys_there()[b"order/1x"] == b"newer"

    played(story)


def test_who_deletes_the_object_within_the_minute_keeps_all_keys() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.restore(**known, destinationPolicy="clear")
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "ClearingSoon")
        it.drop("again", RESTORES)
        await it.until("gone", lambda: not it.restored())
        await it.rest(100)
        assert it.keys_there() == KEYS

    played(story)


def test_a_restore_that_is_deleted_ends_and_the_database_is_unlocked() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.edit(backupState="Paused")
        await it.until("paused", lambda: it.said(it.backup(), "Paused")[0] == "True")
        it.empty()
        it.restore(**known)
        await it.until("goes on", lambda: it.restored().get("status", {}).get("running") is True)
        it.drop("again", RESTORES)
        await it.until("gone", lambda: not it.restored())
        (one,) = it.database.backups.restores.values()
        assert not one.stage.is_active
        assert len(it.typed("fdbrestore", "abort")) == 1

    played(story)


def test_what_another_operator_began_is_not_begun_again() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.stop()
        it.empty()
        it.restore(**known)
        it.tell(RESTORES, "again", {"running": True, "state": "running"})
        it.slots = it.it.operate(it.assembly)
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "BegunByAnother")
        await it.rest(60)
        assert begun(it) == []

    played(story)


def test_a_version_that_is_not_there_and_a_backup_that_is_not_are_told() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.empty()
        it.restore("early", **{**known, "backupVersion": 1})
        it.restore("nowhere", fileURL="file:///nowhere")
        for name, word in (("early", "VersionNotRestorable"), ("nowhere", "BackupMissing")):
            await it.until(
                f"{name} is told",
                lambda name=name, word=word: it.said(it.restored(name), "Failed")[1] == word,  # type: ignore[misc]
            )
        (blocker,) = it.restored("nowhere")["status"]["blockers"]
        assert "there must be a backup at file:///nowhere" in blocker["message"]
        (blocker,) = it.restored("early")["status"]["blockers"]
        words = "there must be a backup that can be restored to version 1 at file:///"
        assert words in blocker["message"]
        assert "beneath that of its FoundationDBBackup" in blocker["hint"]

    played(story)


def test_a_restore_is_followed_and_ended_where_it_was_begun_whatever_its_object_asks_later() -> (
    None
):
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.edit(backupState="Paused")
        await it.until("paused", lambda: it.said(it.backup(), "Paused")[0] == "True")
        it.empty()
        it.restore(**known)
        await it.until("goes on", lambda: it.restored().get("status", {}).get("running") is True)
        other = MergePatch({"spec": {"destinationClusterName": "other"}})
        it.it.world.api.patch(RESTORES, ObjectKey(NAMESPACE, "again"), other, USER)
        await it.rest(60)
        assert it.said(it.restored(), "Ready")[1] == "AgentsPaused"
        it.drop("again", RESTORES)
        await it.until("gone", lambda: not it.restored())
        (one,) = it.database.backups.restores.values()
        assert not one.stage.is_active

    played(story)


def test_what_is_asked_to_go_elsewhere_before_it_goes_on_goes_nowhere() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.restore(**known)
        await it.until("told", lambda: ended(it, kind="Failed"))
        other = MergePatch({"spec": {"destinationClusterName": "other"}})
        it.it.world.api.patch(RESTORES, ObjectKey(NAMESPACE, "again"), other, USER)
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "RestoreElsewhere")
        it.empty()
        await it.rest(60)
        assert it.keys_there() == {}
        back = MergePatch({"spec": {"destinationClusterName": "shop"}})
        it.it.world.api.patch(RESTORES, ObjectKey(NAMESPACE, "again"), back, USER)
        await it.until("restored", lambda: ended(it))

    played(story)


def test_one_that_goes_on_has_not_failed_whatever_it_waits_for() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.it.idle = True
        await it.rest(5)
        it.empty()
        it.restore(**known)
        await it.until("begun", lambda: bool(it.restored().get("status", {}).get("uid")))
        it.drop()
        await it.until("told", lambda: it.said(it.restored(), "Ready")[1] == "NoAgents")
        assert it.said(it.restored(), "Failed") == ("False", "RestoreRuns")

    played(story)


def test_none_is_begun_where_nobody_would_restore() -> None:
    async def story(it: BackupStory) -> None:
        known = await saved(it)
        it.empty()
        it.drop()
        await it.until("gone", lambda: not it.backup())
        it.restore(**known)
        await it.until("told", lambda: it.said(it.restored(), "Failed") == ("True", "NoAgents"))
        await it.rest(60)
        assert it.typed("fdbrestore", "start") == []
        it.back_up("agents", backupType="unmanaged")
        await it.until("restored", lambda: ended(it))

    played(story)
