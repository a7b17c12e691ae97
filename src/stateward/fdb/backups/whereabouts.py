"""The cluster that a backup or a restore names: is there one, and how is its database found?

That there is none is asked past the cache: an operator that just started, or that looks after
others, sees none either.
"""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.version import Version
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.build.backup_agents import Around
from stateward.fdb.cluster.hands.intent import Getter
from stateward.fdb.decide.backups.views import ClusterIs
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.selector import LabelSelector
from stateward.runtime.cache import Cache


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster, and how its database is found; without a connection it has none."""

    is_: ClusterIs
    uid: str = ""
    connection: ConnectionString | None = None
    version: Version | None = None
    around: Around | None = None
    #: Whether another operator looks after it, and after all that names it.
    is_others: bool = False


class Places:
    """Finds clusters."""

    def __init__(
        self, clusters: Cache[FoundationDBCluster], client: Getter, ours: LabelSelector
    ) -> None:
        self._clusters = clusters
        self._client = client
        self._ours = ours

    async def find(self, key: ObjectKey) -> Place:
        """Return the cluster of a name."""
        cluster = self._clusters.get(key)
        if cluster is not None:
            return _place(cluster)
        try:
            live = await self._client.get(CLUSTERS, key)
        except NotFound:
            return Place(ClusterIs.GONE)
        is_ours = self._ours.matches(live.metadata.labels)
        return Place(ClusterIs.UNMADE, live.metadata.uid, is_others=not is_ours)

    def labels_of(self, cluster: FoundationDBCluster) -> dict[str, str]:
        """Return those labels of a cluster by which this operator looks after it."""
        labels = cluster.metadata.labels
        keys = {it.key for it in self._ours.requirements} & labels.keys()
        return {it: labels[it] for it in sorted(keys)}


def _place(cluster: FoundationDBCluster) -> Place:
    status, uid = cluster.status, cluster.metadata.uid
    connection, version = _connection(status.connection_string), _version(status.running_version)
    if not status.configured or connection is None:
        return Place(ClusterIs.UNMADE, uid)
    tls = any(it.tls for it in connection.coordinators)
    around = Around(cluster.metadata.name, normalized(cluster.spec), tls, uid)
    return Place(
        ClusterIs.THERE, uid, connection, version or _version(cluster.spec.version), around
    )


def _connection(text: str) -> ConnectionString | None:
    try:
        return ConnectionString.parse(text)
    except ValueError:
        return None


def _version(text: str) -> Version | None:
    try:
        return Version.parse(text)
    except ValueError:
        return None
