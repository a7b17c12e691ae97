"""What is too old of a backup is looked for and deleted, and the object tells of it."""

from __future__ import annotations

from collections.abc import Mapping

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Unknown
from stateward.fdb.admin.backups.ports import Expiry
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.backup import BackupExpiry
from stateward.fdb.api.backups.kinds import BACKUPS, FoundationDBBackup
from stateward.fdb.backups import beside
from stateward.fdb.backups.caches import BackupCaches
from stateward.fdb.backups.cleaning.chores import Chore, Leading
from stateward.fdb.backups.observe import tried_at
from stateward.fdb.backups.ports import BackupDatabases, BackupFiles
from stateward.fdb.cluster.hands.saying import wrote
from stateward.fdb.decide.backups import retaining
from stateward.kube.client import Client, MergePatch
from stateward.kube.errors import ApiError, NotFound


class Expiring:
    """Looks at a container, and deletes what no restore could still need."""

    def __init__(
        self,
        client: Client,
        databases: BackupDatabases,
        leading: Leading,
        clock: Clock,
        *,
        caches: BackupCaches,
    ) -> None:
        self._client = client
        self._caches = caches
        self._databases = databases
        self._leading = leading
        self._clock = clock

    async def run(self, chore: Chore, days: int) -> None:
        """Do it once, unless somebody did within the hour; what went wrong is told."""
        try:
            live = await self._wanted(chore, days)
            if live is None or not self._is_due(live):
                return
            metadata = live.metadata
            version = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
            await self._tell(chore, version, {"tried": self._now()})
        except ApiError:
            return  # nothing was done, and the next pass asks for it again
        told = await self._expired(chore, days, live.status.retention or BackupExpiry())
        await self._tell(chore, {"uid": chore.uid}, told)

    async def _wanted(self, chore: Chore, days: int) -> FoundationDBBackup | None:
        """Ask past the cache: what is deleted is gone for good."""
        try:
            live = await self._client.get(BACKUPS, chore.key)
        except NotFound:
            return None
        asked = live.spec.retention
        if live.metadata.uid != chore.uid or live.metadata.deleting:
            return None
        if asked is None or asked.days != days or beside.needing(self._caches, live, chore.url):
            return None
        return live

    def _is_due(self, live: FoundationDBBackup) -> bool:
        return retaining.is_due(tried_at(live.status.retention), self._clock.now())

    async def _expired(self, chore: Chore, days: int, before: BackupExpiry) -> dict[str, object]:
        """Return what to tell of it; never by force, so that what can be restored still can."""
        files = self._databases.files(chore.version)
        try:
            found = await self._cut(files, chore.url, days)
            if isinstance(found, Unknown):
                return {"trouble": found.reason}
            if found is None or found.before <= before.before_version:
                return {"trouble": None}
            what = Expiry(before_version=found.before, restorable_after=found.restorable_after)
            # To read took its time: somebody may restore from there by now, or keep more.
            if not await _goes_on(chore) or await self._wanted(chore, days) is None:
                return {"trouble": None}
            self._leading.check()
            await files.expire(chore.url, what)
        except PeerError as error:
            return {"trouble": error.message}
        except ValueError as error:  # that is no place to look at: trying again changes nothing
            return {"trouble": str(error)}
        where = urls.shown(chore.url)
        wrote("old data of a backup was deleted", object=str(chore.key), url=where)
        return {
            "trouble": None,
            "lastExpired": self._now(),
            "beforeVersion": found.before,
            "restorableAfter": found.restorable_after,
        }

    async def _cut(self, files: BackupFiles, url: str, days: int) -> retaining.Cut | Unknown | None:
        found = await files.describe(url)
        if isinstance(found, Unknown):
            return found
        if not found.exists:
            return Unknown("nothing is there, as far as the operator can see: mount it there, too")
        return retaining.cut(found, days)

    async def _tell(
        self, chore: Chore, metadata: Mapping[str, object], told: Mapping[str, object]
    ) -> None:
        body = {"metadata": dict(metadata), "status": {"retention": dict(told)}}
        patch = MergePatch(body)
        await self._client.patch(BACKUPS, chore.key, patch, subresource="status")

    def _now(self) -> str:
        return moments.to_rfc3339(self._clock.now())


async def _goes_on(chore: Chore) -> bool:
    """Tell whether the backup still goes on where old data is to be deleted, now that it is."""
    if chore.look is None:
        return False
    state = await chore.look()
    if isinstance(state, Unknown):
        return False
    return state.stage.is_active and urls.is_same(state.url, chore.url)
