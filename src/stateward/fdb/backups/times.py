"""Moments of a schedule: which came, which comes next, and where a backup of one lies."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from stateward.core import moments
from stateward.core.calendar.schedule import Schedule
from stateward.core.errors import SpecInvalid
from stateward.fdb.api.backups.backup import BackupTimes
from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.api.backups.stores import url_of
from stateward.kube.crd.findings import Problem


@dataclass(frozen=True, slots=True)
class Times:
    """What a schedule says now."""

    since: float | None = None
    last: float | None = None
    due: float | None = None
    next: float | None = None


def problems(backup: FoundationDBBackup) -> tuple[Problem, ...]:
    """Return why a schedule is none; nothing: it is one, or there is none."""
    try:
        _schedule(backup)
    except SpecInvalid as error:
        words = error.message.removeprefix(f"{error.field}: ")
        return (Problem(error.field, words, error.hint),)
    return ()


def times_of(backup: FoundationDBBackup, now: float) -> Times:
    """Return what a schedule says; nothing of one that is none."""
    try:
        schedule = _schedule(backup)
    except SpecInvalid:
        return Times()
    if schedule is None:
        return Times()
    told = backup.status.schedule or BackupTimes()
    since, last = _moment(told.since), _moment(told.last)
    if since is None:
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


def _schedule(backup: FoundationDBBackup) -> Schedule | None:
    text = backup.spec.schedule
    return Schedule.parse(text) if text else None


def _moment(text: str | None) -> float | None:
    """Read a moment of a status, which anybody may have written."""
    try:
        return moments.from_rfc3339(text) if text else None
    except ValueError:
        return None
