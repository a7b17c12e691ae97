"""What laws of backups share: what was asked for of late, and what databases have by now."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.core.errors import HouseError
from stateward.emulate.fdb.backups.state import Backup, Restore
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.backups.backup import DEFAULT_TAG
from stateward.fdb.api.backups.kinds import (
    BACKUPS,
    RESTORES,
    FoundationDBBackup,
    FoundationDBRestore,
)
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.decide.backups.restoring import tag_of
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.fdb.backups.shelf import Shelf
from stateward.sim.fdb.laws.scene import FRESH, Scene
from stateward.sim.laws.watchman import Actor


class Wishes:
    """All backups of a world, as they are and as they were of late."""

    def __init__(self, scene: Scene) -> None:
        if scene.it.shelf is None:
            raise HouseError("a world must have backups to be judged by their laws")
        self.scene = scene
        self.shelf: Shelf = scene.it.shelf
        self._said: dict[ObjectKey, list[tuple[float, FoundationDBBackup | None]]] = {}
        scene.watchman.on_change(BACKUPS.name, self._changed)

    def backups(self) -> list[FoundationDBBackup]:
        """Return the backups that there are."""
        every = self.scene.it.world.api.store.all(BACKUPS.name)
        return [decode(it.text, FoundationDBBackup) for it in every]

    def restores(self) -> list[FoundationDBRestore]:
        """Return the restores that there are."""
        every = self.scene.it.world.api.store.all(RESTORES.name)
        return [decode(it.text, FoundationDBRestore) for it in every]

    def recent(self, key: ObjectKey) -> list[FoundationDBBackup | None]:
        """Return all that a backup was of late; None: it was not there."""
        said, since = self._said.get(key, []), self.scene.now - FRESH - self.scene.late
        return [
            it
            for place, (_, it) in enumerate(said)
            if place + 1 == len(said) or said[place + 1][0] >= since
        ]

    def ever(self) -> list[ObjectKey]:
        """Return the names of all backups that there ever were."""
        return list(self._said)

    def has_cluster(self, namespace: str, name: str) -> bool:
        """Tell whether there is a cluster."""
        store = self.scene.it.world.api.store
        return store.get(CLUSTERS.name, ObjectKey(namespace, name)) is not None

    def databases(self) -> Iterator[Database]:
        """Yield the databases that are served by somebody."""
        yield from (it for it in self.scene.it.realm.databases if it.servers)

    def live(self, tag: str) -> Backup | None:
        """Return what goes on under a tag."""
        found = (it.backups.backups.get(tag or DEFAULT_TAG) for it in self.databases())
        return next((it for it in found if it is not None and it.stage.is_active), None)

    def live_restore(self, uid: str) -> tuple[Restore, Database] | None:
        """Return what a database has of the restore of an object."""
        for it in self.databases():
            found = it.backups.restores.get(tag_of(uid))
            if found is not None:
                return found, it
        return None

    def report(self, law: str, actor: Actor, sentence: str) -> None:
        """Write a violation down."""
        self.scene.report(law, actor, sentence)

    def _changed(self, _: Actor, event: StoreEvent) -> None:
        gone = event.change is Change.DELETED
        now = None if gone else decode(event.now.text, FoundationDBBackup)
        self._said.setdefault(event.now.key, []).append((self.scene.now, now))
