"""Backups and restores with processes: a database, agents in pods, files in a folder, kubectl."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from operators.fdb.fdb_backing import (
    SMALL,
    Backer,
    details,
    is_reconciled,
    looking_often,
    of,
)
from operators.fdb.fdb_hands import CLUSTER
from operators.fdb.fdb_person import with_kubectl
from operators.fdb.fdb_worlds import PATIENCE, World, world

CLEARED = r'clearrange "" \xff'
SOON = f"--timeout={PATIENCE:g}s"


@asynccontextmanager
async def backing(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[World, Backer], None]:
    """Run a world with a small cluster asked for, and nobody who looks after it yet."""
    looking_often(monkeypatch)
    folder = tmp_path / "shared"
    folder.mkdir()
    async with world(plane, nodes=1) as it:
        await it.create(CLUSTER, **SMALL)
        yield it, Backer(with_kubectl(it, tmp_path), folder)


async def test_a_backup_is_made_paused_changed_and_ended_and_files_go_only_by_cleanup(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with backing(plane, tmp_path, monkeypatch) as (it, you), it.operating():
        await you.back_up("nightly", deletionPolicy="cleanup")  # before there is a database
        await you.back_up("hourly", tag="hourly", deletionPolicy="stop")
        await it.reconciled(CLUSTER)
        first = await you.restorable("nightly")
        await you.restorable("hourly")
        assert first["url"].startswith(f"file://{you.folder}/nightly/backup-")
        assert first["tag"] == "default"

        # An agent that is killed in the middle costs nothing but time.
        version = await you.write("set kept here")
        (killed,) = you.agents("nightly")
        os.kill(killed, signal.SIGKILL)
        assert (await you.restorable("nightly", version))["uid"] == first["uid"]
        await you.until("fdbbackup", "nightly", "another agent", lambda _: you.agents("nightly"))
        assert killed not in you.agents("nightly")

        # A pause is for all tags of a cluster.
        await you.patch("nightly", backupState="Paused")
        await you.said("fdbbackup", "hourly", "Paused", "PausedByOthers")
        await you.said("fdbbackup", "nightly", "Paused", "PausedForOthers")
        await you.patch("nightly", backupState="Running")
        await you.said("fdbbackup", "hourly", "Paused", "NotPaused")

        # It goes on in another place, and slower.
        place = f"file://{you.folder}/moved"
        await you.patch("nightly", snapshotPeriodSeconds=40, fileURL=place)
        moved = await you.until("fdbbackup", "nightly", "moved", lambda now: is_moved(now, place))
        assert details(moved)["snapshotTime"] == 40
        version = await you.write("set kept there")
        assert (await you.restorable("nightly", version))["uid"] == first["uid"]

        # One that is stopped ends with its snapshot, and can still be restored.
        await you.patch("hourly", backupState="Stopped")
        ended = await you.until("fdbbackup", "hourly", "over", is_over)
        assert of(ended, "Restorable")[0] == "True"
        assert details(moved)["uid"] != details(ended)["uid"]

        # With the object: nothing; the backup; or its files as well.
        await you.back_up("loose", tag="loose", agentCount=0)
        await you.until("fdbbackup", "loose", "goes on", lambda now: details(now).get("running"))
        await you.delete("fdbbackup/loose", "fdbbackup/hourly", "fdbbackup/nightly")
        for name in ("loose", "hourly", "nightly"):
            await you.gone("fdbbackup", name)
        assert you.files("hourly")
        assert you.files("nightly"), "where it was before is the user's"
        assert not you.files("moved")
        assert not you.agents("nightly")


async def test_what_was_overwritten_and_cleared_comes_back_once_whoever_is_killed_meanwhile(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with backing(plane, tmp_path, monkeypatch) as (it, you):
        async with it.operating(name="one"):
            await it.reconciled(CLUSTER)
            await you.back_up("nightly")
            await you.restorable("nightly")
            early = await you.write("set a 1; set b 2; set c 3")
            await you.restorable("nightly", early)
            late = await you.write("set a 9; clear b; set d 4")
            await you.restorable("nightly", late)

            # Nothing is restored over what is there.
            await you.restore("early", backupName="nightly", backupVersion=early)
            hint = await you.said("fdbrestore", "early", "Failed", "DestinationNotEmpty")
            assert "non-empty" in hint
            assert await you.keys() == {"a": "9", "c": "3", "d": "4"}

            # It goes on by itself once that is cleared; while agents are paused, nothing does.
            await you.patch("nightly", backupState="Paused")
            await you.said("fdbbackup", "nightly", "Paused", "Paused")
            await you.write(CLEARED)
            await you.said("fdbrestore", "early", "Paused", "AgentsPaused")

            # One that is deleted while it goes on ends, and locks nothing any more.
            await you.until("fdbrestore", "early", "begun", lambda now: now["status"].get("uid"))
            assert "Committed" not in await you.typed("writemode on; set e 5"), "it is locked"
            await you.delete("fdbrestore/early")
            await you.gone("fdbrestore", "early")
            await you.write("set e 5; clear e")
            await you.restore("early", backupName="nightly", backupVersion=early)
            await you.said("fdbrestore", "early", "Paused", "AgentsPaused")
            await you.restore("late", backupName="nightly", backupVersion=late)
            who = await you.said("fdbrestore", "late", "Ready", "AnotherRestoreRuns")
            assert "early" in who
            before = await you.get("fdbrestore", "early")

        # Who follows an operator that was killed follows the restore, and does not begin it again.
        async with it.operating(name="two"):
            await you.patch("nightly", backupState="Running")
            await you.person("wait", "--for=condition=Completed", "fdbrestore/early", SOON)
            after = await you.get("fdbrestore", "early")
            assert after["status"]["uid"] == before["status"]["uid"]
            assert after["status"]["version"] == early
            assert await you.keys() == {"a": "1", "b": "2", "c": "3"}
            # The other one has its turn, and finds what the first has brought back.
            await you.said("fdbrestore", "late", "Failed", "DestinationNotEmpty")
            await you.write(CLEARED)
            await you.person("wait", "--for=condition=Completed", "fdbrestore/late", SOON)
            assert await you.keys() == {"a": "9", "c": "3", "d": "4"}
            assert "Committed" in await you.typed("writemode on; set e 5"), "nothing is locked"


REFUSED = (
    ({"clusterName": None}, "clusterName"),
    ({"backupState": "Runing"}, "backupState"),
    ({"agentCount": -1}, "agentCount"),
    ({"agentCount": 100_000}, "agentCount"),
    ({"agentCount": "many"}, "agentCount"),
    ({"tag": "t" * 65}, "tag"),
    ({"snapshotPeriodSeconds": "daily"}, "snapshotPeriodSeconds"),
    ({"fileURL": "ftp://elsewhere"}, "fileURL"),
)
SECRET = "hunter2"
TOLD: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("fdbbackup", {"fileURL": "file:///a/../b"}, "SpecInvalid", "spec.fileURL"),
    ("fdbbackup", {"fileURL": None}, "SpecInvalid", "must say where"),
    ("fdbbackup", {"version": "latest"}, "SpecInvalid", "spec.version"),
    ("fdbbackup", {"tag": "-t"}, "SpecInvalid", "spec.tag"),
    (
        "fdbbackup",
        {"clusterName": "none"},
        "ClusterMissing",
        "waiting for the FoundationDBCluster none",
    ),
    ("fdbbackup", {}, "TagTaken", "nightly, which is older"),
    (
        "fdbbackup",
        {"fileURL": None, "blobStoreConfiguration": {"accountName": f"me:{SECRET}@store"}},
        "SpecInvalid",
        "spec.blobStoreConfiguration.accountName",
    ),
    (
        "fdbbackup",
        {
            "fileURL": None,
            "tag": "nowhere",
            "blobStoreConfiguration": {"accountName": "me@store", "backupName": "../x"},
        },
        "DestinationInvalid",
        "invalid",
    ),
    ("fdbrestore", {}, "SpecInvalid", "must say of what"),
    ("fdbrestore", {"backupName": "none"}, "BackupUnknown", "there is no FoundationDBBackup none"),
    (
        "fdbrestore",
        {"backupName": "nightly", "keyRanges": [{"start": "b", "end": "a"}]},
        "SpecInvalid",
        "spec.keyRanges[0]",
    ),
    ("fdbrestore", {"fileURL": "file:///nothing"}, "BackupMissing", "file:///nothing"),
    (
        "fdbrestore",
        {"backupName": "nightly", "destinationClusterName": "none"},
        "ClusterMissing",
        "waiting for the FoundationDBCluster none",
    ),
)


async def all_are_told(you: Backer) -> None:
    """Ask for what cannot be, all at once; each must say what is wrong with it."""
    for number, (kind, over, *_) in enumerate(TOLD):
        if kind == "fdbbackup":
            usual = {"agentCount": 0, "deletionPolicy": "cleanup"}
            await you.back_up(f"wrong-{number}", **usual | over)
        else:
            await you.restore(f"wrong-{number}", **over)
    for number, (kind, _, reason, words) in enumerate(TOLD):
        assert words in await you.said(kind, f"wrong-{number}", "Ready", reason), reason


async def all_can_go(you: Backer) -> None:
    """Delete what cannot be."""
    await you.delete(*(f"{kind}/wrong-{number}" for number, (kind, *_) in enumerate(TOLD)))
    for number, (kind, *_) in enumerate(TOLD):
        await you.gone(kind, f"wrong-{number}")


async def test_what_cannot_be_is_told_others_go_on_and_every_object_can_be_deleted(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with backing(plane, tmp_path, monkeypatch) as (it, you), it.operating():
        await it.reconciled(CLUSTER)
        (you.folder / "blocked").write_text("a file, where a folder is to be made")
        await you.back_up("nightly", deletionPolicy="cleanup")
        await you.back_up("blocked", tag="blocked", deletionPolicy="cleanup")
        for over, field in REFUSED:
            assert field in await you.refused("fdbbackup", "wrong", you.backup("wrong", **over))
        keys = [{"start": "b\u00e4r", "end": "c"}]
        wrong = {"destinationClusterName": CLUSTER, "backupName": "nightly", "keyRanges": keys}
        assert "keyRanges" in await you.refused("fdbrestore", "wrong", wrong)

        await you.restorable("nightly")
        changed = you.backup("nightly", deletionPolicy="cleanup", tag="other")
        assert "tag cannot be changed" in await you.refused("fdbbackup", "nightly", changed)
        await all_are_told(you)
        assert SECRET not in await you.told_of("fdbbackup", "events")

        # One that cannot write is not restorable, and goes on when it can.
        stuck = await you.get("fdbbackup", "blocked")
        assert of(stuck, "Restorable")[:2] == ("False", "NotRestorable")
        (you.folder / "blocked").unlink()
        await you.restorable("blocked")
        await you.restorable("nightly", await you.write("set a 1"))

        # Everything goes, also when there is no cluster any more; and files with what has them.
        await all_can_go(you)
        await you.delete(f"fdb/{CLUSTER}")
        await you.said("fdbbackup", "blocked", "Degraded", "ClusterMissing")
        assert you.files("nightly")
        await you.delete("fdbbackup/nightly", "fdbbackup/blocked")
        for name in ("nightly", "blocked"):
            await you.gone("fdbbackup", name)
            assert not you.files(name)


def is_moved(item: object, place: str) -> bool:
    assert isinstance(item, dict)
    return details(item).get("url", "").startswith(place) and is_reconciled(item)


def is_over(item: object) -> bool:
    assert isinstance(item, dict)
    return details(item).get("running") is False and is_reconciled(item)
