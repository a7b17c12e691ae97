"""Reads ``fdbbackup status --json``: how the backup of a tag is.

Nothing that is missing or of another type becomes an answer: what cannot be read is Unknown, and a
tag that never was is only that where the database says all that it says then.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stateward.core.facts import Unknown


class BackupStage(StrEnum):
    """How far a backup is, in the words of the database."""

    NEVER = "NeverRan"
    SUBMITTED = "Submitted"
    RUNNING = "Running"
    DIFFERENTIAL = "RunningDifferentially"
    COMPLETED = "Completed"
    ABORTING = "Aborting"
    ABORTED = "Aborted"
    ERRORED = "Errored"

    @property
    def is_active(self) -> bool:
        """Whether it goes on, or would if somebody did the work."""
        return self in _ACTIVE


_ACTIVE: Final = frozenset({BackupStage.SUBMITTED, BackupStage.RUNNING, BackupStage.DIFFERENTIAL})


@dataclass(frozen=True, slots=True)
class Point:
    """A version, when that was, and for how long it has been the latest."""

    version: int
    seconds: float
    #: Of what can be restored, while it goes on.
    lag: float | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """What is told while it runs."""

    stops: bool
    interval: int
    log_bytes: int
    range_bytes: int
    log_end: Point
    snapshot_end: Point | None = None
    #: Percent of the snapshot that is being taken that should be there by now.
    expected: float | None = None
    #: At which version that one began; None: nobody says.
    snapshot_begin: int | None = None


@dataclass(frozen=True, slots=True)
class BackupState:
    """The backup of a tag."""

    tag: str
    stage: BackupStage
    #: Whether all agents of the cluster do nothing, whatever the tag.
    paused: bool
    uid: str = ""
    url: str = ""
    #: Until when it can be restored; None: it cannot be.
    restorable: Point | None = None
    running: Running | None = None

    @property
    def written(self) -> float:
        """Until when all is written down that there was; 0: it does not go on, or nobody says."""
        goes_on = self.running is not None and self.stage.is_active
        return self.running.log_end.seconds if goes_on and self.running is not None else 0.0


class _Point(Struct, frozen=True):
    Version: int
    EpochSeconds: float = 0.0
    LagSeconds: float | None = None


class _Stage(Struct, frozen=True):
    Name: str


class _Snapshot(Struct, frozen=True):
    ExpectedProgress: float | None = None
    Begin: _Point | None = None


class _Document(Struct, frozen=True):
    SchemaVersion: str
    BackupAgentsPaused: bool
    Tag: str
    UID: str = ""
    Status: _Stage | UnsetType = UNSET
    Restorable: bool | UnsetType = UNSET
    LatestRestorablePoint: _Point | None = None
    DestinationURL: str = ""
    StopAfterSnapshot: bool | UnsetType = UNSET
    SnapshotIntervalSeconds: int = 0
    LogBytesWritten: int = 0
    RangeBytesWritten: int = 0
    LatestLogEnd: _Point | None = None
    LatestSnapshotEnd: _Point | None = None
    CurrentSnapshot: _Snapshot | None = None


_DECODER: Final = msgspec.json.Decoder(_Document)


def read(text: str, tag: str) -> BackupState | Unknown:
    """Return how the backup of a tag is, by what was printed; this never raises."""
    try:
        found = _DECODER.decode(text[max(0, text.find("{")) : text.rfind("}") + 1])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        return Unknown(f"fdbbackup must tell of backup {tag} as JSON: {error}")
    if found.Tag != tag:
        return Unknown(f"fdbbackup must tell of backup {tag}, and tells of {found.Tag}")
    if found.Status is UNSET:
        if found.UID or found.Restorable is not UNSET:
            return Unknown(f"fdbbackup must tell how far backup {tag} is")
        return BackupState(tag, BackupStage.NEVER, found.BackupAgentsPaused)
    try:
        stage = BackupStage(found.Status.Name)
    except ValueError:
        return Unknown(f"fdbbackup tells that backup {tag} is {found.Status.Name}: unheard of")
    return _state(found, stage)


def _state(found: _Document, stage: BackupStage) -> BackupState | Unknown:
    if found.Restorable is True and found.LatestRestorablePoint is None:
        return Unknown(f"fdbbackup must tell until when backup {found.Tag} can be restored")
    return BackupState(
        found.Tag,
        stage,
        found.BackupAgentsPaused,
        found.UID,
        found.DestinationURL,
        _point(found.LatestRestorablePoint) if found.Restorable is True else None,
        _running(found),
    )


def _running(found: _Document) -> Running | None:
    if isinstance(found.StopAfterSnapshot, UnsetType) or found.LatestLogEnd is None:
        return None
    snapshot = found.CurrentSnapshot
    begin = snapshot.Begin if snapshot is not None else None
    return Running(
        found.StopAfterSnapshot,
        found.SnapshotIntervalSeconds,
        found.LogBytesWritten,
        found.RangeBytesWritten,
        Point(found.LatestLogEnd.Version, found.LatestLogEnd.EpochSeconds),
        _point(found.LatestSnapshotEnd),
        snapshot.ExpectedProgress if snapshot is not None else None,
        begin.Version if begin is not None else None,
    )


def _point(found: _Point | None) -> Point | None:
    return None if found is None else Point(found.Version, found.EpochSeconds, found.LagSeconds)
