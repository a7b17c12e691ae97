"""ScheduleBackup: what is due is on record before it is begun, so that it is begun once."""

from __future__ import annotations

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.outcome import Outcome
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.decide.backups import scheduling
from stateward.fdb.decide.backups.views import Arm, Due, Skip
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json


class ScheduleBackup:
    """Deals with each moment of a schedule once."""

    name = "ScheduleBackup"

    def __init__(self, acting: Acting, clock: Clock) -> None:
        self._acting = acting
        self._clock = clock

    async def run(self, seen: BackupSeen) -> Outcome:
        """Put on record what becomes of the moment that came."""
        found = scheduling.scheduling(seen.view)
        match found:
            case Arm():
                now = moments.to_rfc3339(self._clock.now())
                await self._write(seen, {"schedule": {"since": now}})
                return done("BackupScheduled", "moments of its schedule count from now on")
            case Due(moment, former):
                at = moments.to_rfc3339(moment)
                times = {"since": at, "last": at}
                await self._write(seen, {"schedule": times, "formerUID": former})
                return done("BackupDue", f"the backup of {at} is to be begun")
            case Skip(moment):
                at = moments.to_rfc3339(moment)
                await self._write(seen, {"schedule": {"since": at, "skipped": at}})
                words = f"the backup of {at} is left out: the one before still goes on"
                return done("BackupSkipped", words)
            case _:
                return found

    async def _write(self, seen: BackupSeen, status: Json) -> None:
        metadata = seen.backup.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": status,
        }
        client = self._acting.client
        await client.patch(BACKUPS, metadata.key, MergePatch(body), subresource="status")
