"""Who else has a say in where a backup lies, and in whether files there may go: from the caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stateward.core.facts import Fact, Known
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.backups.stores import url_of
from stateward.fdb.backups.caches import BackupCaches, cluster_of, tag_of
from stateward.fdb.backups.drills import seen as drills
from stateward.fdb.backups.times import place_of
from stateward.fdb.model.names import drill_name
from stateward.fdb.status.backups.backup import BackupState
from stateward.kube.meta import Object


def needing(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return who else has, or reads, what is about to be deleted; or that nobody knows all."""
    unseen = filter(None, [caches.unseen()])
    return *sharers(caches, backup, url), *readers(caches, backup, url), *unseen


def neighbours(caches: BackupCaches, backup: FoundationDBBackup) -> Iterator[FoundationDBBackup]:
    """Yield all backups of its database, itself among them."""
    for cluster in caches.alike(cluster_of(backup)):
        yield from caches.backups_of(cluster)


def has_say(caches: BackupCaches, backup: FoundationDBBackup) -> bool:
    """Tell whether it counts what an object asks for: one that goes, or is refused, does not."""
    if backup.metadata.deleting or backup.spec.backup_type == "unmanaged":
        return False
    return not holder(backup, [it for it in neighbours(caches, backup) if not _is_one(it, backup)])


def holder(backup: FoundationDBBackup, others: Iterable[FoundationDBBackup]) -> str:
    """Return the oldest object with the tag, if that is another: it has it until it is gone."""
    if backup.spec.backup_type == "unmanaged":
        return ""
    same = [it for it in others if tag_of(it) == tag_of(backup)]
    older = [it for it in same if it.spec.backup_type != "unmanaged" and _age(it) < _age(backup)]
    return min(older, key=_age).metadata.name if older else ""


def _is_one(one: FoundationDBBackup, other: FoundationDBBackup) -> bool:
    return one.metadata.uid == other.metadata.uid


def _age(backup: FoundationDBBackup) -> tuple[str, str]:
    return backup.metadata.creation_timestamp, backup.metadata.uid


def told(backup: FoundationDBBackup) -> str:
    """Return where a backup was seen to lie last; empty: nobody saw it."""
    details = backup.status.backup_details
    return details.url if details is not None else ""


def lies(backup: FoundationDBBackup, live: Fact[BackupState]) -> str:
    """Return where files of a backup are now: by the word of the database, if it says anything."""
    return (live.value.url if isinstance(live, Known) else "") or told(backup)


def _may_delete(backup: FoundationDBBackup, url: str) -> bool:
    """Tell whether files may be deleted now: of who goes, or of who keeps so many days."""
    return bool(url) and (backup.metadata.deleting or backup.spec.retention is not None)


def sharers(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return who has a backup at the same place, of whatever cluster."""
    if not _may_delete(backup, url):
        return ()
    others = (it for it in caches.every_backup() if not _is_one(it, backup))
    every = (it for it in others if _has_files(it, backup, url))
    return _beside(backup, (it for it in every if not _gives_way(it, backup)))


def _has_files(other: FoundationDBBackup, backup: FoundationDBBackup, url: str) -> bool:
    """Tell whether files of another are at a place, or will be; not of who waits for the tag."""
    if (at := told(other)) and urls.is_within(at, url):
        return True
    waits = cluster_of(other) == cluster_of(backup) and tag_of(other) == tag_of(backup)
    wanted = _wanted(other)
    return bool(wanted) and not waits and urls.is_within(wanted, url)


def mates(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return who else of the database has its backup where this one shall lie."""
    some = (it for it in neighbours(caches, backup) if not _is_one(it, backup))
    every = (it for it in some if (at := told(it)) and urls.touch(at, url))
    return _beside(backup, (it for it in every if _is_at_home(caches, it)))


def _is_at_home(caches: BackupCaches, backup: FoundationDBBackup) -> bool:
    """Tell whether what a status says is of the cluster that there is now, not of one before."""
    cluster = caches.cluster(cluster_of(backup))
    return cluster is not None and cluster.metadata.uid == backup.status.cluster_uid


def strangers(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return whose backup, of another database, is in the same store, or will be before this."""
    if not url or urls.is_file(url):
        return ()
    kin = set(caches.alike(cluster_of(backup)))
    every = [it for it in caches.every_backup() if cluster_of(it) not in kin]
    there = [it for it in every if (at := told(it)) and urls.touch(at, url)]
    if any(urls.touch(it, url) for it in (told(backup), *backup.status.used_urls) if it):
        return _beside(backup, there)  # who is yet to come gives way
    coming = (it for it in every if it not in there and _comes_before(it, backup, url))
    return _beside(backup, (*there, *coming))


def _comes_before(other: FoundationDBBackup, backup: FoundationDBBackup, url: str) -> bool:
    wanted = _wanted(other)
    return bool(wanted) and _age(other) < _age(backup) and urls.touch(wanted, url)


def _wanted(backup: FoundationDBBackup) -> str:
    """Return where one will lie; empty: nowhere, or of a schedule of which no moment came yet."""
    spec, times = backup.spec, backup.status.schedule
    if backup.metadata.deleting or spec.backup_type == "unmanaged":
        return ""
    if spec.schedule and (times is None or not times.last):
        return ""
    return place_of(backup)


def _gives_way(other: FoundationDBBackup, backup: FoundationDBBackup) -> bool:
    """Tell whether an object has ended and goes as well: of such two the older one is first."""
    if not backup.metadata.deleting:
        return False
    details = other.status.backup_details
    is_over = details is not None and details.running is False
    return other.metadata.deleting and is_over and _age(backup) < _age(other)


def readers(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return the restores that read what may be deleted, into whatever cluster.

    Where all of it goes with its object, these are also those that are yet to be begun.
    """
    if not _may_delete(backup, url):
        return ()
    found = _beside(backup, (it for it in caches.every_restore() if _reads(it, backup, url)))
    return tuple(sorted({*found, *_drilling(backup, url)}))


def _reads(restore: FoundationDBRestore, backup: FoundationDBBackup, url: str) -> bool:
    spec, status = restore.spec, restore.status
    if status.state in ("completed", "aborted"):
        return False
    waits = not (restore.metadata.deleting or status.state or status.running)
    if status.begun is None and not (waits and backup.metadata.deleting):
        return False
    here = restore.metadata.namespace == backup.metadata.namespace
    if here and spec.backup_name == backup.metadata.name:
        return True
    asked = url_of(spec.blob_store_configuration, spec.file_url, restore.metadata.name)
    noted = status.clearing.url if status.clearing is not None else ""
    return any(urls.is_within(it, url) for it in (status.url, noted, asked) if it)


def _drilling(backup: FoundationDBBackup, url: str) -> Iterator[str]:
    """Yield the restore of its own drill, from when that is on record: it reads in a moment."""
    run = drills.run_of(backup)
    if run is not None and run.phase != "Ending" and urls.is_same(run.url, url):
        yield drill_name(backup.metadata.name)


def _beside(backup: FoundationDBBackup, some: Iterable[Object]) -> tuple[str, ...]:
    """Return names as they are said beside an object: with their namespace if it is another."""
    mine = backup.metadata.namespace
    keys = (it.metadata.key for it in some)
    return tuple(sorted(it.name if it.namespace == mine else str(it) for it in keys))


def names(some: Iterable[FoundationDBBackup]) -> tuple[str, ...]:
    """Return their names, in order."""
    return tuple(sorted(it.metadata.name for it in some))
