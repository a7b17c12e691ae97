"""What takes long is done beside all else: files of backups are deleted by workers of their own.

Nothing of it is kept anywhere. An operator that ends in the middle is followed by one that sees the
same object waiting, and begins anew: what is deleted already is not there to be deleted. What is
only too old is looked for once an hour: when it was is on record before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from stateward.core.errors import PeerError
from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome
from stateward.core.version import Version
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import BACKUPS, FoundationDBBackup
from stateward.fdb.backups import beside
from stateward.fdb.backups.caches import BackupCaches
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.cluster.hands.intent import Getter
from stateward.fdb.cluster.hands.saying import wrote
from stateward.fdb.status.backups.backup import BackupState
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey

#: Asks a database how the backup is now.
Look: TypeAlias = Callable[[], Awaitable[BackupState | Unknown]]
CONTROLLER: Final = "fdb-backup-chores"


@dataclass(frozen=True, slots=True)
class Chore:
    """Files that are to be deleted, for an object that waits for that; or only the old ones."""

    key: ObjectKey
    uid: str
    url: str
    version: Version
    #: How old they must be; None: all of them go, with the object.
    days: int | None = None
    #: Who tells how the backup is by then; None: that does not matter.
    look: Look | None = field(default=None, compare=False)


class Chores:
    """Who has asked for what, and what has become of it."""

    def __init__(self, deleting: list[tuple[ObjectKey, str]] | None = None) -> None:
        self._asked: dict[ObjectKey, Chore] = {}
        #: For which object files are being deleted right now, and where: of all namespaces.
        self._deleting = [] if deleting is None else deleting
        #: By the UID of who asked: for what; and empty, it is done; or why it is not.
        self._said: dict[str, tuple[Chore, str]] = {}
        self._wake: Callable[[ObjectKey], None] | None = None
        self._tell: Callable[[ObjectKey], None] | None = None

    def served_by(
        self, wake: Callable[[ObjectKey], None], tell: Callable[[ObjectKey], None]
    ) -> None:
        """Say who does them, and who is told when one is over."""
        self._wake, self._tell = wake, tell

    def ask(self, chore: Chore) -> str | None:
        """Have it done; return None while it is not over, then why it failed, or nothing."""
        found, said = self._said.get(chore.uid, (None, ""))
        if found == chore:
            return said
        if self._asked.get(chore.key) != chore:
            self._asked[chore.key] = chore
            if self._wake is not None:
                self._wake(chore.key)
        return None

    def again(self, chore: Chore) -> None:
        """Let it be asked for once more."""
        self.forget(chore.uid)

    def withdraw(self, key: ObjectKey) -> None:
        """Let nothing be begun for an object any more."""
        self._asked.pop(key, None)

    def forget(self, uid: str) -> None:
        """Let go of what was kept for an object."""
        self._said.pop(uid, None)

    @contextmanager
    def deleting(self, chore: Chore) -> Generator[None, None, None]:
        """Note that files are deleted meanwhile."""
        it = chore.key, chore.url
        self._deleting.append(it)
        try:
            yield
        finally:
            self._deleting.remove(it)

    def empties(self, url: str) -> ObjectKey | None:
        """Return for whom files are being deleted where others would be written."""
        return next((key for key, it in self._deleting if urls.touch(it, url)), None)

    def emptied(self, uid: str) -> str:
        """Return where all files of an object were deleted; empty: nowhere."""
        found = self._said.get(uid)
        return found[0].url if found is not None and not found[1] else ""

    def take(self, key: ObjectKey) -> Chore | None:
        """Return what is to be done for an object."""
        return self._asked.get(key)

    def end(self, chore: Chore, said: str | None) -> None:
        """Note what has become of it, and tell who asked; None: it was not tried."""
        if self._asked.get(chore.key) == chore:
            del self._asked[chore.key]
        if chore.days is None and said is not None:  # of all others the object itself tells
            self._said[chore.uid] = chore, said
        if self._tell is not None:
            self._tell(chore.key)


class Leading(Protocol):
    """Who knows whether we may act."""

    def check(self) -> None:
        """Raise NotLeader unless we are sure to lead."""


class Expirer(Protocol):
    """Who looks for what is too old."""

    async def run(self, chore: Chore, days: int) -> None:
        """Delete what is older than so many days, if the object still asks for that."""


class ChoreReconciler:
    """Does one chore at a time for each object, however long it takes."""

    def __init__(
        self,
        chores: Chores,
        expirer: Expirer,
        client: Getter,
        databases: BackupDatabases,
        leading: Leading,
        *,
        caches: BackupCaches,
    ) -> None:
        self._chores = chores
        self._caches = caches
        self._expirer = expirer
        self._client = client
        self._databases = databases
        self._leading = leading

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Delete what an object waits for, if it still does."""
        chore = self._chores.take(key)
        if chore is None:
            return DONE
        if chore.days is not None:
            try:
                await self._expirer.run(chore, chore.days)
            finally:
                self._chores.end(chore, "")
            return DONE
        said = ""
        try:
            with self._chores.deleting(chore):  # from before it is judged: nobody comes in between
                if not await self._is_wanted(chore):
                    self._chores.end(chore, None)
                    return DONE
                self._leading.check()
                await self._databases.files(chore.version).delete(chore.url)
            wrote("the files of a backup were deleted", object=str(key), url=urls.shown(chore.url))
        except PeerError as error:
            said = error.message
        except ValueError as error:  # that is no place to delete: trying again changes nothing
            said = str(error)
        self._chores.end(chore, said)
        return DONE

    async def _is_wanted(self, chore: Chore) -> bool:
        """Ask past the cache: what is deleted is gone for good."""
        try:
            live: FoundationDBBackup = await self._client.get(BACKUPS, chore.key)
        except NotFound:
            return False
        same = live.metadata.uid == chore.uid and live.metadata.deleting
        if not same or live.spec.deletion_policy != "cleanup":
            return False
        # It may have waited for its turn, and somebody reads there by now.
        return not beside.needing(self._caches, live, chore.url)
