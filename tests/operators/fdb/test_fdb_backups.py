"""Backups and restores with processes: a database, agents in pods, files in a folder, kubectl."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

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
        loose = await you.until(
            "fdbbackup", "loose", "goes on", lambda now: details(now).get("running")
        )
        for name in ("loose", "hourly", "nightly"):
            await you.delete("fdbbackup", name)
        for name in ("loose", "hourly", "nightly"):
            await you.gone("fdbbackup", name)
        assert you.files("hourly")
        assert you.files("nightly"), "where it was before is the user's"
        assert not you.files("moved")
        assert not you.agents("nightly")
        del loose


async def test_what_was_overwritten_and_cleared_comes_back_once_whoever_is_killed_meanwhile(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with backing(plane, tmp_path, monkeypatch) as (it, you):
        async with it.operating(name="one"):
            await it.reconciled(CLUSTER)
            early = await you.write("set a 1; set b 2; set c 3")
            await you.back_up("nightly")
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
            await you.restore("late", backupName="nightly", backupVersion=late)
            who = await you.said("fdbrestore", "late", "Ready", "AnotherRestoreRuns")
            assert "early" in who
            before = await you.get("fdbrestore", "early")
        begun = it.asked("start")

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
            assert it.asked("start") > begun, "it was asked for"
            await you.write(CLEARED)
            await you.person("wait", "--for=condition=Completed", "fdbrestore/late", SOON)
            assert await you.keys() == {"a": "9", "c": "3", "d": "4"}
            assert "Committed" in await you.typed("writemode on; set e 5"), "nothing is locked"


CLEARED = r'clearrange "" \xff'
SOON = f"--timeout={PATIENCE:g}s"


def is_moved(item: object, place: str) -> bool:
    assert isinstance(item, dict)
    return details(item).get("url", "").startswith(place) and is_reconciled(item)


def is_over(item: object) -> bool:
    assert isinstance(item, dict)
    return details(item).get("running") is False and is_reconciled(item)
