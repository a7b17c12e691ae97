"""What is told of backups and restores: at rest always the same, and of what moves only sometimes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as changed

from stateward.core.facts import Known, Unknown
from stateward.core.outcome import Outcome
from stateward.fdb.api.backups.backup import (
    BackupMoved,
    BackupProgress,
    FoundationDBBackupStatus,
)
from stateward.fdb.api.backups.restore import FoundationDBRestoreStatus
from stateward.fdb.decide.backups import backing, restoring
from stateward.fdb.decide.backups.moving import Moved
from stateward.fdb.decide.backups.views import BackupView, RestoreView
from stateward.fdb.status.backups.backup import Point
from stateward.fdb.tell.backups import backup, restore
from stateward.fdb.tell.backups.agents import Agents
from stateward.fdb.tell.backups.metrics import GAUGES, readings
from unit.fdb.decide.test_backing import live, view
from unit.fdb.decide.test_restoring import BEGUN, at
from unit.fdb.decide.test_restoring import view as restore_view

AGENTS = Agents(2, 2, configured=True)


def said(it: BackupView) -> list[tuple[str, Outcome]]:
    found: list[tuple[str, Any]] = [("UpdateBackupStatus", backing.known(it))]
    for step in (backing.stopping, backing.pausing):
        outcome = step(it)
        if hasattr(outcome, "reason"):
            found.append((step.__name__, outcome))
    return found


def told(
    it: BackupView, former: FoundationDBBackupStatus, now: float = 100.0, agents: Agents = AGENTS
) -> FoundationDBBackupStatus:
    return backup.backup_status(it, former, backup.BackupTold(said(it), agents, now))


def conditions(status: Any) -> dict[str, tuple[str, str]]:
    return {it.type: (it.status, it.reason) for it in status.conditions}


@pytest.mark.parametrize("picture", ["-", "s", "r", "d", "dP", "de", "c", "a", "?"])
@pytest.mark.parametrize("wish", ["Running", "Stopped", "Paused"])
def test_what_is_told_twice_is_the_same(picture: str, wish: str) -> None:
    it = view(picture, wish=wish)
    once = told(it, FoundationDBBackupStatus(former_uid=""))
    assert told(it, once, now=5000.0) == once


def test_a_time_that_a_database_tells_anew_for_one_version_is_not_another() -> None:
    it = view("d")
    once = told(it, FoundationDBBackupStatus(former_uid=""))
    state = it.state
    assert state is not None
    later = replace(it, live=Known(replace(state, restorable=Point(7, 9.9)), 0.0, "test"))
    assert told(later, once) == once
    moved = replace(it, live=Known(replace(state, restorable=Point(8, 9.9)), 0.0, "test"))
    assert told(moved, once) != once
    assert backup.can_wait(once, told(moved, once))
    assert not backup.can_wait(once, told(view("c"), once))


def test_conditions_of_a_backup() -> None:
    start = FoundationDBBackupStatus(former_uid="")
    well = told(view("d"), start)
    assert conditions(well) == {
        "Ready": ("True", "Reconciled"),
        "Restorable": ("True", "Restorable"),
        "Progressing": ("False", "Reconciled"),
        "Degraded": ("False", "AllWell"),
        "Paused": ("False", "NotPaused"),
    }
    assert well.generations.reconciled == 3
    silent = told(view("?"), well)
    assert conditions(silent)["Restorable"] == ("Unknown", "BackupUnknown")
    assert silent.backup_details == well.backup_details
    taken = told(view("d", holder="older"), start)
    assert conditions(taken)["Ready"] == ("False", "TagTaken")
    assert taken.backup_details is None
    lonely = told(view("d"), start, agents=Agents(2, 0, configured=True))
    assert conditions(lonely)["Degraded"] == ("True", "AgentsMissing")
    both = told(view("dP", pausers=("other",)), start)
    assert conditions(both)["Paused"] == ("True", "PausedByOthers")
    hand = told(view("dP", wish="Stopped"), start)
    assert conditions(hand)["Paused"] == ("True", "PausedByHand")


@pytest.mark.parametrize(
    ("complaints", "now", "degraded"),
    [
        ((), 800.0, ("False", "AllWell")),
        ((), 1000.0, ("True", "BackupStalled")),
        (("Permission denied",), 100.0, ("True", "WritesFail")),
    ],
)
def test_one_that_writes_nothing_says_why_if_anybody_does(
    complaints: tuple[str, ...], now: float, degraded: tuple[str, str]
) -> None:
    it = told(view("d", complaints=complaints, now=now), FoundationDBBackupStatus(former_uid=""))
    assert conditions(it)["Degraded"] == degraded
    (words,) = (one.message for one in it.conditions if one.type == "Degraded")
    assert all(one in words for one in complaints)
    assert "1970-01-01T00:00:08" in words or degraded[0] == "False"
    assert it.doing.startswith("nothing was written" if degraded[0] == "True" else "backing up")


def test_what_is_broken_stands_in_the_column_unless_something_is_waited_for() -> None:
    start = FoundationDBBackupStatus(former_uid="")
    lonely = told(view("s"), start, agents=Agents(2, 0, configured=True))
    assert lonely.doing == "none of 2 agents is ready: see pods of nightly-backup-agents"
    unfit = Agents(2, 2, configured=True, unfit="agents must be of 7.3")
    for it in (view("d"), view("?", is_unmanaged=True)):
        other = told(it, start, agents=unfit)
        assert conditions(other)["Degraded"] == ("True", "AgentsIncompatible")
        assert other.doing == "agents must be of 7.3"
    nobody = told(view("d"), start, agents=replace(unfit, wanted=0))
    assert conditions(nobody)["Degraded"] == ("False", "AllWell")
    paused = told(view("dP", complaints=("Permission denied",)), start)
    assert paused.doing.startswith("paused")


def test_how_much_was_written_is_told_while_it_goes_on_and_can_wait() -> None:
    it = view("r")
    state = it.state
    assert state is not None
    assert state.running is not None

    def written(much: int) -> BackupView:
        running = replace(state.running, range_bytes=much, log_bytes=2 * much)
        return replace(it, live=Known(replace(state, running=running), 0.0, "test"))

    some = told(written(3), FoundationDBBackupStatus())
    more = told(written(5), some)
    assert more.progress == BackupProgress(range_bytes_written=5, log_bytes_written=10)
    assert backup.can_wait(some, more)
    unknown = told(view("?"), more)
    assert unknown.progress == more.progress
    over = told(view("c"), more)
    assert over.progress is None
    assert not backup.can_wait(more, over)
    assert told(replace(it, holder="older"), more).progress is None


def test_what_only_the_place_before_has_is_not_restorable() -> None:
    there = told(view("d"), FoundationDBBackupStatus(former_uid=""))
    url = "file:///elsewhere/backup-2"
    it = told(view("d", live=live("d", url=url), moved=Moved(5)), there)
    assert conditions(it)["Restorable"] == ("False", "NotRestorable")
    details = it.backup_details
    assert details is not None
    assert (details.restorable, details.moved) == (False, BackupMoved(during=5))
    assert it.doing == "backing up; not restorable yet from where it lies now"
    (reading,) = (
        one for one in readings(view("d", moved=Moved(5)), it, 0.0) if "restorable" in one.family
    )
    assert reading.value == 0


def test_a_secret_in_a_url_is_not_told() -> None:
    it = view("d", live=live("d", url="blobstore://key:secret@host/n?bucket=b"))
    details = told(it, FoundationDBBackupStatus(former_uid="")).backup_details
    assert details is not None
    assert details.url == "blobstore://key:***@host/n?bucket=b"


# ------------------------------------------------------------------ restores
def restored(it: RestoreView, former: FoundationDBRestoreStatus) -> FoundationDBRestoreStatus:
    found: Any = restoring.restoring(it)
    words = [("StartRestore", found)] if hasattr(found, "reason") else []
    return restore.restore_status(it, former, restore.RestoreTold(words, it.now))


def test_conditions_and_progress_of_a_restore() -> None:
    it = restore_view(record=BEGUN, live=at("running"), is_paused=False, now=100.0)
    running = restored(it, FoundationDBRestoreStatus())
    assert running.progress is not None
    assert (running.progress.percent, running.progress.seconds_left) == (25, None)
    assert conditions(running)["Progressing"] == ("True", "RestoreRuns")
    assert running.running is True
    over = restored(replace(it, live=at("completed")), running)
    assert conditions(over)["Completed"] == ("True", "RestoreCompleted")
    record = replace(BEGUN, uid="r1", state="completed")
    rest = replace(it, live=Unknown("it is over"), record=record, is_paused=None)
    assert restored(rest, over) == changed(over, conditions=restored(rest, over).conditions)
    assert restored(replace(rest, now=9999.0), restored(rest, over)) == restored(rest, over)
    ended = restored(replace(it, live=at("aborted")), running)
    assert conditions(ended)["Aborted"] == ("True", "RestoreAborted")
    assert conditions(ended)["Degraded"] == ("True", "RestoreAborted")


def test_how_long_a_restore_takes_is_told_by_how_fast_agents_are_and_not_by_how_long_it_waited() -> (
    None
):
    """It was on record at once, waited for an hour, and was paused in the middle."""

    def left(it: RestoreView, former: FoundationDBRestoreStatus) -> tuple[Any, int | None]:
        new = restored(it, former)
        assert new.progress is not None
        assert restored(it, new) == new
        return new, new.progress.seconds_left

    def read(blocks: int, now: float, *, paused: bool = False) -> RestoreView:
        state = at("running")
        assert isinstance(state, Known)
        done = Known(replace(state.value, blocks=100, blocks_done=blocks), now, "test")
        return restore_view(record=BEGUN, live=done, is_paused=paused, now=now)

    first, unknown = left(read(10, 3600.0), FoundationDBRestoreStatus())
    second, some = left(read(30, 3640.0), first)
    assert (unknown, some) == (None, 140)
    paused, none = left(read(40, 3660.0, paused=True), second)
    third, again = left(read(40, 9000.0), paused)
    assert (none, again) == (None, None)
    _, soon = left(read(50, 9010.0), third)
    assert soon == 50


def test_a_backup_that_is_not_there_keeps_a_restore_from_being_begun_but_not_from_going_on() -> (
    None
):
    start, no_backup = FoundationDBRestoreStatus(), "there is no FoundationDBBackup nosuch"
    waits = restored(restore_view(url_unknown=no_backup), start)
    assert conditions(waits)["Degraded"] == ("True", "BackupUnknown")
    goes_on = restored(restore_view(live=at("running"), url_unknown=no_backup), start)
    assert conditions(goes_on)["Degraded"] == ("False", "AllWell")


@pytest.mark.parametrize(
    ("over", "shown"),
    [
        ({"picture": "d"}, {"running": 1, "paused": 0, "restorable": 1, "lag_seconds": 93}),
        ({"picture": "rP"}, {"running": 1, "paused": 1, "restorable": 0}),
        ({"picture": "-"}, {"running": 0, "paused": 0, "restorable": 0}),
        ({"picture": "?"}, {}),
        ({"picture": "d", "holder": "older"}, {}),
    ],
)
def test_what_is_measured_of_a_backup(over: dict[str, Any], shown: dict[str, float]) -> None:
    it = view(**{"former_uid": "", **over})
    found = list(readings(it, told(it, FoundationDBBackupStatus(former_uid="")), 100.0))
    assert {one.family.removeprefix("stateward_fdb_backup_"): one.value for one in found} == shown
    assert all(one.family in GAUGES and not one.labels for one in found)


def test_what_nobody_knows_any_more_gets_older() -> None:
    before = told(view("d", former_uid=""), FoundationDBBackupStatus(former_uid=""))
    (one,) = readings(view("?"), told(view("?"), before), 1000.0)
    assert (one.family, one.value) == ("stateward_fdb_backup_lag_seconds", 993.0)
