"""What is asked of a database about backups and restores, in small parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from stateward.core.version import Version
from stateward.fdb.model.backups.states import BackupState, RestoreState
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectKey


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOrder:
    """A backup that is to be begun."""

    tag: str
    url: str
    #: In how many seconds all is written once; None: it ends once all of it was.
    period: int | None
    is_partitioned: bool = False
    key_file: str = ""
    knobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOrder:
    """A restore that is to be begun."""

    tag: str
    url: str
    version: int | None = None
    ranges: Sequence[tuple[str, str]] = ()
    key_file: str = ""
    knobs: tuple[str, ...] = ()


class BackupAdmin(Protocol):
    """The backups of one database."""

    async def status(self, tag: str) -> BackupState:
        """Return how the backup of a tag is; one that never was has no name."""

    async def start(self, order: BackupOrder) -> None:
        """Begin it; raise DatabaseRefused when it goes on already."""

    async def modify(self, tag: str, uid: str, url: str | None, period: int | None) -> None:
        """Change the backup with this UID, if the tag has that one."""

    async def discontinue(self, tag: str) -> None:
        """Let it end with its snapshot."""

    async def abort(self, tag: str) -> None:
        """End it at once."""

    async def pause(self) -> None:
        """Let no agent of the database do anything, for no tag and no restore."""

    async def resume(self) -> None:
        """Let all agents go on."""


class RestoreAdmin(Protocol):
    """The restores into one database."""

    async def status(self, tag: str) -> RestoreState:
        """Return how the restore of a tag is; one that never was has no UID."""

    async def start(self, order: RestoreOrder) -> None:
        """Begin it; raise DatabaseRefused when there is something where it would write."""

    async def abort(self, tag: str) -> None:
        """End it at once."""


class BackupFiles(Protocol):
    """The files of backups, which need no database."""

    async def delete(self, url: str) -> None:
        """Delete all files of a backup, however long it takes; that it is not there is no error."""


class BackupDatabases(Protocol):
    """Who reaches databases for backups and restores, by programs of their version."""

    def backups(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> BackupAdmin:
        """Return the backups of a cluster; nobody is asked yet."""

    def restores(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> RestoreAdmin:
        """Return the restores into a cluster; nobody is asked yet."""

    def files(self, version: Version) -> BackupFiles:
        """Return who deletes files, with programs of a version."""
