"""StartBackup: one that shall go on, and does not, is begun."""

from __future__ import annotations

from stateward.core.outcome import Outcome
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.ports import BackupOrder
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.decide.backups import backing
from stateward.fdb.decide.backups.views import Start


class StartBackup:
    """Begins it; a database begins none under a tag that goes on already."""

    name = "StartBackup"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: BackupSeen) -> Outcome:
        """Begin it, if it is time."""
        found = backing.starting(seen.view)
        if not isinstance(found, Start) or seen.admin is None:
            return found if not isinstance(found, Start) else backing.UNREACHED
        view, spec = seen.view, seen.backup.spec
        order = BackupOrder(
            tag=view.tag,
            url=found.url,
            period=None if view.is_one_time else view.period,
            is_partitioned=spec.backup_type == "partitioned_log",
            key_file=spec.encryption_key_path,
            knobs=spec.custom_parameters,
        )
        said = "BackupBegun", f"the backup of tag {view.tag} is begun"
        return await self._acting.order(BACKUPS, seen.backup, said, seen.admin.start, order)
