"""HoldBackup: who wants something to end with the object has the object wait for that."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen


class HoldBackup:
    """Has the finalizer on it, unless nothing is to be done once it is deleted."""

    name = "HoldBackup"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: BackupSeen) -> Outcome:
        """Put it on, or take it off."""
        view = seen.view
        held = (view.policy != "noop" and not view.is_unmanaged) or view.is_drilled
        return await self._acting.hold(BACKUPS, seen.backup, held=held) or DONE
