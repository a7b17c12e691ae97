"""F-B3 and F-B5: whose files are deleted, and when an object may go."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.emulate.fdb.backups import urls as folders
from stateward.emulate.fdb.console import BLOBS
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import (
    BACKUPS,
    RESTORES,
    FoundationDBBackup,
    FoundationDBRestore,
)
from stateward.fdb.model.names import BACKUP_FINALIZER
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import Object
from stateward.local.store import StoreEvent
from stateward.sim.fdb.backups.shelf import Typed
from stateward.sim.fdb.laws.backups.wishes import Wishes
from stateward.sim.laws.watchman import Actor


class Ends:
    """Every deletion of files, and every finalizer that goes.

    F-B3: files go when their object is deleted and asks for it, no backup writes there, and no
    other object's backup lies there. F-B5: a finalizer goes from who is deleted when all has ended
    that shall end with it: the backup, its files, a restore.
    """

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        wishes.shelf.typed.append(self._typed)
        wishes.scene.watchman.on_change(BACKUPS.name, self._backup_changed)
        wishes.scene.watchman.on_change(RESTORES.name, self._restore_changed)

    # ------------------------------------------------------------------ files

    def _typed(self, typed: Typed) -> None:
        if not typed.who or typed.call.verb not in ("delete", "expire"):
            return
        actor = self._wishes.scene.watchman.actor_of(typed.who, typed.call)
        url = typed.call.said("-d")
        is_deleted = typed.call.verb == "delete"
        for sentence in self._wrong(actor, url) if is_deleted else self._unasked(actor):
            self._wishes.report("F-B3", actor, sentence)

    def _unasked(self, actor: Actor) -> Iterator[str]:
        if not any(it.spec.retention is not None for it in self._asked(actor)):
            yield "old data is deleted, and nobody asks for it"

    def _wrong(self, actor: Actor, url: str) -> Iterator[str]:
        folder = folders.folder(url, BLOBS)
        every = [one for it in self._wishes.databases() for one in it.backups.backups.values()]
        for it in every:
            if it.stage.is_active and folders.folder(it.url, BLOBS) == folder:
                yield f"files of the backup on tag {it.tag} are deleted, and it goes on"
        for backup in self._wishes.backups():
            details, key = backup.status.backup_details, backup.metadata.key
            if key != actor.about and details is not None and urls.is_same(details.url, url):
                yield f"files are deleted for {actor.about} that are {key}'s"
        asked = self._asked(actor)
        if not any(it.metadata.deleting and it.spec.deletion_policy == "cleanup" for it in asked):
            yield "files are deleted, and nobody asks for it"

    def _asked(self, actor: Actor) -> list[FoundationDBBackup]:
        """Return what the object is, or was of late, for which somebody acts."""
        recent = [] if actor.about is None else self._wishes.recent(actor.about)
        return [it for it in recent if it is not None]

    # ------------------------------------------------------------------ objects

    def _backup_changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.before is None or not actor.operates:
            return
        before = decode(event.before.text, FoundationDBBackup)
        now = decode(event.now.text, FoundationDBBackup)
        if not _is_let_go(before, now, event):
            return
        for sentence in [] if self._is_excused(before) else self._left(before):
            self._wishes.report("F-B5", actor, f"{before.metadata.key} may go, and {sentence}")

    def _is_excused(self, backup: FoundationDBBackup) -> bool:
        """Tell whether its end may be nobody's concern: its cluster is gone, its tag another's."""
        metadata, tag = backup.metadata, backup.spec.tag
        others = [it for it in self._wishes.backups() if it.metadata.uid != metadata.uid]
        has_cluster = self._wishes.has_cluster(metadata.namespace, backup.spec.cluster_name)
        return not has_cluster or any(it.spec.tag == tag for it in others)

    def _left(self, backup: FoundationDBBackup) -> list[str]:
        """Return what is left of a backup that should have ended with its object."""
        asked = [it for it in self._wishes.recent(backup.metadata.key) if it is not None]
        policies = {it.spec.deletion_policy for it in asked} or {backup.spec.deletion_policy}
        if not policies <= {"stop", "cleanup"}:
            return []
        if self._wishes.live(backup.spec.tag) is not None:
            return ["its backup goes on"]
        details = backup.status.backup_details
        url = details.url if details is not None else ""
        is_left = policies == {"cleanup"} and bool(self._wishes.shelf.below(url))
        return [f"its files at {url} are there"] if is_left else []

    def _restore_changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.before is None or not actor.operates:
            return
        before = decode(event.before.text, FoundationDBRestore)
        now = decode(event.now.text, FoundationDBRestore)
        if not _is_let_go(before, now, event):
            return
        metadata = before.metadata
        found = self._wishes.live_restore(metadata.uid)
        if found is None or not found[0].stage.is_active:
            return
        if self._wishes.has_cluster(metadata.namespace, before.spec.destination_cluster_name):
            self._wishes.report("F-B5", actor, f"{metadata.key} may go, and its restore goes on")


def _is_let_go(before: Object, now: Object, event: StoreEvent) -> bool:
    """Tell whether a change takes the finalizer from an object that is deleted."""
    if not before.metadata.deleting or BACKUP_FINALIZER not in before.metadata.finalizers:
        return False
    return event.change is Change.DELETED or BACKUP_FINALIZER not in now.metadata.finalizers
