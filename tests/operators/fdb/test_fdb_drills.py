"""A drill with processes: a second database beside the first, filled from its backup, and gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from operators.fdb.fdb_backing import Backer, of
from operators.fdb.fdb_hands import CLUSTER
from operators.fdb.test_fdb_backups import backing, is_over
from stateward.kube.codec import Json

DRILL = "nightly-drill"
#: All that a drill makes, and what is made of that.
KINDS = "fdb,fdbbackup,fdbrestore,fdbpg,pods,pvc,deployments,services"


def run(item: Json) -> Json:
    """Return the drill that goes on."""
    found: Json = (item.get("status", {}).get("drill") or {}).get("run") or {}
    return found


def last(item: Json) -> Json:
    """Return what the last drill has shown, once nothing of it is left."""
    found: Json = (item.get("status", {}).get("drill") or {}).get("last") or {}
    return {} if run(item) else found


def is_silent(item: object) -> bool:
    """Tell whether nothing is told of drills."""
    assert isinstance(item, dict)
    return "drill" not in item["status"] and not of(item, "BackupProven")[0]


async def left(you: Backer) -> list[str]:
    """Return the names of all objects of a drill."""
    names = await you.person("get", KINDS, "-o", "name")
    return [it for it in names.split() if DRILL in it]


@pytest.mark.long  # two databases that are made, one after the other
async def test_a_backup_is_proven_by_a_database_that_comes_and_goes_whoever_is_killed_meanwhile(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill = {"schedule": "@every 1m", "storage": "1G", "timeoutSeconds": 600}
    async with backing(plane, tmp_path, monkeypatch) as (it, you):
        async with it.operating(name="one"):
            await it.reconciled(CLUSTER)
            await you.back_up("nightly")
            version = await you.write("set a 1; set b 2; set c 3")
            await you.restorable("nightly", version)
            await you.patch("nightly", drill=drill)
            found = await you.until("fdbbackup", "nightly", "drills", run)
            assert of(found, "BackupProven")[:2] == ("Unknown", "NeverDrilled")
            await you.until("fdb", DRILL, "there", lambda now: now)

        # Who follows goes on with the very same drill.
        async with it.operating(name="two"):
            proven = await you.until("fdbbackup", "nightly", "proven", last)
            assert of(proven, "BackupProven")[:2] == ("True", "BackupRestored")
            assert last(proven)["began"] == run(found)["began"]
            assert last(proven)["keysSeen"] == 3
            assert last(proven)["version"] >= version
            assert await you.keys() == {"a": "1", "b": "2", "c": "3"}

            # Of no use any more: it ends, and nothing of it is left, nor told.
            await you.until("fdbbackup", "nightly", "drills once more", run)
            await you.patch("nightly", drill=None)
            await you.until("fdbbackup", "nightly", "silent", is_silent)
            assert await left(you) == []

            # A backup whose files are gone says so; one that goes on would write them anew.
            await you.patch("nightly", backupState="Stopped")
            await you.until("fdbbackup", "nightly", "over", is_over)
            for path in you.files("nightly"):
                path.unlink()
            await you.patch("nightly", drill=drill)
            await you.said("fdbbackup", "nightly", "BackupProven", "BackupMissing")
