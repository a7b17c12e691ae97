"""What a database says "no" to about backups and restores, in words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stateward.core.outcome import Blocked, Outcome, Retry
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.cluster.hands.refused import trouble

#: Seconds until it is looked once more at what was so already, and until a lock may be gone.
_SOON: Final = 1.0
_LOCKED: Final = 15.0
#: It is, or is no more, what was asked for: who did it may have been us, whose answer was lost.
_ALREADY: Final = frozenset(
    {
        Refusal.BACKUP_RUNNING,
        Refusal.BACKUP_NOT_RUNNING,
        Refusal.BACKUP_ANOTHER,
        Refusal.RESTORE_RUNNING,
        Refusal.UNCHANGED,
    }
)
_EMPTY: Final = (
    "a restore writes only where there is nothing: clear those keys of the destination, which is"
    " yours to decide; or restore other spec.keyRanges; or have them cleared, by another object"
    " with spec.destinationPolicy: clear"
)
#: What only a person can mend: the reason, and how.
_MENDED: Final[Mapping[Refusal, tuple[str, str]]] = {
    Refusal.NOT_EMPTY: ("DestinationNotEmpty", _EMPTY),
    Refusal.BACKUP_MISSING: ("BackupMissing", "see whether the URL is that of a backup"),
    Refusal.NOT_RESTORABLE: (
        "VersionNotRestorable",
        "fdbbackup describe tells which versions can be restored: set spec.backupVersion to one",
    ),
    Refusal.DESTINATION_INVALID: ("DestinationInvalid", "mend where spec says that it lies"),
}


def refused(what: str, error: DatabaseRefused) -> Outcome:
    """Return what to tell: by the next look, later, or not before somebody has mended it."""
    if error.refusal in _ALREADY:
        return Retry(_SOON, "LookingAgain", f"{what}: {error.message}")
    if error.refusal is Refusal.LOCKED:
        words = f"the database is locked, as by another restore: {error.message}"
        return Retry(_LOCKED, "DatabaseLocked", words)
    mended = _MENDED.get(error.refusal)
    if mended is None:
        return trouble(what, error)
    reason, hint = mended
    return Blocked(reason, error.message, hint)
