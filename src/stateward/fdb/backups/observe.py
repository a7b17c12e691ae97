"""Looking at a backup: its objects from the caches, its database asked once, by its tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.admin.backups.ports import BackupAdmin
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.backup import DEFAULT_PERIOD, BackupExpiry
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.backups.stores import url_of
from stateward.fdb.backups.caches import BackupCaches, cluster_of, tag_of
from stateward.fdb.backups.drills import seen as drills
from stateward.fdb.backups.drills.seen import DrillEyes
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.backups.times import place_of, times_of
from stateward.fdb.backups.whereabouts import Place, Places
from stateward.fdb.decide.backups.views import BackupView
from stateward.fdb.model.names import agents_name, drill_name
from stateward.fdb.status.backups.backup import BackupState
from stateward.kube.meta import Object, ObjectKey

SOURCE: Final = "fdbbackup"
#: Seconds without anything written, though agents write some times a minute, until we ask why.
_QUIET: Final = 90.0


@dataclass(frozen=True, slots=True)
class BackupEyes:
    """By what one looks."""

    caches: BackupCaches
    places: Places
    databases: BackupDatabases
    clock: Clock
    #: Why deployments cannot be seen; empty: they can.
    deployments_unseen: Callable[[], str]
    drills: DrillEyes


async def look(eyes: BackupEyes, backup: FoundationDBBackup) -> BackupSeen | None:
    """Return all that is known of a backup; None: another operator looks after it."""
    place = await eyes.places.find(cluster_of(backup))
    if place.is_others:
        return None
    admin = _admin(eyes, backup, place)
    live = await _live(eyes, backup, admin)
    complaints = await _complaints(eyes, backup, admin, live)
    metadata = backup.metadata
    name = ObjectKey(metadata.namespace, agents_name(metadata.name))
    view = replace(_view(eyes, backup, place, live), complaints=complaints)
    return BackupSeen(
        backup,
        view,
        admin,
        place.around,
        eyes.caches.deployments.get(name),
        eyes.deployments_unseen(),
        place.version,
        await drills.look(eyes.drills, backup, view, place),
    )


def _admin(eyes: BackupEyes, backup: FoundationDBBackup, place: Place) -> BackupAdmin | None:
    if place.connection is None or place.version is None:
        return None
    return eyes.databases.backups(cluster_of(backup), place.connection, place.version)


async def _live(
    eyes: BackupEyes, backup: FoundationDBBackup, admin: BackupAdmin | None
) -> Fact[BackupState]:
    if admin is None:
        return Unknown("there is no database to ask")
    if backup.spec.backup_type == "unmanaged":
        return Unknown("only agents are asked for")
    try:
        found = await admin.status(tag_of(backup))
    except PeerError as error:
        return Unknown(error.message)
    return found if isinstance(found, Unknown) else Known(found, eyes.clock.now(), SOURCE)


async def _complaints(
    eyes: BackupEyes,
    backup: FoundationDBBackup,
    admin: BackupAdmin | None,
    live: Fact[BackupState],
) -> tuple[str, ...]:
    """Return why agents write nothing, while they do not."""
    if admin is None or not isinstance(live, Known) or live.value.paused:
        return ()
    if not 0 < live.value.written < eyes.clock.now() - _QUIET:
        return ()
    try:
        return await admin.complaints(tag_of(backup))
    except PeerError:
        return ()


# ------------------------------------------------------------------ the view
def _view(
    eyes: BackupEyes, backup: FoundationDBBackup, place: Place, live: Fact[BackupState]
) -> BackupView:
    spec, status, metadata = backup.spec, backup.status, backup.metadata
    url, times = place_of(backup), times_of(backup, eyes.clock.now())
    others = [it for it in _neighbours(eyes.caches, backup) if it is not backup]
    lies = _lies(backup, live)
    speaking = [it for it in others if _has_say(eyes.caches, it)]
    return BackupView(
        name=metadata.name,
        uid=metadata.uid,
        generation=metadata.generation,
        tag=tag_of(backup),
        wish=spec.backup_state or "Running",
        is_one_time=spec.backup_mode == "oneTime",
        is_unmanaged=spec.backup_type == "unmanaged",
        policy=spec.deletion_policy or "noop",
        url=url,
        period=spec.snapshot_period_seconds or DEFAULT_PERIOD,
        cluster=place.is_,
        cluster_name=spec.cluster_name,
        live=live,
        former_uid=status.former_uid,
        cluster_uid=place.uid,
        home_uid=status.cluster_uid,
        seen_uid=status.backup_details.uid if status.backup_details is not None else "",
        seen_url=_told(backup),
        used_urls=status.used_urls,
        former_urls=status.former_urls,
        place=status.place,
        holder=_holder(backup, others),
        pausers=_names(it for it in speaking if it.spec.backup_state == "Paused"),
        runners=_names(it for it in speaking if it.spec.backup_state in ("", "Running")),
        mates=_mates(eyes.caches, backup, url),
        strangers=_strangers(eyes.caches, backup, url),
        sharers=_sharers(eyes.caches, backup, lies),
        readers=_readers(eyes.caches, backup, lies),
        now=eyes.clock.now(),
        is_scheduled=bool(spec.schedule),
        since=times.since,
        last_due=times.last,
        due=times.due,
        next_due=times.next,
        days=spec.retention.days if spec.retention is not None else None,
        tried_at=tried_at(status.retention),
        not_expired=status.retention.trouble if status.retention is not None else "",
        is_deleting=metadata.deleting,
        is_drilled=drills.run_of(backup) is not None,
    )


def tried_at(told: BackupExpiry | None) -> float | None:
    """Return when somebody last looked for what is too old; None: nobody did, as far as is told."""
    try:
        return moments.from_rfc3339(told.tried) if told is not None and told.tried else None
    except ValueError:
        return None


def _neighbours(caches: BackupCaches, backup: FoundationDBBackup) -> Iterator[FoundationDBBackup]:
    for cluster in caches.alike(cluster_of(backup)):
        yield from caches.backups_of(cluster)


def _has_say(caches: BackupCaches, backup: FoundationDBBackup) -> bool:
    """Tell whether it counts what an object asks for: one that goes, or is refused, does not."""
    if backup.metadata.deleting or backup.spec.backup_type == "unmanaged":
        return False
    return not _holder(backup, [it for it in _neighbours(caches, backup) if it is not backup])


def _holder(backup: FoundationDBBackup, others: Iterable[FoundationDBBackup]) -> str:
    """Return the oldest object with the tag, if that is another: it has it until it is gone."""
    if backup.spec.backup_type == "unmanaged":
        return ""
    same = [it for it in others if tag_of(it) == tag_of(backup)]
    older = [it for it in same if it.spec.backup_type != "unmanaged" and _age(it) < _age(backup)]
    return min(older, key=_age).metadata.name if older else ""


def _age(backup: FoundationDBBackup) -> tuple[str, str]:
    return backup.metadata.creation_timestamp, backup.metadata.uid


def _told(backup: FoundationDBBackup) -> str:
    """Return where a backup was seen to lie last; empty: nobody saw it."""
    details = backup.status.backup_details
    return details.url if details is not None else ""


def _lies(backup: FoundationDBBackup, live: Fact[BackupState]) -> str:
    """Return where files of a backup are now: by the word of the database, if it says anything."""
    return (live.value.url if isinstance(live, Known) else "") or _told(backup)


def _may_delete(backup: FoundationDBBackup, url: str) -> bool:
    """Tell whether files may be deleted now: of who goes, or of who keeps so many days."""
    return bool(url) and (backup.metadata.deleting or backup.spec.retention is not None)


def _sharers(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return who has a backup at the same place, of whatever cluster."""
    if not _may_delete(backup, url):
        return ()
    every = (it for it in caches.backups if it is not backup and _has_files(it, backup, url))
    return _beside(backup, (it for it in every if not _gives_way(it, backup)))


