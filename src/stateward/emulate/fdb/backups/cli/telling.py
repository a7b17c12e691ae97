"""How a backup is told: as text for people, and as JSON; both in the words of the real one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from stateward.emulate.fdb.backups import backing
from stateward.emulate.fdb.backups.cli.describing import rounded
from stateward.emulate.fdb.backups.state import Backup, Snapshot, Stage
from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.state import State

_SCHEMA: Final = "1.0.0"
NONE: Final = "No previous backups found."
PAUSED: Final = "All backup agents have been paused."
DESCRIBED: Final = {
    Stage.SUBMITTED: "has been submitted",
    Stage.RUNNING: "has been started",
    Stage.DIFFERENTIAL: "is differential",
    Stage.COMPLETED: "has been completed",
    Stage.ABORTED: "has been aborted",
}
_NOTHING: Final = "N/A"


def as_json(state: State, tag: str) -> str:
    """Return how the backup of a tag is."""
    backup = state.backups.backups.get(tag)
    found: dict[str, Any] = {
        "SchemaVersion": _SCHEMA,
        "BackupAgentsPaused": state.backups.paused,
        "Tag": tag,
    }
    if backup is not None:
        found |= _about(state, backup)
    return json.dumps(found, separators=(",", ":"))


def _about(state: State, backup: Backup) -> dict[str, Any]:
    stage, latest = backup.stage, backup.restorable
    found: dict[str, Any] = {
        "UID": backup.uid,
        "Status": {
            "Name": str(stage),
            "Description": DESCRIBED[stage],
            "Completed": stage is Stage.COMPLETED,
            "Running": stage.is_active,
        },
        "Restorable": latest is not None,
    }
    if latest is not None:
        lag = {"LagSeconds": _seconds_since(state, latest)} if stage.is_active else {}
        found["LatestRestorablePoint"] = point(latest) | lag
    found["DestinationURL"] = backup.url
    if stage in (Stage.RUNNING, Stage.DIFFERENTIAL):
        found |= _progress(state, backup)
    return found | {"Errors": []}  # the real one never has any there


def _progress(state: State, backup: Backup) -> dict[str, Any]:
    found: dict[str, Any] = {
        "StopAfterSnapshot": backup.stops,
        "SnapshotIntervalSeconds": backup.interval,
        "LogBytesWritten": backup.log_bytes,
        "RangeBytesWritten": backup.range_bytes,
        "LatestLogEnd": point(backup.logged),
    }
    if backup.last_end >= 0:
        found["LatestSnapshotEnd"] = point(backup.last_end)
    if (snapshot := backup.snapshot) is not None:
        found["CurrentSnapshot"] = {
            "Begin": point(snapshot.begin),
            "EndTarget": point(_target(snapshot)),
            "IntervalSeconds": snapshot.interval,
            "ExpectedProgress": rounded(expected(state, snapshot)),
            "LastDispatch": {
                **point(snapshot.dispatched),
                "ShardsBehind": len(backing.due(state, snapshot)),
            },
        }
    return found


def point(version: int) -> dict[str, Any]:
    """Return a version, and when that was."""
    seconds = version // A_SECOND
    return {"Version": version, "EpochSeconds": seconds, "Timestamp": moment(version)}


def moment(version: int) -> str:
    """Return when a version was, as the real ones write it.

    >>> moment(1_794_708_410_000_000)
    '2026/11/15.02:06:50+0000'
    """
    return datetime.fromtimestamp(version // A_SECOND, UTC).strftime("%Y/%m/%d.%H:%M:%S%z")


def expected(state: State, snapshot: Snapshot) -> float:
    """Return how much of a snapshot should be done by now, in percent."""
    if not snapshot.interval:
        return 100.0
    return 100.0 * (state.now - snapshot.begin / A_SECOND) / snapshot.interval


def _target(snapshot: Snapshot) -> int:
    return snapshot.begin + snapshot.interval * A_SECOND


def _seconds_since(state: State, version: int) -> int:
    return max(0, state.store.at(state.now) - version) // A_SECOND


# -------------------------------------------------------------------------- as text


def as_text(state: State, tag: str, errors: int) -> str:
    """Return how the backup of a tag is, for people."""
    backup = state.backups.backups.get(tag)
    found = f"{NONE}\n" if backup is None else _text(state, backup, errors)
    return found + (f"\n{PAUSED}\n" if state.backups.paused else "")


def _text(state: State, backup: Backup, errors: int) -> str:
    lines = [_headline(backup), f"BackupUID: {backup.uid}", f"BackupURL: {backup.url}"]
    if backup.stage in (Stage.RUNNING, Stage.DIFFERENTIAL):
        lines += _details(state, backup)
    return "\n".join([*lines, *(_errors(state, backup) if errors else ())]) + "\n"


def _headline(backup: Backup) -> str:
    on = f"on tag `{backup.tag}'"
    match backup.stage:
        case Stage.SUBMITTED:
            return f"The backup {on} is in progress (just started) to {backup.url}."
        case Stage.RUNNING:
            return f"The backup {on} is in progress to {backup.url}."
        case Stage.DIFFERENTIAL:
            return f"The backup {on} is restorable but continuing to {backup.url}."
        case Stage.COMPLETED:
            version = backup.restorable if backup.restorable is not None else -1
            return f"The previous backup {on} at {backup.url} completed at version {version}."
        case Stage.ABORTED:
            return f"The previous backup {on} at {backup.url} {DESCRIBED[backup.stage]}."


def _details(state: State, backup: Backup) -> list[str]:
    snapshot = backup.snapshot
    how_far = "The initial snapshot is still running."
    if backup.first_end >= 0:
        share = expected(state, snapshot) if snapshot is not None else 100.0
        how_far = (
            f"Current snapshot progress target is {share:.2f}%"
            " (>100% means the snapshot is supposed to be done)"
        )
    begin = snapshot.begin if snapshot is not None else -1
    target = _target(snapshot) if snapshot is not None else -1
    stops = "Yes" if backup.stops else "No"
    return [
        f"Snapshot interval is {backup.interval} seconds.  {how_far}",
        "",
        "Details:",
        f" LogBytes written - {backup.log_bytes}",
        f" RangeBytes written - {backup.range_bytes}",
        f" Last complete log version and timestamp        - {_when(backup.logged)}",
        f" Last complete snapshot version and timestamp   - {_when(backup.last_end)}",
        f" Current Snapshot start version and timestamp   - {_when(begin)}",
        f" Expected snapshot end version and timestamp    - {_when(target)}",
        f" Backup supposed to stop at next snapshot completion - {stops}",
    ]


def _when(version: int) -> str:
    return f"{_NOTHING}, {_NOTHING}" if version < 0 else f"{version}, {moment(version)}"


def _errors(state: State, backup: Backup) -> list[str]:
    """Tell what went wrong since it could last be restored, which may hold it up; and before."""
    latest = backup.restorable
    since, before = list[str](), list[str]()
    for text, when in backup.errors.values():
        line = f"{_ago(_seconds_since(state, when))} ago : {text}"
        (since if when >= (latest or 0) else before).append(line)
    found = list[str]()
    if since:
        point_ = "initialization" if latest is None else _latest(state, latest)
        found += [f"Recent Errors (since {point_})", *since]
    return [*found, *(["Older Errors", *before] if before else [])]


def _latest(state: State, version: int) -> str:
    return f"latest restore point {_ago(_seconds_since(state, version))} ago"


def _ago(seconds: int) -> str:
    """Return how long something was.

    >>> _ago(7), _ago(90), _ago(7200), _ago(172_800)
    ('7 second(s)', '1.50 minute(s)', '2.00 hour(s)', '2.00 day(s)')
    """
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{seconds / length:.2f} {unit}(s)"
    return f"{seconds} second(s)"
