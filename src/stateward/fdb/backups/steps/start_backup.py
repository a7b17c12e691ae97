"""StartBackup: one that shall go on, and does not, is begun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core.outcome import Outcome
from stateward.core.version import Version
from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.api.backups.stores import knobs
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.backups.steps.strange import Strange
from stateward.fdb.decide.backups import backing
from stateward.fdb.decide.backups.views import Start
from stateward.fdb.model.backups import BackupOrder
from stateward.fdb.model.versions import has_mutation_log_types

_PARTITIONED: Final = "partitioned-log-experimental"


class StartBackup:
    """Begins it; a database begins none under a tag that goes on already."""

    name = "StartBackup"

    def __init__(self, acting: Acting, strange: Strange) -> None:
        self._acting = acting
        self._strange = strange

    async def run(self, seen: BackupSeen) -> Outcome:
        """Begin it, if it is time."""
        found = backing.starting(seen.view)
        if not isinstance(found, Start) or seen.admin is None:
            return found if not isinstance(found, Start) else backing.UNREACHED
        view = seen.view
        if taken := await self._strange.at(view, seen.admin, found.url):
            return taken
        order = BackupOrder(
            view.tag,
            found.url,
            view.period,
            continuous=not view.is_one_time,
            parameters=tuple(start_words(seen.backup.spec, seen.version)),
        )
        said = "BackupBegun", f"the backup of tag {view.tag} is begun"
        return await self._acting.order(BACKUPS, seen.backup, said, seen.admin.start, order)


def start_words(spec: FoundationDBBackupSpec, version: Version | None) -> Iterator[str]:
    """Yield what else the program is told: knobs of agents are its own, too."""
    if spec.backup_type == "partitioned_log":
        if version is not None and has_mutation_log_types(version):
            yield from ("--mutation-log-type", _PARTITIONED)
        else:
            yield f"--{_PARTITIONED}"
    if spec.encryption_key_path:
        yield from ("--encryption-key-file", spec.encryption_key_path)
    yield from knobs(spec.custom_parameters)
