"""What a pass over one restore looks at, and by what one looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.admin.backups.ports import Clearing, RestoreAdmin
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import FoundationDBRestore
from stateward.fdb.api.backups.restore import FoundationDBRestoreStatus
from stateward.fdb.api.backups.stores import url_of
from stateward.fdb.backups.caches import BackupCaches, destination_of
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.backups.whereabouts import Place, Places
from stateward.fdb.build.backup_agents import wanted_agents
from stateward.fdb.decide.backups.restoring import tag_of
from stateward.fdb.decide.backups.views import UNASKED, ClusterIs, Record, RestoreView
from stateward.fdb.model.backups import TAG
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState
from stateward.kube.meta import ObjectKey

_SOURCE: Final = "fdbrestore"
_KEYS: Final = "fdbkeys"
_ACTIVE: Final = frozenset(str(it) for it in RestoreStage if it.is_active)


@dataclass(frozen=True, slots=True)
class RestoreSeen:
    """One restore, its database, and what is thought of them."""

    restore: FoundationDBRestore
    view: RestoreView
    #: Whoever can act on it; None: there is no database, or it cannot be found.
    admin: RestoreAdmin | None
    #: Whoever can take keys away for it.
    clearing: Clearing | None = None


@dataclass(frozen=True, slots=True)
class RestoreEyes:
    """By what one looks."""

    caches: BackupCaches
    places: Places
    databases: BackupDatabases
    clock: Clock
    #: For whom files are being deleted at a place.
    empties: Callable[[str], ObjectKey | None] = lambda _: None


async def look(eyes: RestoreEyes, restore: FoundationDBRestore) -> RestoreSeen | None:
    """Return all that is known of a restore; None: another operator looks after it."""
    place = await eyes.places.find(destination_of(restore))
    if place.is_others:
        return None
    record = record_of(restore.status)
    admin = _admin(eyes, restore, place)
    live: Fact[RestoreState] = Unknown("nobody is asked any more: it is over")
    if not record.is_over and not record.is_foreign:
        live = await _live(eyes, restore, admin)
    paused = await _paused(eyes, restore, place, live)
    clearing = _clearing(eyes, restore, place)
    cleared = await _cleared(eyes, restore, clearing, live)
    view = replace(_view(eyes, restore, place, live), is_paused=paused, cleared=cleared)
    return RestoreSeen(restore, view, admin, clearing)


def record_of(status: FoundationDBRestoreStatus) -> Record:
    """Return what a status says for good: another operator's says nothing of a tag of ours."""
    begun = status.begun
    told = status.state not in ("", str(RestoreStage.NEVER), "unknown") or status.running
    return Record(
        cluster_uid=begun.cluster_uid if begun is not None else "",
        begun_at=_moment(begun.at) if begun is not None else None,
        uid=status.uid,
        state=status.state,
        is_foreign=begun is None and not status.uid and bool(told),
        clearing_at=_moment(status.clearing.at) if status.clearing is not None else None,
        clearing_version=status.clearing.version if status.clearing is not None else None,
    )


def _moment(text: str | None) -> float | None:
    """Read a moment of a status, which anybody may have written."""
    try:
        return moments.from_rfc3339(text) if text else None
    except ValueError:
        return None


def _admin(eyes: RestoreEyes, restore: FoundationDBRestore, place: Place) -> RestoreAdmin | None:
    if place.connection is None or place.version is None:
        return None
    key = destination_of(restore)
    return eyes.databases.restores(key, place.connection, place.version)


def _clearing(eyes: RestoreEyes, restore: FoundationDBRestore, place: Place) -> Clearing | None:
    if place.connection is None or place.version is None:
        return None
    key = destination_of(restore)
    return eyes.databases.clearing(key, place.connection, place.version)


async def _cleared(
    eyes: RestoreEyes,
    restore: FoundationDBRestore,
    clearing: Clearing | None,
    live: Fact[RestoreState],
) -> Fact[bool]:
    """Tell whether keys were taken away, where that matters: before it is begun."""
    if clearing is None or restore.status.clearing is None:
        return UNASKED
    if not isinstance(live, Known) or live.value.uid:
        return UNASKED
    try:
        found = await clearing.is_cleared(tag_of(restore.metadata.uid))
    except PeerError as error:
        return Unknown(error.message)
    return Known(found, eyes.clock.now(), _KEYS)


