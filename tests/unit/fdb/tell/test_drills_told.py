"""What is told of drills: on record before anything is done, and in a condition that keeps quiet."""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import Any

import pytest
from msgspec.structs import replace

from stateward.core.outcome import Blocked, Outcome, Retry
from stateward.fdb.api.backups.backup import FoundationDBBackupStatus
from stateward.fdb.api.backups.drill import BackupDrills, DrillResult, DrillRun
from stateward.fdb.decide.backups.drills import (
    Act,
    Close,
    DrillView,
    Forget,
    Keep,
    Move,
    Open,
    Piece,
    Restored,
    Run,
    Source,
    Verdict,
)
from stateward.fdb.decide.backups.views import Arm, Skip
from stateward.fdb.tell.backups import backup
from stateward.fdb.tell.backups.drills import STEP, recorded
from stateward.fdb.tell.backups.metrics import readings
from unit.fdb.decide.test_backing import view as backup_view
from unit.fdb.tell.test_backups import AGENTS, conditions

T100, T600, T1000 = ("1970-01-01T00:01:40Z", "1970-01-01T00:10:00Z", "1970-01-01T00:16:40Z")
RUN = DrillRun(phase="Verifying", began=T600, version=9, version_time=T100, url="file:///b/1")
GOES = BackupDrills(since=T600, run=RUN)
SEEN = DrillView(
    name="nightly-drill",
    now=1000.0,
    run=Run("Verifying", 600.0, 9),
    restored=Restored("completed", 9, 300),
)
PROOF = DrillResult(
    began=T600, ended=T1000, seconds=400, proven=True, version=9, version_time=T100,
    bytes_written=300, keys_seen=7, reason="BackupRestored",
)  # fmt: skip


@pytest.mark.parametrize(
    ("act", "before", "after"),
    [
        (Arm(), BackupDrills(), BackupDrills(since=T1000)),
        (Skip(600.0), GOES, replace(GOES, since=T600, skipped=T600)),
        (Open(600.0, Source("blobstore://k:secret@host/n", 9, 100.0)), BackupDrills(),
         BackupDrills(since=T600, run=DrillRun(
             phase="MakingCluster", began=T1000, version=9, version_time=T100,
             url="blobstore://k:***@host/n"))),
        (Keep(Piece.CLUSTER, "c", "MakingAgents"), GOES,
         replace(GOES, run=replace(RUN, phase="MakingAgents", cluster_uid="c"))),
        (Keep(Piece.AGENTS, "a", "Restoring"), GOES,
         replace(GOES, run=replace(RUN, phase="Restoring", agents_uid="a"))),
        (Keep(Piece.RESTORE, "r", "Restoring"), GOES,
         replace(GOES, run=replace(RUN, phase="Restoring", restore_uid="r"))),
        (Move("Ending"), GOES, replace(GOES, run=replace(RUN, phase="Ending"))),
        (Verdict("BackupRestored", keys=7), GOES,
         replace(GOES, run=replace(RUN, phase="Ending"), last=PROOF, proven=T1000,
                 proven_version=9)),
        (Verdict("DrillTimedOut", "late"), replace(GOES, proven=T100),
         replace(GOES, run=replace(RUN, phase="Ending"), proven=T100,
                 last=replace(PROOF, proven=False, keys_seen=None, reason="DrillTimedOut",
                              trouble="late"))),
        (Close(), GOES, BackupDrills(since=T600)),
        (Forget(), GOES, None),
    ],
)  # fmt: skip
def test_what_is_put_on_record(act: Act, before: BackupDrills, after: BackupDrills | None) -> None:
    assert recorded(act, before, SEEN) == after


