"""UpdateBackupStatus: what was learned is on record before anybody acts by it."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.backup import FoundationDBBackupStatus
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.decide.backups import backing, belonging
from stateward.fdb.decide.backups.belonging import Belongs
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json


def _forgotten(status: FoundationDBBackupStatus) -> Json:
    """Return what schedules and drills told of the database of before: nothing of it is proven."""
    said: Json = {}
    if status.schedule is not None:
        said["schedule"] = {"last": None, "lastURL": None}
    if status.drill is not None:
        said["drill"] = {"last": None, "proven": None, "provenVersion": None}
        if status.drill.run is not None:
            said["drill"]["run"] = {"phase": "Ending"}
    return said


class UpdateBackupStatus:
    """Says why a backup cannot be acted on, and records of which database it is.

    What its tag had before it came is on record once for each:
    so a backup that is to be made once is told from one that somebody else made under its tag.
    """

    name = "UpdateBackupStatus"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: BackupSeen) -> Outcome:
        """Look whether anything may be done."""
        told, view = backing.known(seen.view), seen.view
        if told is not DONE or not view.may_act:
            return told
        if view.place and not urls.is_as_asked(view.place, view.url):
            # Whoever goes on after us would take a move of ours for somebody else's.
            await self._write(seen, {"place": None})
        found = belonging.belonging(view, seen.backup.status)
        if found is None:
            return told
        await self._record(seen, found)
        if found.is_new:
            words = "the cluster has another database, in which a backup is yet to be begun"
            return done("DatabaseReplaced", words, tag=view.tag)
        return done("BackupSeen", "what the tag had before is on record", tag=view.tag)

    async def _record(self, seen: BackupSeen, found: Belongs) -> None:
        said: Json = {
            "clusterUID": found.cluster_uid,
            "formerUID": found.former_uid,
            "formerURLs": list(found.former_urls) or None,
        }
        if found.is_new:
            said |= {"backupDetails": None, "retention": None, "place": None, "usedURLs": None}
        if found.is_new:
            said |= _forgotten(seen.backup.status)
        await self._write(seen, said)

    async def _write(self, seen: BackupSeen, said: Json) -> None:
        metadata = seen.backup.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": said,
        }
        client = self._acting.client
        await client.patch(BACKUPS, metadata.key, MergePatch(body), subresource="status")