async def _live(
    eyes: RestoreEyes, restore: FoundationDBRestore, admin: RestoreAdmin | None
) -> Fact[RestoreState]:
    if admin is None:
        return Unknown("there is no database to ask")
    try:
        found = await admin.status(tag_of(restore.metadata.uid))
    except PeerError as error:
        return Unknown(error.message)
    return found if isinstance(found, Unknown) else Known(found, eyes.clock.now(), _SOURCE)


async def _paused(
    eyes: RestoreEyes, restore: FoundationDBRestore, place: Place, live: Fact[RestoreState]
) -> bool | None:
    """Tell whether agents do nothing, where that matters: while they shall restore, or soon."""
    is_soon = restore.status.clearing is not None
    if not isinstance(live, Known) or not (live.value.stage.is_active or is_soon):
        return None
    if place.connection is None or place.version is None:
        return None
    key = destination_of(restore)
    try:
        found = await eyes.databases.backups(key, place.connection, place.version).status(TAG)
    except PeerError:
        return None
    return None if isinstance(found, Unknown) else found.paused


# ------------------------------------------------------------------ the view
def _view(
    eyes: RestoreEyes,
    restore: FoundationDBRestore,
    place: Place,
    live: Fact[RestoreState],
) -> RestoreView:
    url, why = _source(eyes.caches, restore)
    emptied = eyes.empties(url) if url else None
    into = destination_of(restore).name
    return RestoreView(
        name=restore.metadata.name,
        generation=restore.metadata.generation,
        tag=tag_of(restore.metadata.uid),
        url=url,
        url_unknown=why,
        cluster=place.is_,
        cluster_name=restore.spec.destination_cluster_name,
        cluster_uid=place.uid,
        was_into=into if into != restore.spec.destination_cluster_name else "",
        bound_uid=restore.spec.destination_cluster_uid,
        live=live,
        record=record_of(restore.status),
        clears=restore.spec.destination_policy == "clear",
        emptied=str(emptied or ""),
        others=_others(eyes.caches, restore),
        has_agents=place.is_ is not ClusterIs.THERE or _has_agents(eyes.caches, restore),
        now=eyes.clock.now(),
        is_deleting=restore.metadata.deleting,
        deleted_at=_moment(restore.metadata.deletion_timestamp),
    )


def _source(caches: BackupCaches, restore: FoundationDBRestore) -> tuple[str, str]:
    """Return where the backup lies, and why nobody can tell."""
    spec, metadata = restore.spec, restore.metadata
    if not spec.backup_name:
        return url_of(spec.blob_store_configuration, spec.file_url, metadata.name), ""
    clearing = restore.status.clearing
    if clearing is not None and clearing.url:
        return clearing.url, ""  # only from there is it sure that keys come back
    backup = caches.backups.get(ObjectKey(metadata.namespace, spec.backup_name))
    if backup is None:
        return "", f"there is no FoundationDBBackup {spec.backup_name}"
    details = backup.status.backup_details
    if details is None or not details.url:
        return "", f"{spec.backup_name} does not say yet where its backup lies"
    if details.restorable is not True:
        times = backup.status.schedule
        if times is not None and times.last_url:
            return urls.bare(times.last_url), ""  # the next one is not whole yet
        return "", f"{spec.backup_name} is not restorable yet"
    return urls.bare(details.url), ""


def _others(caches: BackupCaches, restore: FoundationDBRestore) -> tuple[str, ...]:
    every = (
        it for key in caches.alike(destination_of(restore)) for it in caches.restores_into(key)
    )
    return tuple(sorted(it.metadata.name for it in every if it is not restore and _goes_on(it)))


def _goes_on(restore: FoundationDBRestore) -> bool:
    return restore.status.begun is not None and restore.status.state in _ACTIVE


def _has_agents(caches: BackupCaches, restore: FoundationDBRestore) -> bool:
    """Tell whether a FoundationDBBackup of the database has agents, as far as can be seen."""
    keys: Iterable[ObjectKey] = caches.alike(destination_of(restore))
    every = (it for key in keys for it in caches.backups_of(key))
    return any(wanted_agents(it) > 0 and not it.metadata.deleting for it in every)
