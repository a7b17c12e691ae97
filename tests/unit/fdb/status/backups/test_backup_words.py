"""What is read of backups and restores: all that was recorded, and nothing that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateward.core.facts import Unknown
from stateward.fdb.status.backups import backup, container, restore
from stateward.fdb.status.backups.backup import BackupStage, BackupState, Point, Running
from stateward.fdb.status.backups.container import Container
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState

FOLDER = Path(__file__).parents[4] / "recordings" / "fdb" / "transcripts"
UID = "1435314f4d8c3d263117456e512cfacf"
FIRST = "file://LAB/run/backups/backup-2026-11-15-02-06-50.296108"


def said(name: str, *words: str) -> Iterator[str]:
    """Yield what was printed by commands of a recording that have these words."""
    for step in json.loads((FOLDER / f"{name}.json").read_text()):
        if step["rc"] == 0 and set(words) <= set(step["cmd"]):
            yield step["stdout"]


def backups() -> list[BackupState]:
    found = []
    for text in said("13_backup", "status", "--json"):
        state = backup.read(text, json.loads(text)["Tag"])
        assert isinstance(state, BackupState)
        found.append(state)
    return found


def test_every_recorded_backup_is_read() -> None:
    stages = [(it.tag, it.stage, it.paused, it.restorable is not None) for it in backups()]
    assert stages == [
        ("never", BackupStage.NEVER, False, False),
        ("noagent3", BackupStage.SUBMITTED, False, False),
        ("noagent3", BackupStage.ABORTED, False, False),
        ("default", BackupStage.RUNNING, False, False),
        ("default", BackupStage.DIFFERENTIAL, False, True),
        ("default", BackupStage.DIFFERENTIAL, True, True),
        ("default", BackupStage.DIFFERENTIAL, False, True),
        ("default", BackupStage.DIFFERENTIAL, False, True),
        ("default", BackupStage.COMPLETED, False, True),
        ("default", BackupStage.COMPLETED, False, True),
    ]


def test_all_of_a_running_one() -> None:
    assert backups()[4] == BackupState(
        "default",
        BackupStage.DIFFERENTIAL,
        paused=False,
        uid=UID,
        url=FIRST,
        restorable=Point(4032840034, 1794708431, 15),
        running=Running(
            stops=False,
            interval=20,
            log_bytes=0,
            range_bytes=289412310,
            log_end=Point(4032840035, 1794708431),
            snapshot_end=Point(4034742070, 1794708433),
            expected=66.0495,
            snapshot_begin=4034806627,
        ),
    )


def changed(**fields: Any) -> str:
    (*_, text) = said("13_backup", "status", "--json")
    return json.dumps(
        {key: it for key, it in (json.loads(text) | fields).items() if it is not None}
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "No previous backups found.",
        '{"SchemaVersion":"1.0.0","BackupAgentsPaused":false,"Tag":"default"',
        '{"SchemaVersion":"1.0.0","BackupAgentsPaused":false,"Tag":"other"}',
        '{"SchemaVersion":"1.0.0","Tag":"default"}',
        changed(Status=None),
        changed(Status={"Name": "Unheard"}),
        changed(Status="Completed"),
        changed(LatestRestorablePoint=None),
        changed(BackupAgentsPaused="no"),
    ],
)
def test_what_cannot_be_read_is_unknown(text: str) -> None:
    assert isinstance(backup.read(text, "default"), Unknown)


def test_warnings_around_it_do_no_harm() -> None:
    text = f"WARNING: it takes long\n{changed()}\nbye"
    assert backup.read(text, "default") == backup.read(changed(), "default")


# -------------------------------------------------------------------------- containers


def test_the_recorded_container_is_read() -> None:
    (text,) = said("14_restore", "describe", "--json")
    assert container.read(text, "u") == Container(
        "u", first=4596328387, last=4615981488, snapshots=1, snapshot_bytes=101992153,
        taken=(container.Taken(4596154471, 4596328387, 0.000227466, restorable=True),),
    )  # fmt: skip
    assert isinstance(container.read(text[:-20], "u"), Unknown)
    assert isinstance(container.read(text.replace("MaxRestorablePoint", "X"), "u"), Unknown)
    found = container.read(text.replace('"Restorable":true,"P', '"Restorable":false,"P'), "u")
    assert isinstance(found, Container)
    assert not found.is_restorable
    assert [found.reaches(4600000000)] == [False]


# -------------------------------------------------------------------------- restores


def restores(tag: str) -> list[RestoreState]:
    found = []
    for text in said("14_restore", "fdbrestore", "status"):
        state = restore.read(text, tag)
        assert isinstance(state, RestoreState)
        found.append(state)
    return found


def test_every_recorded_restore_is_read() -> None:
    never, completed = RestoreStage.NEVER, RestoreStage.COMPLETED
    assert [it.stage for it in restores("default")] == [never, never, completed, never, never]
    queued, aborted = RestoreStage.QUEUED, RestoreStage.ABORTED
    assert [it.stage for it in restores("r2")] == [never, never, never, queued, aborted]
    assert restores("default")[2] == RestoreState(
        "default",
        RestoreStage.COMPLETED,
        "888f7d0fddaa3ebf0826643ad3678570",
        "file://LAB/run/backups/backup-2026-11-15-02-16-33.432813",
        4615981488,
        103,
        103,
        101089862,
    )


def test_each_line_that_is_printed_meanwhile_is_read() -> None:
    (whole,) = (it for it in said("14_restore", "fdbrestore", "-w") if "queued" in it)
    lines = [it for it in whole.splitlines() if it.startswith("Tag: ")]
    stages = [restore.read(f"{it}\n", "default") for it in lines]
    assert all(isinstance(it, RestoreState) for it in stages)
    assert [it.stage for it in stages[:3]] == ["queued", "starting", "running"]  # type: ignore[union-attr]


def both() -> str:
    texts = [it for it in said("14_restore", "fdbrestore", "status") if it.strip()]
    return "".join(it.removesuffix("\n") for it in texts[:2]) + "\n"


def test_of_several_each_is_found_by_its_tag() -> None:
    found = [restore.read(both(), it) for it in ("default", "r2", "other")]
    assert [it.stage for it in found] == ["completed", "queued", "uninitialized"]  # type: ignore[union-attr]


def test_what_went_wrong_last_is_told() -> None:
    text = both().replace("LastError: None", "LastError: 'Input/output error (x)' 3s ago.\n", 1)
    found = restore.read(text, "default")
    assert isinstance(found, RestoreState)
    assert found.error == "'Input/output error (x)' 3s ago."
    assert found.url.startswith("file://")
    assert found.version == 4615981488


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ERROR: something\n",
        both().replace("completed", "sleeping"),
        both().replace("Blocks: 103/103", "Blocks: many"),
        both().replace("Tag: default", "Tag: r2"),
        "Tag: default  UID: 888f7d",
        "no such thing\n" + both(),
    ],
)
def test_what_cannot_be_read_is_unknown_and_never_nothing(text: str) -> None:
    assert isinstance(restore.read(text, "r2"), Unknown)
