"""Stories of backups whose cluster, place or spec becomes another one while they go on."""

from __future__ import annotations

from functools import partial
from typing import Any

from fakes.fdb_backups import BackupStory, operator, played
from fakes.fdb_stories import NAMESPACE, single
from stateward.emulate.fdb.backups.files import Unusable
from stateward.fdb.api.backups.kinds import RESTORES
from stateward.fdb.api.kind import CLUSTERS


def begun(it: BackupStory) -> int:
    return len(it.typed("fdbbackup", "start"))


async def made_anew(it: BackupStory, volumes: str = "ignore", told: str = "ClusterMissing") -> None:
    """Have another cluster of the same name, with another database unless volumes are adopted."""
    it.delete(CLUSTERS, "shop")
    await it.until("told", lambda: it.said(it.backup(), "Degraded")[1] == told)
    await it.rest(120)
    it.apply(single(), annotations={"foundationdb.org/left-volumes": volumes})
    await it.reconciled()


def stored(name: str = "n", **over: Any) -> dict[str, Any]:
    """Return what has a backup lie in a blob store."""
    store = {"accountName": "key@store", "backupName": name, **over}
    return {"fileURL": None, "blobStoreConfiguration": store}


def test_where_the_database_before_has_its_backup_no_other_one_has_its_own() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored())
        await it.backed_up()
        was = it.details()["url"]
        kept = dict(it.it.files.kept)
        await made_anew(it)
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "PlaceOfAnother", 300)
        assert it.backup()["status"]["formerURLs"] == [was]
        it.it.crash(it.slots[0], rest=5)
        it.edit(snapshotPeriodSeconds=25, **stored(urlParameters=["region=eu"]))
        await it.rest(100)
        assert begun(it) == 1
        assert it.it.files.kept == kept
        it.edit(**stored("n2"))
        await it.backed_up()
        assert begun(it) == 2
        assert {path: it.it.files.kept[path] for path in kept} == kept
        it.edit(**stored())
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "PlaceOfAnother")
        await it.rest(100)
        assert it.typed("fdbbackup", "modify") == []
        assert {path: it.it.files.kept[path] for path in kept} == kept

    played(story)


def test_of_folders_the_database_that_is_made_anew_gets_its_own() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="cleanup", retention={"days": 1})
        await it.backed_up()
        was = it.details()["url"]
        kept = dict(it.it.files.kept)
        await made_anew(it)
        await it.until("another", lambda: it.details().get("url", was) != was, 300)
        await it.backed_up()
        it.drop()
        await it.until("gone", lambda: not it.backup())
        assert it.it.files.kept == kept

    played(story)


def test_one_of_a_schedule_waits_for_its_next_moment_where_a_database_was_made_anew() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(backupMode="oneTime", schedule="0 * * * *", **stored())
        await it.until("whole", lambda: it.is_backed_up() and not it.details()["running"], 4000)
        await made_anew(it)
        await it.rest(300)
        assert begun(it) == 1
        await it.until("the next", lambda: begun(it) == 2, 4000)
        await it.until("whole", lambda: it.is_backed_up() and not it.details()["running"])

    played(story)


def test_a_cluster_that_has_its_volumes_back_goes_on_with_its_backup() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored())
        await it.backed_up()
        first = it.details()["uid"]
        await made_anew(it, "adopt")
        await it.until("as asked", it.is_backed_up)
        await it.rest(60)
        assert it.details()["uid"] == first
        assert it.backup()["status"].get("formerURLs", []) == []
        assert begun(it) == 1

    played(story)


def test_who_will_write_beneath_or_by_other_parameters_shares_the_place() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored(), deletionPolicy="cleanup")
        await it.backed_up()
        it.it.idle = True
        it.back_up("below", tag="below", **stored("n/below"))
        it.back_up("beside", tag="beside", **stored("n", urlParameters=["region=eu"]))
        it.drop()
        await it.until("told", lambda: it.said(it.backup(), "Progressing")[1] == "BackupShared")
        for name in ("below", "beside"):
            assert it.typed("fdbbackup", "delete") == []
            it.drop(name)
        await it.until("gone", lambda: not it.backup())
        assert len(it.typed("fdbbackup", "delete")) == 1

    played(story)


