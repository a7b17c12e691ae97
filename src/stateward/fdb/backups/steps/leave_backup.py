"""LeaveBackup: an object that is deleted goes once all has ended that shall end with it."""

from __future__ import annotations

from dataclasses import replace

from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.core.version import Version
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.cleaning.chores import Chore, Chores
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.decide.backups import backing
from stateward.fdb.decide.backups.views import Abort, DeleteData, LetGo, Resume

#: Seconds until it is tried once more to delete files that could not be.
_AGAIN = 15.0


class LeaveBackup:
    """Ends it, has its files deleted by somebody who takes the time, and lets the object go."""

    name = "LeaveBackup"

    def __init__(self, acting: Acting, chores: Chores) -> None:
        self._acting = acting
        self._chores = chores

    async def run(self, seen: BackupSeen) -> Outcome:
        """Do the next thing."""
        uid = seen.backup.metadata.uid
        found = backing.leaving(replace(seen.view, emptied=self._chores.emptied(uid)))
        if not isinstance(found, DeleteData):
            self._chores.withdraw(seen.backup.metadata.key)
        match found:
            case LetGo():
                return await self._let_go(seen)
            case Abort():
                return await self._abort(seen)
            case Resume():
                return await self._resume(seen)
            case DeleteData(url):
                return await self._delete(seen, url)
            case _:
                return found

    async def _abort(self, seen: BackupSeen) -> Outcome:
        if seen.admin is None:
            return backing.UNREACHED
        tag = seen.view.tag
        said = "BackupAborted", f"the backup of tag {tag} ends at once"
        return await self._acting.order(BACKUPS, seen.backup, said, seen.admin.abort, tag)

    async def _resume(self, seen: BackupSeen) -> Outcome:
        if seen.admin is None:
            return backing.UNREACHED
        said = "BackupResumed", "all backup agents of the cluster go on: who had them pause goes"
        return await self._acting.order(BACKUPS, seen.backup, said, seen.admin.resume)

    async def _delete(self, seen: BackupSeen, url: str) -> Outcome:
        metadata = seen.backup.metadata
        version = seen.version or _version(seen.backup.spec.version)
        if version is None:
            return Blocked(
                "SpecInvalid",
                "spec.version must be three numbers with dots between, as in 7.3.63: programs of it"
                " delete the files",
                "mend it; or set spec.deletionPolicy: stop, which keeps them",
            )
        chore = Chore(metadata.key, metadata.uid, url, version)
        said = self._chores.ask(chore)
        if said is None:
            return Wait("BackupBeingDeleted", "the files of the backup are being deleted")
        if said:
            words = f"the files of the backup could not all be deleted: {said}"
            self._chores.again(chore)
            return Retry(_AGAIN, "BackupNotDeleted", words)
        return await self._let_go(seen)

    async def _let_go(self, seen: BackupSeen) -> Outcome:
        found = await self._acting.hold(BACKUPS, seen.backup, held=False)
        if found is not None:  # else somebody else keeps the object, and it stays done
            self._chores.forget(seen.backup.metadata.uid)
        return found or DONE


def _version(text: str) -> Version | None:
    """Read a version that nobody has checked: who is deleted is not refused for its spec."""
    try:
        return Version.parse(text)
    except ValueError:
        return None
