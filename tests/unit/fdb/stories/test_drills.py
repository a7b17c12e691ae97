"""Stories of drills: a backup is restored into a throw-away cluster, and nothing of that is left."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_backups import BackupStory, played
from fakes.fdb_stories import NAME, NAMESPACE, single
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.decide.backups import retaining
from stateward.fdb.model.names import BACKUP_FINALIZER
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DEPLOYMENTS, PODS, VOLUME_CLAIMS

DRILL = "nightly-drill"
#: Every five minutes, and over long before the next.
SOON: Json = {"schedule": "*/5 * * * *", "storage": "1G", "timeoutSeconds": 900}
#: Kinds of which a drill makes something, or has something made.
KINDS = (CLUSTERS, BACKUPS, RESTORES, PROCESS_GROUPS, PODS, VOLUME_CLAIMS, DEPLOYMENTS)
PHASES = ("MakingCluster", "MakingAgents", "Restoring", "Verifying", "Ending")


def drills(it: BackupStory) -> Json:
    found: Json = it.backup().get("status", {}).get("drill") or {}
    return found


def phase(it: BackupStory) -> str:
    return str((drills(it).get("run") or {}).get("phase", ""))


def doing(it: BackupStory) -> str:
    return str(it.backup().get("status", {}).get("doing", ""))


def is_proven(it: BackupStory) -> bool:
    return it.said(it.backup(), "BackupProven") == ("True", "BackupRestored")


def left(it: BackupStory) -> list[str]:
    """Return all objects that are called as those of a drill."""
    every = (one.key for kind in KINDS for one in it.it.world.api.list(kind).items)
    return [str(key) for key in every if key.name.startswith(DRILL)]


def is_over(it: BackupStory) -> bool:
    return "last" in drills(it) and not phase(it)


async def drilled(it: BackupStory, **over: Any) -> None:
    """Have a backup that drills soon, and has a first snapshot."""
    it.back_up(drill=SOON, **over)
    await it.backed_up()


async def running(it: BackupStory, name: str) -> None:
    """Wait until a drill is in a phase."""
    await it.until(f"a drill is at {name}", lambda: phase(it) == name, 1800)


def starts(it: BackupStory) -> list[str]:
    return it.typed("fdbrestore", "start")


# ------------------------------------------------------------------ calm
def test_a_drill_proves_that_the_backup_can_be_restored_and_leaves_nothing() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        mine = it.database.store
        assert it.said(it.backup(), "BackupProven") == ("Unknown", "NeverDrilled")
        assert BACKUP_FINALIZER not in it.backup()["metadata"].get("finalizers", [])
        await running(it, "Restoring")
        await it.until("begun", lambda: bool(it.restored(DRILL)))
        assert BACKUP_FINALIZER in it.backup()["metadata"]["finalizers"]
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled")
        assert it.said(it.backup(), "Progressing")[0] == "False"
        made = it.it.world.api.get(CLUSTERS, ObjectKey(NAMESPACE, DRILL)).document()
        assert made["spec"]["version"] == it.cluster["spec"]["version"]
        assert made["metadata"]["ownerReferences"][0]["uid"] == it.backup()["metadata"]["uid"]
        again = it.restored(DRILL)["spec"]
        assert again["destinationClusterUID"] == made["metadata"]["uid"]
        await it.until("over", lambda: is_over(it))
        assert is_proven(it)
        assert left(it) == []
        last = drills(it)["last"]
        assert (last["keysSeen"], last["version"]) == (20, again["backupVersion"])
        assert drills(it)["proven"] == last["ended"]
        assert last["versionTime"] <= last["began"] < last["ended"]
        assert dict(mine.span(b"", b"\xff", mine.at(it.it.world.clock.now()))) == it.keys
        await it.until("let go", lambda: "finalizers" not in it.backup()["metadata"])
        proven = last["ended"]
        await it.until("the next", lambda: drills(it)["proven"] > proven, 900)
        assert len(starts(it)) == 2

    played(story)


def test_between_drills_nobody_is_asked_and_nothing_is_written() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(drill={**SOON, "schedule": "@weekly"}, backupMode="oneTime")
        await it.until("whole", lambda: it.is_backed_up() and not it.details()["running"])
        await it.at_rest()
        assert it.backup()["status"]["drill"].keys() == {"since", "next"}

    played(story)


def test_a_backup_of_a_blob_store_is_found_and_its_secret_is_told_nowhere() -> None:
    async def story(it: BackupStory) -> None:
        place = "store:443/n?bucket=fdb-backups"
        words = ("-d", f"blobstore://key:secret@{place}", "-s", "20", "-z")
        await it.by_hand("start", "-t", "default", *words)
        store = {"accountName": "key@store", "backupName": "n"}
        await drilled(it, fileURL=None, blobStoreConfiguration=store)
        await running(it, "Verifying")
        assert "secret" not in str([it.backup(), it.restored(DRILL)])
        await it.until("over", lambda: is_over(it))
        assert is_proven(it)

    played(story)


def test_a_backup_of_a_database_without_keys_is_proven_too() -> None:
    async def story(it: BackupStory) -> None:
        it.empty()
        await drilled(it)
        await it.until("over", lambda: is_over(it), 900)
        assert is_proven(it)
        assert drills(it)["last"]["keysSeen"] == 0

    played(story)


def test_of_backups_of_a_schedule_the_last_that_is_whole_is_proven() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(backupMode="oneTime", schedule="*/10 * * * *", drill=SOON)
        await it.until("waits", lambda: "a drill is due" in doing(it), 900)
        await it.until("over", lambda: is_over(it), 1200)
        assert is_proven(it)

    played(story)


# ------------------------------------------------------------------ what cannot be restored
def test_a_backup_whose_files_are_gone_is_not_proven_and_when_it_was_is_still_told() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await it.until("over", lambda: is_over(it), 900)
        proven = drills(it)["proven"]
        files = it.it.files
        kept, files.list = files.list, lambda _path: []  # type: ignore[method-assign,assignment]
        await it.until("told", lambda: it.said(it.backup(), "BackupProven")[0] == "False", 1500)
        assert it.said(it.backup(), "BackupProven")[1] == "BackupMissing"
        assert drills(it)["proven"] == proven
        await it.until("all is gone", lambda: not phase(it) and left(it) == [])
        files.list = kept  # type: ignore[method-assign]
        await it.until("proven again", lambda: is_proven(it), 1500)
        assert drills(it)["proven"] > proven

    played(story)


def test_what_takes_too_long_is_ended_and_says_what_it_waited_for() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, "MakingAgents")
        it.it.idle = True  # nobody restores
        await it.until("told", lambda: it.said(it.backup(), "BackupProven")[0] == "False", 1200)
        assert it.said(it.backup(), "BackupProven")[1] == "DrillTimedOut"
        assert "restoring into nightly-drill" in drills(it)["last"]["trouble"]
        assert drills(it)["skipped"], "moments at which it went on are left out"
        await it.until("all is gone", lambda: not phase(it) and left(it) == [])
        assert "proven" not in drills(it)
        it.it.idle = False
        await it.until("proven", lambda: is_proven(it), 900)

    played(story)


@pytest.mark.parametrize("kind", [CLUSTERS, BACKUPS, RESTORES], ids=lambda it: it.kind)
def test_somebody_who_deletes_a_part_of_it_is_told_that_nothing_is_proven(kind: Any) -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, "Restoring")
        await it.until("begun", lambda: "restoreUID" in drills(it)["run"])
        it.drop(DRILL, kind)
        await it.until("over", lambda: is_over(it), 900)
        assert it.said(it.backup(), "BackupProven") == ("False", "DrillDisturbed")
        assert left(it) == []

    played(story)


# ------------------------------------------------------------------ whatever befalls the operator
@pytest.mark.parametrize("when", PHASES)
def test_an_operator_that_ends_in_a_phase_is_followed_by_one_that_goes_on(when: str) -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, when)
        for _ in range(2):
            it.it.crash(it.slots[0], rest=3)
            await it.rest(6)
        await it.until("over", lambda: is_over(it), 900)
        assert is_proven(it)
        assert left(it) == []
        assert len(starts(it)) == 1

    played(story)


def test_one_that_comes_when_its_time_is_up_takes_all_away() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, "Restoring")
        it.stop()
        await it.rest(2000)
        it.slots = it.it.operate(it.assembly)
        await it.until("over", lambda: is_over(it))
        assert drills(it)["last"]["reason"] == "DrillTimedOut"
        await it.until("proven", lambda: is_proven(it), 900)

    played(story)


# ------------------------------------------------------------------ what is somebody else's
@pytest.mark.parametrize("early", [True, False])
def test_a_person_s_cluster_of_that_name_is_never_touched(early: bool) -> None:
    async def story(it: BackupStory) -> None:
        def make() -> None:
            it._create(CLUSTERS, DRILL, single(deletionPolicy="Delete"))

        if early:
            make()
        await drilled(it)
        if not early:
            await running(it, "Restoring")
            it.drop(DRILL, CLUSTERS)
            await it.until("gone", lambda: f"{NAMESPACE}/{DRILL}" not in left(it))
            make()
        mine = it.it.world.api.get(CLUSTERS, ObjectKey(NAMESPACE, DRILL)).document()["metadata"]
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "NameTaken", 1500)
        (blocker,) = it.backup()["status"]["blockers"]
        assert blocker["step"] == "DrillBackup"
        assert "is left alone" in blocker["message"]
        await it.rest(1200)
        now = it.it.world.api.get(CLUSTERS, ObjectKey(NAMESPACE, DRILL)).document()["metadata"]
        assert (now["uid"], now.get("deletionTimestamp")) == (mine["uid"], None)
        assert it.restored(DRILL) == {}
        it.drop(DRILL, CLUSTERS)
        await it.until("proven", lambda: is_proven(it), 1500)

    played(story)


def test_a_restore_never_goes_into_another_cluster_of_that_name() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        it.restore(backupName="nightly", destinationClusterUID="another")
        await it.until("told", lambda: it.said(it.restored(), "Failed")[0] == "True")
        assert it.said(it.restored(), "Failed")[1] == "DestinationReplaced"
        await it.rest(60)
        assert starts(it) == []

    played(story)


# ------------------------------------------------------------------ who does not want it any more
@pytest.mark.parametrize("when", PHASES)
@pytest.mark.parametrize("policy", ["noop", "cleanup"])
def test_with_the_backup_s_object_all_of_its_drill_goes_before(when: str, policy: str) -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it, deletionPolicy=policy)
        await running(it, when)
        it.drop()
        await it.until("gone", lambda: not it.backup() or (left(it) == [] and not phase(it)))
        assert left(it) == []
        await it.until("gone", lambda: not it.backup())
        assert it.it.world.api.get(CLUSTERS, ObjectKey(NAMESPACE, NAME))
        await it.rest(60)
        assert left(it) == []

    played(story)


@pytest.mark.parametrize("when", PHASES)
def test_without_the_wish_a_drill_ends_and_nothing_is_told_of_drills_any_more(when: str) -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, when)
        it.edit(drill=None)
        await it.until("forgotten", lambda: "drill" not in it.backup()["status"])
        assert left(it) == []
        await it.until("silent", lambda: it.said(it.backup(), "BackupProven") == ("", ""))
        await it.until("let go", lambda: "finalizers" not in it.backup()["metadata"])
        await it.rest(600)
        assert left(it) == []
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled")

    played(story)


def test_a_drill_whose_wish_is_spoilt_in_the_middle_goes_on_once_it_is_mended() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, "MakingAgents")
        it.edit(drill={"schedule": "0 3 31 2 *"})
        await it.until("told", lambda: it.said(it.backup(), "Ready")[1] == "SpecInvalid")
        it.edit(drill=SOON)
        await it.until("over", lambda: is_over(it))
        assert is_proven(it)

    played(story)


def test_what_a_drill_left_of_which_nothing_is_on_record_goes_before_the_next() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, "MakingAgents")
        was = it.it.world.api.get(CLUSTERS, ObjectKey(NAMESPACE, DRILL)).document()["metadata"][
            "uid"
        ]
        it.tell(BACKUPS, "nightly", {"drill": {"run": None}})
        await running(it, "Restoring")
        now = it.it.world.api.get(CLUSTERS, ObjectKey(NAMESPACE, DRILL)).document()["metadata"][
            "uid"
        ]
        assert now != was
        await it.until("over", lambda: is_over(it))
        assert is_proven(it)
        assert left(it) == []

    played(story)


def test_nothing_is_proven_of_a_backup_that_somebody_else_moved() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await it.by_hand("modify", "-t", "default", "-d", "file:///theirs/backup-1")
        await it.until("told", lambda: "somebody else" in doing(it) and "drill" in doing(it), 600)
        assert starts(it) == []
        assert left(it) == []

    played(story)


def test_what_was_proven_of_a_database_is_not_of_another() -> None:
    async def story(it: BackupStory) -> None:
        it.back_up(drill={**SOON, "schedule": "*/30 * * * *"})
        await it.backed_up()
        await it.until("over", lambda: is_over(it), 3600)
        assert is_proven(it)
        it.delete(CLUSTERS, NAME)
        await it.until("gone", lambda: it.said(it.backup(), "Degraded")[1] == "ClusterMissing")
        await it.rest(120)
        it.apply(single(), annotations={"foundationdb.org/left-volumes": "ignore"})
        await it.reconciled()
        await it.until(
            "told", lambda: it.said(it.backup(), "BackupProven") == ("Unknown", "NeverDrilled"), 300
        )
        assert not {"last", "proven"} & drills(it).keys()

    played(story)


# ------------------------------------------------------------------ what it reads
def test_what_a_drill_reads_is_not_looked_at_for_what_is_too_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retaining, "EVERY", 100.0)

    async def story(it: BackupStory) -> None:
        await drilled(it, retention={"days": 10})
        await running(it, "MakingAgents")
        it.it.idle = True
        await it.rest(150)
        assert it.said(it.backup(), "Ready") == ("True", "Reconciled"), (
            "a drill is nobody's concern"
        )
        many = len(it.typed("fdbbackup", "describe"))
        await it.rest(300)
        assert len(it.typed("fdbbackup", "describe")) == many
        it.it.idle = False
        await it.until("over", lambda: is_over(it))
        await it.until("looked", lambda: len(it.typed("fdbbackup", "describe")) > many)

    played(story)


def test_a_drill_survives_a_backed_up_cluster_that_goes_meanwhile() -> None:
    async def story(it: BackupStory) -> None:
        await drilled(it)
        await running(it, "Restoring")
        it.delete(CLUSTERS, NAME)
        await it.until("over", lambda: is_over(it), 900)
        assert is_proven(it)
        assert left(it) == []

    played(story)