def test_who_waits_for_the_tag_and_the_place_is_not_waited_for() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored(), deletionPolicy="cleanup")
        await it.backed_up()
        it.back_up("next", **stored())
        await it.until("told", lambda: it.said(it.backup("next"), "Ready")[1] == "TagTaken")
        it.drop()
        await it.until("gone", lambda: not it.backup())
        await it.backed_up("next")

    played(story)


def test_files_are_judged_by_where_the_backup_is_and_not_by_what_was_told_last() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored(), deletionPolicy="cleanup")
        await it.backed_up()
        it.back_up("other", tag="other", **stored("o"))
        await it.backed_up("other")
        await it.by_hand("modify", "-t", "default", "-d", it.details("other")["url"])
        it.drop()
        await it.until("gone", lambda: not it.backup())
        assert it.typed("fdbbackup", "delete") == []
        assert it.typed("fdbbackup", "abort") == []

    played(story)


def test_what_is_too_old_of_a_backup_that_ended_stays() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(retention={"days": 1})
        await it.backed_up()
        it.edit(backupState="Stopped")
        await it.until("over", lambda: it.details().get("running") is False)
        many = len(it.typed("fdbbackup", "describe"))
        await it.rest(2 * 3700)
        assert len(it.typed("fdbbackup", "describe")) == many

    played(story)


def test_the_last_whole_one_of_a_schedule_is_told_without_a_secret_and_can_be_restored() -> None:
    async def story(it: BackupStory) -> None:
        place = "blobstore://key:secret@store:443/n?bucket=fdb-backups"
        it.back_up(backupMode="oneTime", schedule="0 0 1 1 *", **stored())
        await it.until("waits", lambda: "schedule" in it.backup().get("status", {}))
        await it.by_hand("start", "-t", "default", "-d", place, "-s", "20")
        await it.until("whole", lambda: "lastURL" in it.backup()["status"]["schedule"], within=600)
        assert "secret" not in str(it.backup())
        await it.by_hand("start", "-t", "default", "-d", f"{place}2", "-s", "2000")
        await it.until("another", lambda: it.details().get("restorable") is False)
        it.empty()
        it.restore(backupName="nightly")
        await it.until("restored", lambda: it.said(it.restored(), "Completed")[0] == "True")

    played(story)


def test_what_lies_in_a_store_that_the_database_knows_nothing_of_is_left_alone() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored())
        await it.backed_up()
        kept = dict(it.it.files.kept)
        it.drop()
        await it.until("gone", lambda: not it.backup())
        await made_anew(it, told="")
        it.back_up(**stored())  # an object made anew remembers nothing
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "PlaceOfAnother")
        await it.rest(300)
        assert begun(it) == 1
        assert len(it.typed("fdbbackup", "describe")) == 2  # once before each start
        assert it.it.files.kept == kept
        it.it.files.kept.clear()
        await it.until("begun", lambda: begun(it) == 2, 900)
        await it.backed_up()

    played(story)


def test_one_may_come_back_to_where_it_was_and_no_other_database_may_go_there_either() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored())
        await it.backed_up()
        it.edit(**stored("m"))
        await it.until("there", lambda: "/m?" in it.details()["url"])
        await it.rest(60)
        it.edit(**stored())
        await it.until("back", lambda: "/n?" in it.details()["url"])
        await made_anew(it)
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "PlaceOfAnother", 300)
        it.edit(**stored("m"))
        await it.rest(60)
        assert it.said(it.backup(), "Ready")[1] == "PlaceOfAnother"
        assert begun(it) == 1

    played(story)


def test_none_goes_on_where_there_is_one_of_which_the_database_knows_nothing() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored())
        await it.backed_up()
        for path, raw in list(it.it.files.kept.items()):
            it.it.files.kept[path.replace("/n/", "/strange/")] = raw
        it.edit(**stored("strange"))
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "PlaceOfAnother")
        await it.rest(60)
        assert it.typed("fdbbackup", "modify") == []
        it.edit(**stored("free"))
        await it.until("there", lambda: "/free?" in it.details()["url"])
        await it.backed_up()

    played(story)


def test_files_wait_for_a_restore_that_is_yet_to_be_begun() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        it.restore("waits", fileURL=it.details()["url"], destinationClusterName="none")
        it.drop()
        await it.until(
            "told", lambda: it.said(it.backup(), "Progressing")[1] == "BackupBeingRestored"
        )
        it.drop("waits", RESTORES)
        await it.until("gone", lambda: not it.backup())

    played(story)


