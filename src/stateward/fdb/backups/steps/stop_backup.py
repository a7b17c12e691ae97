"""StopBackup: one that shall not go on, and does, ends with its snapshot."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.decide.backups import backing
from stateward.fdb.decide.backups.views import Discontinue


class StopBackup:
    """Lets it end."""

    name = "StopBackup"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: BackupSeen) -> Outcome:
        """Let it end, if it shall."""
        found = backing.stopping(seen.view)
        if not isinstance(found, Discontinue):
            return found
        if seen.admin is None:
            return backing.UNREACHED
        tag = seen.view.tag
        said = "BackupDiscontinued", f"the backup of tag {tag} ends with its snapshot"
        return await self._acting.order(BACKUPS, seen.backup, said, seen.admin.discontinue, tag)
