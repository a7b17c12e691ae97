"""What Prometheus is told about backups: whether they go on, and how much would be lost.

Each series is of one FoundationDBBackup, by namespace and name, and goes when that goes; there are
no other labels, so a backup has never more than these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stateward.core import moments
from stateward.fdb.api.backups.backup import FoundationDBBackupStatus
from stateward.fdb.decide.backups.views import BackupView
from stateward.fdb.tell.metrics import Reading

#: Name -> what it says, and the labels that come after the backup's namespace and name.
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "stateward_fdb_backup_running": ("1 while the backup goes on.", ()),
    "stateward_fdb_backup_paused": ("1 while no agent of the cluster works.", ()),
    "stateward_fdb_backup_restorable": ("1 while it can be restored.", ()),
    "stateward_fdb_backup_lag_seconds": ("How old the newest point is that can be restored.", ()),
    "stateward_fdb_backup_proven": ("1 while the last drill restored it, 0 while it did not.", ()),
    "stateward_fdb_backup_proven_timestamp_seconds": ("When a drill last restored it.", ()),
}


def readings(view: BackupView, status: FoundationDBBackupStatus, now: float) -> Iterator[Reading]:
    """Yield how a backup is; of one that nobody knows, how old what was known last is by now."""
    state = view.state
    is_others = view.holder or view.is_unmanaged or view.is_elsewhere
    if state is not None and not is_others:
        yield Reading("stateward_fdb_backup_running", (), state.stage.is_active)
        yield Reading("stateward_fdb_backup_paused", (), state.paused)
        yield Reading("stateward_fdb_backup_restorable", (), view.restorable is not None)
    details = status.backup_details
    point = details.latest_restorable if details is not None else None
    if point is not None and point.time:
        yield Reading("stateward_fdb_backup_lag_seconds", (), _age(point.time, now))
    yield from _drills(status)


def _drills(status: FoundationDBBackupStatus) -> Iterator[Reading]:
    """Yield what drills have shown; nothing where there was none."""
    drills = status.drill
    if drills is None:
        return
    if drills.last is not None:
        yield Reading("stateward_fdb_backup_proven", (), drills.last.proven)
    if drills.proven and (at := _moment(drills.proven)) is not None:
        yield Reading("stateward_fdb_backup_proven_timestamp_seconds", (), at)


def _age(text: str, now: float) -> float:
    """Return how long ago a moment of a status was, which anybody may have written."""
    moment = _moment(text)
    return 0.0 if moment is None else max(0.0, now - moment)


def _moment(text: str) -> float | None:
    try:
        return moments.from_rfc3339(text)
    except ValueError:
        return None