# ------------------------------------------------------------------ conditions
def told(
    drills: BackupDrills | None,
    *said: Outcome,
    former: FoundationDBBackupStatus | None = None,
    now: float = 100.0,
    **over: Any,
) -> FoundationDBBackupStatus:
    """Return what is told of a calm backup whose drills are so."""
    seen = replaced(SEEN, run=None, next_due=2000.0, **over)
    former = former or FoundationDBBackupStatus(former_uid="")
    words = [(STEP, it) for it in said]
    about = backup.BackupTold(words, AGENTS, now, seen)
    return backup.backup_status(backup_view("d"), replace(former, drill=drills), about)


def sentence(status: FoundationDBBackupStatus) -> str:
    return next(it.message for it in status.conditions if it.type == "BackupProven")


@pytest.mark.parametrize(
    ("drills", "status", "words"),
    [
        (None, ("Unknown", "NeverDrilled"), "no drill is over yet"),
        (BackupDrills(), ("Unknown", "NeverDrilled"), "begins at 1970-01-01T00:33:20Z"),
        (BackupDrills(run=DrillRun(phase="Restoring", began=T100)), ("Unknown", "NeverDrilled"),
         f"no drill is over yet: one goes on since {T100}"),
        (BackupDrills(last=PROOF, proven=T1000), ("True", "BackupRestored"),
         f"restored to version 9, which was at {T100}; proven at {T1000}"),
        (BackupDrills(last=replace(PROOF, version=None, version_time=None)),
         ("True", "BackupRestored"), f"restored; proven at {T1000}"),
        (BackupDrills(last=replace(PROOF, proven=False, reason="DrillTimedOut", trouble="late")),
         ("False", "DrillTimedOut"), f"not restored at {T1000}: late; never proven"),
        (BackupDrills(last=replace(PROOF, proven=False, reason="BackupMissing"), proven=T100),
         ("False", "BackupMissing"), f"last proven at {T100}"),
    ],
)  # fmt: skip
def test_the_condition(drills: BackupDrills | None, status: tuple[str, str], words: str) -> None:
    found = told(drills)
    assert conditions(found)["BackupProven"] == status
    assert words in sentence(found)
    assert told(found.drill, former=found, now=5000.0) == found


def test_where_no_drills_are_asked_for_nothing_is_told_of_them() -> None:
    found = told(BackupDrills(last=PROOF))
    gone = told(None, former=found, is_asked=False)
    assert "BackupProven" in conditions(found)
    assert "BackupProven" not in conditions(gone)
    assert gone.drill is None


def test_a_drill_that_goes_on_makes_nothing_unready_and_is_told_beside_the_backup() -> None:
    found = told(GOES, Retry(10.0, "DrillRuns", "restoring into nightly-drill: 1 of 4 blocks"))
    assert conditions(found)["Ready"] == ("True", "Reconciled")
    assert conditions(found)["Progressing"][0] == "False"
    assert found.blockers == ()
    assert found.doing == "backing up; restoring into nightly-drill: 1 of 4 blocks"


def test_what_a_person_must_see_to_does() -> None:
    found = told(None, Blocked("NameTaken", "it is there", "delete it"))
    assert conditions(found)["Ready"] == ("False", "NameTaken")
    assert [it.guard for it in found.blockers] == ["NameTaken"]


@pytest.mark.parametrize(
    ("drills", "found"),
    [
        (None, {}),
        (BackupDrills(), {}),
        (BackupDrills(last=PROOF, proven=T1000), {"proven": 1, "proven_timestamp_seconds": 1000}),
        (BackupDrills(last=replace(PROOF, proven=False), proven=T100),
         {"proven": 0, "proven_timestamp_seconds": 100}),
        (BackupDrills(proven="lately"), {}),
    ],
)  # fmt: skip
def test_what_metrics_tell(drills: BackupDrills | None, found: dict[str, float]) -> None:
    status = FoundationDBBackupStatus(drill=drills)
    shown = {it.family: it.value for it in readings(backup_view("?"), status, 100.0)}
    assert shown == {f"stateward_fdb_backup_{name}": it for name, it in found.items()}
