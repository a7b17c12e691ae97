"""The status of a backup or a restore that was not looked at: what was seen last still stands."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from stateward.core.outcome import Done, Outcome
from stateward.fdb.api.backups.backup import FoundationDBBackupStatus
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.backups.restore import FoundationDBRestoreStatus
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.doing import short
from stateward.kube import conditions
from stateward.kube.meta import Condition


def backup_status_unseen(
    backup: FoundationDBBackup, said: Sequence[tuple[str, Outcome]], now: float
) -> FoundationDBBackupStatus:
    """Return the status with why nothing is done for a backup."""
    status = backup.status
    return replace(
        status,
        observed_generation=backup.metadata.generation,
        doing=_doing(said) or status.doing,
        blockers=blockers(status.blockers, said, (), now),
        conditions=conditions.merge(
            status.conditions, _conditions(said, backup.metadata.generation), now
        ),
    )


def restore_status_unseen(
    restore: FoundationDBRestore, said: Sequence[tuple[str, Outcome]], now: float
) -> FoundationDBRestoreStatus:
    """Return the status with why nothing is done for a restore."""
    status = restore.status
    return replace(
        status,
        observed_generation=restore.metadata.generation,
        doing=_doing(said) or status.doing,
        blockers=blockers(status.blockers, said, (), now),
        conditions=conditions.merge(
            status.conditions, _conditions(said, restore.metadata.generation), now
        ),
    )


def _doing(said: Sequence[tuple[str, Outcome]]) -> str:
    return next((short(it.message) for _, it in said if not isinstance(it, Done)), "")


def _conditions(said: Sequence[tuple[str, Outcome]], generation: int) -> list[Condition]:
    why = next((it for _, it in said if not isinstance(it, Done)), None)
    if why is None or isinstance(why, Done):
        return []
    return [
        Condition(
            type=type_,
            status="False",
            reason=why.reason,
            message=why.message,
            observed_generation=generation,
        )
        for type_ in ("Ready", "Progressing")
    ]
