"""ToggleBackupPaused: all agents of the cluster pause, or go on; there is one switch for all."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.decide.backups import backing
from stateward.fdb.decide.backups.views import Pause, Resume


class ToggleBackupPaused:
    """Turns it."""

    name = "ToggleBackupPaused"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: BackupSeen) -> Outcome:
        """Have them pause, or go on."""
        found = backing.pausing(seen.view)
        if not isinstance(found, Pause | Resume):
            return found
        if seen.admin is None:
            return backing.UNREACHED
        if isinstance(found, Pause):
            words = "all backup agents of the cluster pause, for every tag and for restores"
            said, ask = ("BackupPaused", words), seen.admin.pause
        else:
            said = "BackupResumed", "all backup agents of the cluster go on"
            ask = seen.admin.resume
        return await self._acting.order(BACKUPS, seen.backup, said, ask)
