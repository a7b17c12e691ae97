"""Moments of a schedule: which came, which comes next, and where a backup of one lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from stateward.core import moments
from stateward.core.calendar.schedule import Schedule
from stateward.core.errors import SpecInvalid
from stateward.fdb.api.backups.backup import BackupTimes
from stateward.fdb.api.backups.drill import BackupDrills
from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.api.backups.stores import url_of
from stateward.kube.crd.findings import Problem

#: Seconds between two moments at least: a backup is looked at about twice in that time.
_SHORTEST: Final = 60.0
#: Seconds by which clocks of operators may differ.
_AHEAD: Final = 300.0


@dataclass(frozen=True, slots=True)
class Times:
    """What a schedule says now."""

    since: float | None = None
    last: float | None = None
    due: float | None = None
    next: float | None = None


def problems(backup: FoundationDBBackup) -> tuple[Problem, ...]:
    """Return why a schedule is none, of backups or of drills; nothing: it is one, or none is."""
    drill = backup.spec.drill
    drills = drill.schedule if drill is not None else ""
    said = {"spec.schedule": backup.spec.schedule, "spec.drill.schedule": drills}
    found = (_problem(where, text) for where, text in said.items())
    return tuple(it for it in found if it is not None)


def _problem(where: str, text: str) -> Problem | None:
    try:
        schedule = _schedule(text)
    except SpecInvalid as error:
        return Problem(where, error.message.removeprefix(f"{error.field}: "), error.hint)
    if schedule is not None and 0 < schedule.every < _SHORTEST:
        words = f"must be due once a minute at most, got every {schedule.every:g} s"
        return Problem(where, words, "make it rarer; a backup that goes on has every moment")
    return None


def times_of(backup: FoundationDBBackup, now: float) -> Times:
    """Return what a schedule says; nothing of one that is none."""
    told = backup.status.schedule or BackupTimes()
    return _times(backup.spec.schedule, moment(told.since), moment(told.last), now)


def drill_times_of(backup: FoundationDBBackup, now: float) -> Times:
    """Return what the schedule of drills says; nothing of one that is none."""
    drill, told = backup.spec.drill, backup.status.drill or BackupDrills()
    return _times(drill.schedule if drill is not None else "", moment(told.since), None, now)


def _times(text: str, since: float | None, last: float | None, now: float) -> Times:
    try:
        schedule = _schedule(text)
    except SpecInvalid:
        return Times()
    if schedule is None:
        return Times()
    if since is None or since > now + _AHEAD:  # by a clock that was wrong
        return Times(None, last, None, schedule.next(now, now))
    return Times(since, last, schedule.last(since, now), schedule.next(since, now))


def place_of(backup: FoundationDBBackup) -> str:
    """Return where it shall lie: in a blob store, each of a schedule by itself.

    Of folders, beginning one makes one of its own.
    """
    spec, name = backup.spec, backup.metadata.name
    blob, told = spec.blob_store_configuration, backup.status.schedule
    last = told.last if told is not None else None
    if blob is None or not spec.schedule or not last:
        return url_of(blob, spec.file_url, name)
    stamp = last.replace("-", "").replace(":", "")
    own = f"{blob.backup_name or name}-{stamp}"
    return url_of(replace(blob, backup_name=own), spec.file_url, name)


def _schedule(text: str) -> Schedule | None:
    return Schedule.parse(text) if text else None


def moment(text: str | None) -> float | None:
    """Read a moment of a status, which anybody may have written."""
    try:
        return moments.from_rfc3339(text) if text else None
    except ValueError:
        return None
