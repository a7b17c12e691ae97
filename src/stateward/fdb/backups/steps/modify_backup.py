"""ModifyBackup: what can be changed of one that goes on is as asked."""

from __future__ import annotations

from functools import partial

from stateward.core.outcome import Outcome
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.backups.steps.strange import Strange
from stateward.fdb.decide.backups import backing
from stateward.fdb.decide.backups.views import Modify


class ModifyBackup:
    """Changes its period, and where it lies."""

    name = "ModifyBackup"

    def __init__(self, acting: Acting, strange: Strange) -> None:
        self._acting = acting
        self._strange = strange

    async def run(self, seen: BackupSeen) -> Outcome:
        """Change what differs."""
        found = backing.modifying(seen.view)
        if not isinstance(found, Modify):
            return found
        if seen.admin is None:
            return backing.UNREACHED
        if found.url and (taken := await self._strange.at(seen.view, seen.admin, found.url)):
            return taken
        tag, ask = (
            seen.view.tag,
            partial(
                seen.admin.modify,
                url=found.url or "",
                snapshot_seconds=found.period,
                uid=found.uid,
            ),
        )
        said = "BackupModified", f"the backup of tag {tag} {_words(found)}"
        return await self._acting.order(BACKUPS, seen.backup, said, ask, tag)


def _words(found: Modify) -> str:
    parts = []
    if found.url is not None:
        parts.append(f"goes on at {urls.shown(found.url)}")
    if found.period is not None:
        parts.append(f"has a snapshot every {found.period} s, after the one that goes on")
    return " and ".join(parts)
