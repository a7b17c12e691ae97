"""The objects of a drill, looked up by their name past the cache, and told from those of others.

Whose an object is, is a question of its owner, of the label that says which drill made it, and,
once that is on record, of its UID: who makes another one of that name has made none of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stateward.fdb.api.backups.kinds import (
    BACKUPS,
    RESTORES,
    FoundationDBBackup,
    FoundationDBRestore,
)
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBCluster
from stateward.fdb.decide.backups.drills import Found, Piece, Run
from stateward.fdb.model.names import DRILL, INSTANCE_LABEL, drill_name
from stateward.kube.client import Reader, Selection
from stateward.kube.errors import NotFound
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import Resource

RESOURCES: Final[Mapping[Piece, Resource[Any]]] = {
    Piece.CLUSTER: CLUSTERS,
    Piece.AGENTS: BACKUPS,
    Piece.RESTORE: RESTORES,
}


@dataclass(frozen=True, slots=True)
class Pieces:
    """What there is of a drill."""

    found: Mapping[Piece, Found] = field(default_factory=dict)
    #: Those that were made by this very drill.
    cluster: FoundationDBCluster | None = None
    restore: FoundationDBRestore | None = None
    #: How many process groups are left of its cluster, which is gone.
    groups_left: int = 0


NOTHING: Final = Pieces()


def number_of(run: Run) -> str:
    """Return what tells a drill from others of the backup: the second in which it began."""
    return str(int(run.began))


async def find(client: Reader, backup: FoundationDBBackup, run: Run | None) -> Pieces:
    """Look up all objects that are called as those of a drill."""
    metadata = backup.metadata
    key = ObjectKey(metadata.namespace, drill_name(metadata.name))
    objects = {it: await _live(client, RESOURCES[it], key) for it in Piece}
    found = {
        piece: _found(it.metadata, piece, metadata.uid, run)
        for piece, it in objects.items()
        if it is not None
    }
    ours = {piece: objects[piece] for piece, it in found.items() if it.is_ours}
    cluster, restore = ours.get(Piece.CLUSTER), ours.get(Piece.RESTORE)
    return Pieces(
        found,
        cluster if isinstance(cluster, FoundationDBCluster) else None,
        restore if isinstance(restore, FoundationDBRestore) else None,
        0 if cluster is not None else await _groups_left(client, key, run),
    )


async def _live(client: Reader, resource: Resource[Any], key: ObjectKey) -> Object | None:
    try:
        found: Object = await client.get(resource, key)
    except NotFound:
        return None
    return found


def _found(live: ObjectMeta, piece: Piece, owner: str, run: Run | None) -> Found:
    by = live.controller
    is_of_drills = by is not None and by.uid == owner and DRILL in live.labels
    is_ours = (
        run is not None
        and is_of_drills
        and live.labels[DRILL] == number_of(run)
        and run.uids.get(piece, live.uid) == live.uid
    )
    is_left = run is None and is_of_drills and not live.deleting
    return Found(live.uid, is_ours, live.deleting, is_left)


async def _groups_left(client: Reader, key: ObjectKey, run: Run | None) -> int:
    """Return how many pods with their volumes a cluster still has that is gone itself."""
    if run is None or run.phase != "Ending" or Piece.CLUSTER not in run.uids:
        return 0
    where = Selection(key.namespace, f"{INSTANCE_LABEL}={key.name}")
    listed = await client.list(PROCESS_GROUPS, where)
    owners = (it.metadata.controller for it in listed.items)
    return sum(it is not None and it.uid == run.uids[Piece.CLUSTER] for it in owners)
