"""What is done for a drill: its objects are made, found to be made, and deleted by their UIDs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.api.backups.drill import BackupDrills
from stateward.fdb.api.backups.kinds import BACKUPS, FoundationDBBackup
from stateward.fdb.backups.caches import cluster_of
from stateward.fdb.backups.drills.pieces import RESOURCES, number_of
from stateward.fdb.backups.drills.seen import Drilled
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.backups.whereabouts import Place
from stateward.fdb.build import drills as build
from stateward.fdb.decide.backups.drills import Counted, DrillView, Piece
from stateward.fdb.model.names import drill_name
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import merge_diff

_SOURCE = "fdbcli"


@dataclass(frozen=True, slots=True)
class DrillHands:
    """By what it is done."""

    client: Client
    databases: BackupDatabases

    async def is_current(self, backup: FoundationDBBackup) -> bool:
        """Ask past the cache whether the record is still the one that we judged by.

        Who comes late, or just started, would make something for a drill that is over.
        """
        try:
            live = await self.client.get(BACKUPS, backup.metadata.key)
        except NotFound:
            return False
        mine, theirs = backup.metadata, live.metadata
        same = (mine.uid, mine.generation) == (theirs.uid, theirs.generation)
        run = (live.status.drill or BackupDrills()).run
        told = (backup.status.drill or BackupDrills()).run
        return same and not theirs.deleting and run == told

    async def make(self, backup: FoundationDBBackup, drilled: Drilled, piece: Piece) -> None:
        """Make an object; one that is there by now is looked at in the next pass."""
        document = _document(backup, drilled, piece)
        if document is not None:
            with suppress(AlreadyExists):
                await self.client.create(RESOURCES[piece], document)

    async def drop(self, backup: FoundationDBBackup, pieces: Mapping[Piece, str]) -> None:
        """Delete objects, each only if it is the one that has this UID."""
        metadata = backup.metadata
        key = ObjectKey(metadata.namespace, drill_name(metadata.name))
        for piece, uid in pieces.items():
            with suppress(NotFound):
                await self.client.delete(RESOURCES[piece], key, uid=uid)

    async def count(self, backup: FoundationDBBackup, drilled: Drilled) -> Counted:
        """Count keys in the throw-away cluster; where there are none, in the backed-up one."""
        metadata = backup.metadata
        key = ObjectKey(metadata.namespace, drill_name(metadata.name))
        there = await self._count(key, drilled.there, drilled.view.now)
        if isinstance(there, Unknown) or there.value:
            return Counted(there)
        return Counted(
            there, await self._count(cluster_of(backup), drilled.before, drilled.view.now)
        )

    async def _count(self, key: ObjectKey, place: Place, now: float) -> Fact[int]:
        if place.connection is None or place.version is None:
            return Unknown("there is no database to ask")
        counter = self.databases.counter(key, place.connection, place.version)
        try:
            return Known(await counter.first_keys(), now, _SOURCE)
        except PeerError as error:
            return Unknown(error.message)

    async def record(self, backup: FoundationDBBackup, told: BackupDrills | None) -> None:
        """Write what is on record onto the very version that was judged by."""
        metadata, before = backup.metadata, backup.status.drill
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": {"drill": None if told is None else _difference(before, told)},
        }
        await self.client.patch(BACKUPS, metadata.key, MergePatch(body), subresource="status")


def _difference(before: BackupDrills | None, told: BackupDrills) -> Json:
    found: Json = merge_diff(plain(before or BackupDrills()), plain(told))
    return found


def _document(backup: FoundationDBBackup, drilled: Drilled, piece: Piece) -> Json | None:
    """Return an object as it is made; None: nothing says any more what it shall be."""
    asked, run, view = backup.spec.drill, drilled.view.run, drilled.view
    version = drilled.there.version or drilled.before.version
    if asked is None or run is None or version is None:
        return None
    plan = build.Plan(backup, asked, number_of(run), str(version))
    match piece:
        case Piece.CLUSTER:
            if drilled.source is None:
                return None
            return build.throw_away(plan, drilled.source, dict(drilled.labels))
        case Piece.AGENTS:
            return build.restorers(plan)
        case Piece.RESTORE:
            return build.restoring(plan, _cluster_uid(view), run.url, run.version)


def _cluster_uid(view: DrillView) -> str:
    return view.run.uids.get(Piece.CLUSTER, "") if view.run is not None else ""
