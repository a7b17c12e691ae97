"""What is kept in mind for backups and restores, and whom its changes concern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from stateward.fdb.api.backups.backup import DEFAULT_TAG
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.backups.kinship import Kinship
from stateward.fdb.build.backup_agents import WholeDeployment
from stateward.kube.meta import Object, ObjectKey
from stateward.runtime.cache import Cache, Index
from stateward.runtime.informer import Informer
from stateward.runtime.triggers import Trigger

_CLUSTER: Final = "cluster"


def backups_by_cluster() -> Index[Any]:
    """File backups under their cluster; the cache of backups must have this index."""
    return Index(_CLUSTER, lambda it: (f"{it.metadata.namespace}/{it.spec.cluster_name}",))


def restores_by_cluster() -> Index[Any]:
    """File restores under the cluster that they go into."""
    return Index(_CLUSTER, lambda it: (str(destination_of(it)),))


def tag_of(backup: FoundationDBBackup) -> str:
    """Return what the database calls a backup."""
    return backup.spec.tag or DEFAULT_TAG


def cluster_of(backup: FoundationDBBackup) -> ObjectKey:
    """Return the key of the cluster of a backup."""
    return ObjectKey(backup.metadata.namespace, backup.spec.cluster_name)


def destination_of(restore: FoundationDBRestore) -> ObjectKey:
    """Return the key of the cluster that a restore goes into: for good, once that is on record."""
    begun = restore.status.begun
    noted = begun.cluster_name if begun is not None else ""
    return ObjectKey(restore.metadata.namespace, noted or restore.spec.destination_cluster_name)


@dataclass(frozen=True, slots=True)
class Everywhere:
    """What the parts of all namespaces share: neither databases nor places end at a namespace."""

    #: What is watched, each of a namespace by itself, or of all.
    clusters: list[Informer[FoundationDBCluster]] = field(default_factory=list)
    backups: list[Informer[FoundationDBBackup]] = field(default_factory=list)
    restores: list[Informer[FoundationDBRestore]] = field(default_factory=list)
    #: For which object files are being deleted right now, and where.
    deleting: list[tuple[ObjectKey, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BackupCaches:
    """Objects that are watched."""

    backups: Cache[FoundationDBBackup]
    restores: Cache[FoundationDBRestore]
    clusters: Cache[FoundationDBCluster]
    deployments: Cache[WholeDeployment]
    kinship: Kinship = field(default_factory=Kinship)
    everywhere: Everywhere = field(default_factory=Everywhere)

    def every_backup(self) -> Iterator[FoundationDBBackup]:
        """Yield the backups of all namespaces that are watched."""
        for it in self._of_backups():
            yield from it

    def every_restore(self) -> Iterator[FoundationDBRestore]:
        """Yield the restores of all namespaces that are watched."""
        for it in self._of_restores():
            yield from it

    def unseen(self) -> str:
        """Return why nobody knows all of them; empty: they are known."""
        informers: tuple[Informer[Any], ...] = (*self.everywhere.backups, *self.everywhere.restores)
        hidden = (f"{it.resource} must be readable: {it.unseen}" for it in informers if it.unseen)
        caches: tuple[Cache[Any], ...] = (*self._of_backups(), *self._of_restores())
        odd = (
            f"{it.resource} {one.metadata.key} must be readable: {one.problem}"
            for it in caches
            for one in it.malformed
        )
        return next(chain(hidden, odd), "")

    def _of_clusters(self) -> Sequence[Cache[FoundationDBCluster]]:
        return [it.cache for it in self.everywhere.clusters] or [self.clusters]

    def _of_backups(self) -> Sequence[Cache[FoundationDBBackup]]:
        return [it.cache for it in self.everywhere.backups] or [self.backups]

    def _of_restores(self) -> Sequence[Cache[FoundationDBRestore]]:
        return [it.cache for it in self.everywhere.restores] or [self.restores]

    def backups_of(self, cluster: ObjectKey) -> list[FoundationDBBackup]:
        """Return the backups of a cluster."""
        return [one for it in self._of_backups() for one in it.find(_CLUSTER, str(cluster))]

    def restores_into(self, cluster: ObjectKey) -> list[FoundationDBRestore]:
        """Return the restores into a cluster."""
        return [one for it in self._of_restores() for one in it.find(_CLUSTER, str(cluster))]

    def cluster(self, key: ObjectKey) -> FoundationDBCluster | None:
        """Return a cluster of any namespace that is watched."""
        found = (it.get(key) for it in self._of_clusters())
        return next((it for it in found if it is not None), None)

    def alike(self, cluster: ObjectKey) -> list[ObjectKey]:
        """Return the clusters that are parts of the same database, itself among them."""
        found = self.cluster(cluster)
        mine = self.kinship.marks(found) if found is not None else frozenset()
        every = chain.from_iterable(self._of_clusters())
        others = (it.metadata.key for it in every if mine & self.kinship.marks(it))
        return [cluster, *(it for it in others if it != cluster)]


# ------------------------------------------------------------------ whom changes concern
def backups_of_cluster(caches: BackupCaches) -> Trigger:
    """Return a trigger from a cluster to its backups."""

    def wake(item: Object) -> Iterable[ObjectKey]:
        return (it.metadata.key for it in caches.backups_of(item.metadata.key))

    return wake


def restores_of_cluster(caches: BackupCaches) -> Trigger:
    """Return a trigger from a cluster to the restores into it."""

    def wake(item: Object) -> Iterable[ObjectKey]:
        return (it.metadata.key for it in caches.restores_into(item.metadata.key))

    return wake


def neighbours(caches: BackupCaches) -> Trigger:
    """Return a trigger from a backup to the others of its database: who waits for it is told."""

    def wake(item: FoundationDBBackup) -> Iterator[ObjectKey]:
        for cluster in caches.alike(cluster_of(item)):
            keys = (it.metadata.key for it in caches.backups_of(cluster))
            yield from (it for it in keys if it in caches.backups)  # others are woken elsewhere

    return wake


def restores_beside(caches: BackupCaches) -> Trigger:
    """Return a trigger from a backup to the restores into its database: its agents do them."""

    def wake(item: FoundationDBBackup) -> Iterator[ObjectKey]:
        for cluster in caches.alike(cluster_of(item)):
            keys = (it.metadata.key for it in caches.restores_into(cluster))
            yield from (it for it in keys if it in caches.restores)

    return wake
