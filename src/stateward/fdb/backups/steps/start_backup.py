"""StartBackup: one that shall go on, and does not, is begun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Unknown
from stateward.core.outcome import Blocked, Outcome
from stateward.fdb.admin.backups.ports import BackupAdmin
from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.api.backups.stores import knobs
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.decide.backups import backing, belonging
from stateward.fdb.decide.backups.views import Start
from stateward.fdb.model.backups import BackupOrder
from stateward.fdb.status.backups.container import Container

#: Seconds for which what lies in a store is not read again.
_AGAIN: Final = 600.0
_PARTITIONED: Final = "--partitioned-log-experimental"


class StartBackup:
    """Begins it; a database begins none under a tag that goes on already."""

    name = "StartBackup"

    def __init__(self, acting: Acting, clock: Clock) -> None:
        self._acting = acting
        self._clock = clock
        #: By the UID of an object: where it found another's backup, and until when that counts.
        self._strange: dict[str, tuple[str, float]] = {}

    async def run(self, seen: BackupSeen) -> Outcome:
        """Begin it, if it is time."""
        found = backing.starting(seen.view)
        if not isinstance(found, Start) or seen.admin is None:
            return found if not isinstance(found, Start) else backing.UNREACHED
        view = seen.view
        if taken := await self._taken(seen, seen.admin, found.url):
            return taken
        order = BackupOrder(
            view.tag,
            found.url,
            view.period,
            continuous=not view.is_one_time,
            parameters=tuple(_parameters(seen.backup.spec)),
        )
        said = "BackupBegun", f"the backup of tag {view.tag} is begun"
        return await self._acting.order(BACKUPS, seen.backup, said, seen.admin.start, order)

    async def _taken(self, seen: BackupSeen, admin: BackupAdmin, url: str) -> Blocked | None:
        """Return that a backup is there of which this database knows nothing, as far as is seen."""
        uid, now = seen.view.uid, self._clock.monotonic()
        if not belonging.must_look(seen.view, url):
            return None
        before, until = self._strange.get(uid, ("", 0.0))
        if before != url or until <= now:
            self._strange.pop(uid, None)
            if not belonging.has_data(await _described(admin, url)):
                return None
            self._strange[uid] = url, now + _AGAIN
        whose = "a database that knows nothing of this one"
        return belonging.refused(url, whose, "; or delete that backup, and wait ten minutes")


async def _described(admin: BackupAdmin, url: str) -> Container | Unknown:
    try:
        return await admin.describe(url)
    except PeerError as error:
        return Unknown(error.message)


def _parameters(spec: FoundationDBBackupSpec) -> Iterator[str]:
    """Yield what else the program is told: knobs of agents are its own, too."""
    if spec.backup_type == "partitioned_log":
        yield _PARTITIONED
    if spec.encryption_key_path:
        yield from ("--encryption-key-file", spec.encryption_key_path)
    yield from knobs(spec.custom_parameters)