def _has_files(other: FoundationDBBackup, backup: FoundationDBBackup, url: str) -> bool:
    """Tell whether files of another are at a place, or will be; not of who waits for the tag."""
    if (told := _told(other)) and urls.is_within(told, url):
        return True
    waits = cluster_of(other) == cluster_of(backup) and tag_of(other) == tag_of(backup)
    wanted = _wanted(other)
    return bool(wanted) and not waits and urls.is_within(wanted, url)


def _mates(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return who else of the database has its backup where this one shall lie."""
    some = (it for it in _neighbours(caches, backup) if it is not backup)
    return _beside(backup, (it for it in some if (at := _told(it)) and urls.touch(at, url)))


def _strangers(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return whose backup, of another database, is in the same store, or will be before this."""
    if not url or urls.is_file(url):
        return ()
    kin = set(caches.alike(cluster_of(backup)))
    every = [it for it in caches.backups if cluster_of(it) not in kin]
    there = [it for it in every if (told := _told(it)) and urls.touch(told, url)]
    if any(urls.touch(it, url) for it in (_told(backup), *backup.status.used_urls) if it):
        return _beside(backup, there)  # who is yet to come gives way
    coming = (it for it in every if it not in there and _comes_before(it, backup, url))
    return _beside(backup, (*there, *coming))


def _comes_before(other: FoundationDBBackup, backup: FoundationDBBackup, url: str) -> bool:
    wanted = _wanted(other)
    return bool(wanted) and _age(other) < _age(backup) and urls.touch(wanted, url)


def _wanted(backup: FoundationDBBackup) -> str:
    """Return where one will lie; empty: nowhere, or of a schedule, where nobody else ever lay."""
    spec = backup.spec
    if backup.metadata.deleting or spec.backup_type == "unmanaged" or spec.schedule:
        return ""
    return place_of(backup)


def _gives_way(other: FoundationDBBackup, backup: FoundationDBBackup) -> bool:
    """Tell whether an object has ended and goes as well: of such two the older one is first."""
    if not backup.metadata.deleting:
        return False
    details = other.status.backup_details
    is_over = details is not None and details.running is False
    return other.metadata.deleting and is_over and _age(backup) < _age(other)


def _readers(caches: BackupCaches, backup: FoundationDBBackup, url: str) -> tuple[str, ...]:
    """Return the restores that read what may be deleted, into whatever cluster.

    Where all of it goes with its object, these are also those that are yet to be begun.
    """
    if not _may_delete(backup, url):
        return ()
    found = _beside(backup, (it for it in caches.restores if _reads(it, backup, url)))
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
    return any(urls.is_within(it, url) for it in (status.url, asked) if it)


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


def _names(some: Iterable[FoundationDBBackup]) -> tuple[str, ...]:
    return tuple(sorted(it.metadata.name for it in some))
