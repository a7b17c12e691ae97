"""Databases reached for backups and restores, by sessions and in turns of their own.

Nobody who looks after a cluster waits for them: what is asked of a blob store takes its time. And
who deletes files, which takes longest, has turns beside all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from stateward.core.version import Version
from stateward.fdb.admin.backups.clearing import KeyClearing
from stateward.fdb.admin.backups.counting import ProgramCounter
from stateward.fdb.admin.backups.ports import BackupAdmin, Clearing, KeyCounter, RestoreAdmin
from stateward.fdb.admin.backups.programs import ProgramBackups, ProgramRestores
from stateward.fdb.admin.keyed.optimistic import ProgramKeys
from stateward.fdb.admin.session import Session, Shared, Tls
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectKey

#: How many programs run at once, for databases; and for files.
_DATABASES, _FILES = 6, 4
#: How many of these for one cluster: one that does not answer leaves turns to others.
_EACH: Final = 2
_FILES_OF: Final = "files of backups"


@dataclass(slots=True)
class _Kept:
    """The session of a cluster: for a version, found by this."""

    version: Version
    connection: ConnectionString
    session: Session


class ProgramBackupDatabases:
    """Keeps a session for every cluster, and one for files of each version."""

    def __init__(self, shared: Shared, tls: Tls | None = None) -> None:
        self._shared = replace(shared, turns=Turns(_DATABASES, _EACH))
        self._for_files = replace(shared, turns=Turns(_FILES))
        self._tls = tls
        self._kept: dict[ObjectKey, _Kept] = {}
        self._files: dict[Version, Session] = {}

    def backups(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> BackupAdmin:
        """Return the backups of a cluster."""
        return ProgramBackups(self._session(cluster, connection, version))

    def restores(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> RestoreAdmin:
        """Return the restores into a cluster."""
        return ProgramRestores(self._session(cluster, connection, version))

    def clearing(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> Clearing:
        """Return who takes keys of a cluster away."""
        return KeyClearing(ProgramKeys(self._session(cluster, connection, version)))

    def counter(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> KeyCounter:
        """Return who counts keys of a cluster."""
        return ProgramCounter(self._session(cluster, connection, version))

    def files(self, version: Version) -> BackupAdmin:
        """Return who deletes files, with programs of a version."""
        if version not in self._files:
            whose = f"{_FILES_OF} {version}"
            self._files[version] = Session(self._for_files, whose, version, self._tls)
        return ProgramBackups(self._files[version])

    def forget(self, cluster: ObjectKey) -> None:
        """Remove the files of a cluster that is gone."""
        kept = self._kept.pop(cluster, None)
        if kept is not None:
            kept.session.close()

    def close(self) -> None:
        """Remove all of them."""
        for cluster in list(self._kept):
            self.forget(cluster)
        for session in self._files.values():
            session.close()
        self._files.clear()

    def _session(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> Session:
        kept = self._kept.get(cluster)
        if kept is None or kept.version != version:
            self.forget(cluster)
            session = Session(self._shared, f"{cluster}", version, self._tls)
            kept = self._kept[cluster] = _Kept(version, connection, session)
            session.find_by(connection)
        elif kept.connection != connection:
            kept.connection = connection
            kept.session.find_by(connection)
        return kept.session
