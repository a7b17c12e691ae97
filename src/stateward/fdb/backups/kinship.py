"""Which clusters are parts of one database, also while its coordinators change.

Each change of coordinators gives a database another id, and clusters hear of it one after another.
Meanwhile they are still known by coordinators that stayed, and by ids that they had before.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import Final

from stateward.core.memory import Memory
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.connection import ConnectionString

#: Clusters that are kept in mind, and ids of each.
_CLUSTERS: Final = 1000
_IDS: Final = 8


class Kinship:
    """Remembers by which ids the database of each cluster went."""

    def __init__(self) -> None:
        self._ids: Memory[None, deque[str]] = Memory(_CLUSTERS)

    def marks(self, cluster: FoundationDBCluster) -> frozenset[str]:
        """Return by what a database is known: who has one of these in common is part of it."""
        connection = _read(cluster.status.connection_string)
        if connection is None:
            return frozenset()
        ids = self._ids.recall(cluster.metadata.uid, None, lambda: deque(maxlen=_IDS))
        mine = f"{connection.description}:{connection.id}"
        if mine not in ids:
            ids.append(mine)
        where = (str(it).removesuffix(":tls") for it in connection.coordinators)
        return frozenset([*ids, *(f"{connection.description}@{it}" for it in where)])


@lru_cache(maxsize=_CLUSTERS)
def _read(text: str) -> ConnectionString | None:
    try:
        return ConnectionString.parse(text)
    except ValueError:
        return None
