"""UpdateBackupStatus: what was learned is on record before anybody acts by it."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.decide.backups import backing
from stateward.kube.client import MergePatch


class UpdateBackupStatus:
    """Says why a backup cannot be acted on, and records once what its tag had before it came.

    So a backup that is to be made once is told from one that somebody else made under its tag.
    """

    name = "UpdateBackupStatus"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: BackupSeen) -> Outcome:
        """Look whether anything may be done."""
        told = backing.known(seen.view)
        view = seen.view
        if told is not DONE or not view.may_act:
            return told
        if view.place and not urls.is_same(view.place, view.url):
            # Whoever goes on after us would take a move of ours for somebody else's.
            await self._record(seen, {"place": ""})
        if view.former_uid is not None:
            return told
        await self._record(seen, {"formerUID": backing.former_uid(view, seen.backup.status)})
        return done("BackupSeen", "what the tag had before is on record", tag=view.tag)

    async def _record(self, seen: BackupSeen, words: dict[str, str]) -> None:
        metadata = seen.backup.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": words,
        }
        client = self._acting.client
        await client.patch(BACKUPS, metadata.key, MergePatch(body), subresource="status")