def test_one_goes_on_by_another_account() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(**stored())
        await it.backed_up()
        it.edit(**stored(accountName="other@store"))
        await it.until("there", lambda: "other@store" in it.details().get("url", ""))
        await it.until("well", lambda: it.said(it.backup(), "Ready") == ("True", "Reconciled"))
        assert begun(it) == 1

    played(story)


def test_nothing_is_written_where_nobody_can_look() -> None:
    async def story(it: BackupStory) -> None:
        def refuse(folder: str) -> list[str]:
            raise Unusable(f"Connection timed out ({folder})")

        listed, it.it.files.list = it.it.files.list, refuse  # type: ignore[method-assign]
        it.back_up(**stored())
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "BackupUnknown")
        await it.rest(200)
        assert begun(it) == 0
        it.it.files.list = listed  # type: ignore[method-assign]
        await it.backed_up()

    played(story)


def test_who_goes_and_who_comes_to_one_place_do_not_wait_for_each_other() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(deletionPolicy="cleanup", **stored())
        await it.backed_up()
        it.back_up("later", tag="later", **stored())
        it.drop()
        await it.until("begun", lambda: begun(it) == 2)
        await it.until("told", lambda: it.said(it.backup(), "Progressing")[1] == "BackupShared")
        it.drop("later")
        await it.until("gone", lambda: not it.backup("later") and not it.backup())

    played(story)


def test_places_do_not_end_at_namespaces_that_are_watched_one_by_one() -> None:
    async def story(it: BackupStory) -> None:
        it.stop()
        it.start(partial(operator, namespaces=(NAMESPACE, "other")))
        it.back_up_in("other", "first", clusterName="none", **stored("taken"))
        it.back_up(deletionPolicy="cleanup", **stored())
        await it.backed_up()
        it.back_up_in("other", "below", clusterName="none", **stored("n/below"))
        it.back_up("later", tag="later", **stored("taken"))
        it.drop()
        await it.until("told", lambda: it.said(it.backup(), "Progressing")[1] == "BackupShared")
        await it.until("later", lambda: it.said(it.backup("later"), "Ready")[1] == "PlaceOfAnother")
        await it.rest(60)
        assert it.typed("fdbbackup", "delete") == []
        assert begun(it) == 1
        it.drop("below", namespace="other")
        await it.until("gone", lambda: not it.backup())
        assert len(it.typed("fdbbackup", "delete")) == 1

    played(story)


def test_nothing_is_restored_and_no_key_cleared_from_where_files_are_being_deleted() -> None:
    async def story(it: BackupStory) -> None:
        it.it.shelf.deleting = 300.0
        it.back_up(deletionPolicy="cleanup")
        await it.backed_up()
        url, keys = it.details()["url"], it.keys_there()
        assert keys
        it.back_up("agents", backupType="unmanaged")
        it.drop()
        await it.until("goes", lambda: it.typed("fdbbackup", "delete") != [])
        it.restore(fileURL=url, destinationPolicy="clear")
        await it.until(
            "waits", lambda: it.said(it.restored(), "Progressing")[1] == "LeftoverLeaving"
        )
        await it.until("gone", lambda: not it.backup())
        await it.until("told", lambda: it.said(it.restored(), "Failed")[1] == "BackupMissing")
        assert it.keys_there() == keys

    played(story)


def test_who_comes_while_files_are_being_deleted_does_not_keep_whose_they_were() -> None:
    async def story(it: BackupStory) -> None:
        it.it.shelf.deleting = 120.0
        it.back_up(deletionPolicy="cleanup", **stored())
        await it.backed_up()
        it.drop()
        await it.until("goes", lambda: it.typed("fdbbackup", "delete") != [])
        it.back_up("later", tag="later", **stored())
        await it.until(
            "waits", lambda: it.said(it.backup("later"), "Progressing")[1] == "LeftoverLeaving"
        )
        assert begun(it) == 1
        await it.until("gone", lambda: not it.backup(), 300)
        await it.backed_up("later")
        assert len(it.typed("fdbbackup", "delete")) == 1

    played(story)


def test_agents_of_another_line_are_told_of() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(version="7.1.61")
        await it.until(
            "told", lambda: it.said(it.backup(), "Degraded") == ("True", "AgentsIncompatible")
        )
        assert "7.1.61 cannot talk to 7.3" in it.backup()["status"]["doing"]
        it.edit(version="7.3.63")
        await it.until("well", lambda: it.said(it.backup(), "Degraded")[1] == "AllWell")

    played(story)
