"""Looking at a backup: its objects from the caches, its database asked once, by its tag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.admin.backups.ports import BackupAdmin
from stateward.fdb.api.backups.backup import (
    DEFAULT_PERIOD,
    BackupExpiry,
    FoundationDBBackupStatus,
)
from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.backups import beside
from stateward.fdb.backups.caches import BackupCaches, cluster_of, tag_of
from stateward.fdb.backups.drills import seen as drills
from stateward.fdb.backups.drills.seen import DrillEyes
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.backups.times import place_of, times_of
from stateward.fdb.backups.whereabouts import Place, Places
from stateward.fdb.decide.backups import moving
from stateward.fdb.decide.backups.moving import Before, Moved
from stateward.fdb.decide.backups.views import BackupView
from stateward.fdb.model.names import agents_name
from stateward.fdb.status.backups.backup import BackupState
from stateward.kube.meta import ObjectKey

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
    view = replace(
        _with_others(eyes, backup, _view(eyes, backup, place, live)), complaints=complaints
    )
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
    times = times_of(backup, eyes.clock.now())
    return BackupView(
        name=metadata.name,
        uid=metadata.uid,
        generation=metadata.generation,
        tag=tag_of(backup),
        wish=spec.backup_state or "Running",
        is_one_time=spec.backup_mode == "oneTime",
        is_unmanaged=spec.backup_type == "unmanaged",
        policy=spec.deletion_policy or "noop",
        url=place_of(backup),
        period=spec.snapshot_period_seconds or DEFAULT_PERIOD,
        cluster=place.is_,
        cluster_name=spec.cluster_name,
        live=live,
        former_uid=status.former_uid,
        cluster_uid=place.uid,
        home_uid=status.cluster_uid,
        seen_uid=status.backup_details.uid if status.backup_details is not None else "",
        seen_url=beside.told(backup),
        used_urls=status.used_urls,
        former_urls=status.former_urls,
        place=status.place,
        moved=_moved(status, live),
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


def _with_others(eyes: BackupEyes, backup: FoundationDBBackup, view: BackupView) -> BackupView:
    """Return a view with whom else its tag, its pause and its places concern."""
    caches, lies = eyes.caches, beside.lies(backup, view.live)
    others = [it for it in beside.neighbours(caches, backup) if it is not backup]
    speaking = [it for it in others if beside.has_say(caches, it)]
    return replace(
        view,
        holder=beside.holder(backup, others),
        pausers=beside.names(it for it in speaking if it.spec.backup_state == "Paused"),
        runners=beside.names(it for it in speaking if it.spec.backup_state in ("", "Running")),
        mates=beside.mates(caches, backup, view.url),
        strangers=beside.strangers(caches, backup, view.url),
        sharers=beside.sharers(caches, backup, lies),
        readers=beside.readers(caches, backup, lies),
        unseen=caches.unseen(),
    )


def _moved(status: FoundationDBBackupStatus, live: Fact[BackupState]) -> Moved | None:
    """Return whether it lies elsewhere than what the database calls restorable."""
    told = status.backup_details
    if told is None:
        return None
    on_record = told.moved
    found = Moved(on_record.during, on_record.began) if on_record is not None else None
    if not isinstance(live, Known):
        return found
    return moving.moved(Before(told.uid, told.url, told.snapshot_began, found), live.value)


def tried_at(told: BackupExpiry | None) -> float | None:
    """Return when somebody last looked for what is too old; None: nobody did, as far as is told."""
    try:
        return moments.from_rfc3339(told.tried) if told is not None and told.tried else None
    except ValueError:
        return None
