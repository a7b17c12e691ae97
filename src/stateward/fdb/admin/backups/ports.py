"""What we ask of backups and restores, and have be done about them, in small parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from stateward.core.facts import Unknown
from stateward.fdb.model.backups import BackupOrder, KeyRange, RestoreOrder
from stateward.fdb.status.backups.backup import BackupState
from stateward.fdb.status.backups.container import Container
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState


@dataclass(frozen=True, slots=True)
class Expiry:
    """Which data of a container is taken away; unforced, it can still be restored afterwards."""

    #: Before a version, or older than so many days; exactly one of both.
    before_version: int | None = None
    older_than_days: int | None = None
    #: From which version on it must still be possible to restore, or for how many days back.
    restorable_after: int | None = None
    restorable_days: int | None = None
    force: bool = False

    def __post_init__(self) -> None:
        """Be one of both."""
        if (self.before_version is None) == (self.older_than_days is None):
            raise ValueError("data expires before a version, or after days: exactly one of both")


class BackupReader(Protocol):
    """Who knows how backups are."""

    async def status(self, tag: str) -> BackupState | Unknown:
        """Return how the backup of a tag is; raise only when nobody could even ask."""

    async def complaints(self, tag: str) -> tuple[str, ...]:
        """Return what agents could not do since it could last be restored, if anybody says so."""

    async def describe(self, url: str) -> Container | Unknown:
        """Return what can be restored from a container; raise where that is no place for one."""


class BackupAdmin(BackupReader, Protocol):
    """Who has backups begin, change and end.

    A change raises DatabaseRefused or the like where nothing was done, OutcomeUnknown where nobody
    knows: read back, and do not repeat.
    """

    async def start(self, order: BackupOrder) -> bool:
        """Have one begin; return whether anybody is there who does the work."""

    async def modify(
        self, tag: str, *, url: str = "", snapshot_seconds: int | None = None, uid: str = ""
    ) -> None:
        """Have one go elsewhere, or slower; with a uid, only that one."""

    async def discontinue(self, tag: str) -> None:
        """Have one end once it can be restored."""

    async def abort(self, tag: str) -> None:
        """End one at once."""

    async def pause(self) -> None:
        """Have all agents of the cluster do nothing, also for restores."""

    async def resume(self) -> None:
        """Have them go on."""

    async def expire(self, url: str, what: Expiry) -> None:
        """Take old data away."""

    async def delete(self, url: str) -> None:
        """Have a container be gone; one that is not there is."""


class RestoreAdmin(Protocol):
    """Who has restores begin and end; errors are as with backups."""

    async def status(self, tag: str) -> RestoreState | Unknown:
        """Return how the restore of a tag is; raise only when nobody could even ask."""

    async def rehearse(self, order: RestoreOrder) -> int:
        """Return to which version one would restore, and begin none; raise where none could be."""

    async def start(self, order: RestoreOrder) -> None:
        """Have one begin: the database is locked from now on until it is over."""

    async def abort(self, tag: str) -> RestoreStage | Unknown:
        """End one, so that the database is unlocked; return how far it was, or is now."""


class Clearing(Protocol):
    """Who takes keys away, once for each restore; errors are as with backups."""

    async def is_cleared(self, tag: str) -> bool:
        """Tell whether that was done for the restore of a tag; raise when nobody knows."""

    async def clear(self, tag: str, ranges: Sequence[KeyRange]) -> None:
        """Take them away, all keys of users without ranges; what was done is not done again."""


class KeyCounter(Protocol):
    """Who tells whether a database has keys."""

    async def first_keys(self) -> int:
        """Return how many keys of users there are, up to a hundred; raise when nobody knows."""
