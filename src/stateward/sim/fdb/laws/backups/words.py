"""F-B4 and F-B7: what is said of backups and restores is so."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.emulate.fdb.backups.state import Progress
from stateward.fdb.api.backups.kinds import RESTORES, FoundationDBBackup, FoundationDBRestore
from stateward.fdb.model.backups import KeyRange
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.local.store import StoreEvent
from stateward.sim.fdb.backups.shelf import keys_of
from stateward.sim.fdb.laws.backups.wishes import Wishes
from stateward.sim.laws.watchman import Actor


class Words:
    """F-B4: a restore is called completed when all keys that it asks for are as they were then."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        wishes.scene.watchman.on_change(RESTORES.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.before is None or event.change is Change.DELETED or not actor.operates:
            return
        before = decode(event.before.text, FoundationDBRestore)
        now = decode(event.now.text, FoundationDBRestore)
        if now.status.state != "completed" or before.status.state == "completed":
            return
        for sentence in self._wrong(now):
            words = f"{now.metadata.key} is called completed, and {sentence}"
            self._wishes.report("F-B4", actor, words)

    def _wrong(self, restore: FoundationDBRestore) -> Iterator[str]:
        found = self._wishes.live_restore(restore.metadata.uid)
        if found is None or found[0].stage is not Progress.COMPLETED:
            yield "it is not"
            return
        live, database = found
        asked = restore.spec.backup_version
        version = live.version if asked is None else asked
        was, now = self._wishes.shelf.keys(version), keys_of(database)
        for span in _ranges(restore):
            for key in sorted(was.keys() | now.keys()):
                if span.begin <= key < span.end and was.get(key) != now.get(key):
                    yield f"{key!r} is {now.get(key)!r}, and was {was.get(key)!r} at {version}"


def _ranges(restore: FoundationDBRestore) -> list[KeyRange]:
    found = [KeyRange.parse(it.start, it.end) for it in restore.spec.key_ranges]
    return found or [KeyRange(b"", b"\xff")]


def untrue(wishes: Wishes) -> Iterator[str]:
    """F-B7: yield what is said at rest and is not so, and what nobody holds any more."""
    for backup in wishes.backups():
        yield from _untrue(wishes, backup)
    locked = [it for it in wishes.databases() if it.store.locked_by]
    for it in locked:
        if not any(one.stage.is_active for one in it.backups.restores.values()):
            yield "a database is locked, and nothing is restored into it"


def _untrue(wishes: Wishes, backup: FoundationDBBackup) -> Iterator[str]:
    key, told = backup.metadata.key, backup.status
    if told.generations.reconciled != backup.metadata.generation:
        return
    details, live = told.backup_details, wishes.live(backup.spec.tag)
    if details is None:
        return
    wish = backup.spec.backup_state or "Running"
    if details.running is not (live is not None):
        yield f"{key} says running: {details.running}, and that is not so"
    if wish == "Stopped" and live is not None:
        yield f"{key} is called stopped, and goes on"
    if any(it.backups.paused is not details.paused for it in wishes.databases()):
        yield f"{key} says paused: {details.paused}, and that is not so"
