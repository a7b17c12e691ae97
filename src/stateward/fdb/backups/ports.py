"""Who reaches databases for backups and restores: by programs of their version, or in memory."""

from __future__ import annotations

from typing import Protocol

from stateward.core.facts import Unknown
from stateward.core.version import Version
from stateward.fdb.admin.backups.ports import (
    BackupAdmin,
    Clearing,
    Expiry,
    KeyCounter,
    RestoreAdmin,
)
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status.backups.container import Container
from stateward.kube.meta import ObjectKey


class BackupFiles(Protocol):
    """Who deletes the files of backups, for which no database is needed."""

    async def describe(self, url: str) -> Container | Unknown:
        """Return what can be restored from a container."""

    async def expire(self, url: str, what: Expiry) -> None:
        """Take old data away; raise DatabaseRefused where it could not be restored any more."""

    async def delete(self, url: str) -> None:
        """Delete all files of a backup, however long it takes; that it is not there is no error."""


class BackupDatabases(Protocol):
    """Who reaches them."""

    def backups(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> BackupAdmin:
        """Return the backups of a cluster; nobody is asked yet."""

    def restores(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> RestoreAdmin:
        """Return the restores into a cluster; nobody is asked yet."""

    def clearing(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> Clearing:
        """Return who takes keys of a cluster away; nobody is asked yet."""

    def counter(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> KeyCounter:
        """Return who counts keys of a cluster; nobody is asked yet."""

    def files(self, version: Version) -> BackupFiles:
        """Return who deletes files, with programs of a version."""

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of what was kept for a cluster that is gone."""
