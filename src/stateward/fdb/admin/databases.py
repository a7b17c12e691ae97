"""Databases reached by FoundationDB's own programs, each with a cluster file of its own."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.version import Version
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.ports import Admin, Databases
from stateward.fdb.admin.session import Session, Shared, Tls
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectKey


@dataclass(slots=True)
class _Kept:
    """The session of a cluster: for a version, found by this."""

    version: Version
    connection: ConnectionString
    session: Session


class ProgramDatabases(Databases):
    """Keeps a session for every cluster: programs write into its file where coordinators went."""

    def __init__(self, shared: Shared, tls: Tls | None = None) -> None:
        self._shared = shared
        self._tls = tls
        self._kept: dict[ObjectKey, _Kept] = {}

    def reach(self, cluster: ObjectKey, connection: ConnectionString, version: Version) -> Admin:
        """Return the database of a cluster."""
        kept = self._kept.get(cluster)
        if kept is None or kept.version != version:
            self.forget(cluster)
            session = Session(self._shared, str(cluster), version, self._tls)
            kept = self._kept[cluster] = _Kept(version, connection, session)
            session.find_by(connection)
        elif kept.connection != connection:
            kept.connection = connection
            kept.session.find_by(connection)
        return Fdbcli(kept.session)

    def lacking(self, version: Version) -> str:
        """Return why databases of a version could not be reached; empty: they could."""
        return self._shared.binaries.lacking("fdbcli", version)

    def forget(self, cluster: ObjectKey) -> None:
        """Remove the files of a cluster that is gone."""
        kept = self._kept.pop(cluster, None)
        if kept is not None:
            kept.session.close()

    def close(self) -> None:
        """Remove all of them."""
        for cluster in list(self._kept):
            self.forget(cluster)
