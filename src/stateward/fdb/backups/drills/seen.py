"""Looking at the drills of a backup: its record, its objects, and what could be restored now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from stateward.core.clock import Clock
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.drill import DEFAULT_TIMEOUT, BackupDrills, DrillRun
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.backups.caches import BackupCaches, cluster_of
from stateward.fdb.backups.drills import pieces
from stateward.fdb.backups.drills.pieces import Pieces
from stateward.fdb.backups.times import drill_times_of, moment
from stateward.fdb.backups.whereabouts import Place, Places
from stateward.fdb.build import drills as build
from stateward.fdb.decide.backups.drills import DrillView, Piece, Restored, Run, Source
from stateward.fdb.decide.backups.views import BackupView, ClusterIs
from stateward.fdb.model.names import drill_name
from stateward.kube import conditions
from stateward.kube.client import Reader
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey

NOWHERE: Final = Place(ClusterIs.GONE)


@dataclass(frozen=True, slots=True)
class Drilled:
    """The drills of one backup, and where databases are that have a part in them."""

    view: DrillView
    #: The backed-up cluster, as it is asked for; None: nobody has it here.
    source: FoundationDBCluster | None
    #: How its database is found, and that of the throw-away cluster.
    before: Place
    there: Place = NOWHERE
    #: Labels of the backed-up cluster by which this operator finds what it looks after.
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrillEyes:
    """By what one looks."""

    client: Reader
    caches: BackupCaches
    places: Places
    clock: Clock


async def look(
    eyes: DrillEyes, backup: FoundationDBBackup, view: BackupView, place: Place
) -> Drilled:
    """Return what is known of drills; while none goes on, or is due, nobody is asked."""
    run, now = run_of(backup), eyes.clock.now()
    asked = backup.spec.drill
    times = drill_times_of(backup, now)
    is_due = times.due is not None and not view.is_deleting
    found, there, unseen = pieces.NOTHING, NOWHERE, ""
    key = ObjectKey(backup.metadata.namespace, drill_name(backup.metadata.name))
    if run is not None or is_due:
        try:
            found = await pieces.find(eyes.client, backup, run)
            there = NOWHERE if found.cluster is None else await eyes.places.find(key)
        except ApiError as error:  # a backup goes on where its drills cannot
            unseen = error.message
    source = eyes.caches.clusters.get(cluster_of(backup))
    timeout = asked.timeout_seconds if asked is not None else None
    drilling = DrillView(
        name=key.name,
        is_asked=asked is not None,
        is_deleting=view.is_deleting,
        is_told=backup.status.drill is not None,
        now=now,
        timeout=timeout or DEFAULT_TIMEOUT,
        since=times.since,
        due=times.due,
        next_due=times.next,
        run=run,
        source=_source(backup, view),
        hindrance=_hindrance(view, source),
        found=found.found,
        unseen=unseen,
        groups_left=found.groups_left,
        is_available=_is_available(found, there),
        doing=found.cluster.status.doing if found.cluster is not None else "",
        restored=_restored(found.restore),
    )
    labels = eyes.places.labels_of(source) if source is not None else {}
    return Drilled(drilling, source, place, there, labels)


# ------------------------------------------------------------------ the record
def run_of(backup: FoundationDBBackup) -> Run | None:
    """Return the drill that is on record; None: none goes on."""
    told = backup.status.drill or BackupDrills()
    run = told.run
    if run is None:
        return None
    # Of a moment that nobody can read it is over time, and what is labelled otherwise none of it.
    began = moment(run.began) or 0.0
    return Run(run.phase, began, run.version, run.url, dict(_uids(run)))


def _uids(run: DrillRun) -> Iterator[tuple[Piece, str]]:
    said = {
        Piece.CLUSTER: run.cluster_uid,
        Piece.AGENTS: run.agents_uid,
        Piece.RESTORE: run.restore_uid,
    }
    yield from ((piece, uid) for piece, uid in said.items() if uid)


# ------------------------------------------------------------------ what would be restored
def _source(backup: FoundationDBBackup, view: BackupView) -> Source | None:
    """Return the newest that there is; of a schedule the one before while the next is not whole."""
    state, times = view.state, backup.status.schedule
    if state is None:
        return None
    point = view.restorable
    if point is not None and state.url and view.is_ours:
        return Source(urls.bare(state.url), point.version, point.seconds or None)
    if times is not None and times.last_url:
        return Source(urls.bare(times.last_url))
    return None


def _hindrance(view: BackupView, source: FoundationDBCluster | None) -> str:
    """Return why none can be begun."""
    if view.holder:
        return f"the backup of tag {view.tag} is {view.holder}'s"
    if view.cluster is not ClusterIs.THERE or source is None:
        return "the backed-up cluster, which its own is to be like, is not there or has no database"
    if view.state is None:
        return "nobody knows how the backup is"
    if view.is_elsewhere:
        return f"what tag {view.tag} has lies where somebody else had it go"
    if volume := build.shared_volume(source):
        return (
            f"volume {volume} of the pod template must not be a claim, or a folder with the data:"
            " the throw-away cluster would share it"
        )
    return ""


# ------------------------------------------------------------------ how it goes on
def _is_available(found: Pieces, there: Place) -> bool:
    """Tell whether the throw-away database takes transactions, and we know how to find it."""
    cluster = found.cluster
    if cluster is None or there.uid != cluster.metadata.uid or there.connection is None:
        return False
    return cluster.status.configured and cluster.status.health.available is True


def _restored(restore: FoundationDBRestore | None) -> Restored:
    if restore is None:
        return Restored()
    status = restore.status
    failed = conditions.find(status.conditions, "Failed")
    is_refused = failed is not None and failed.status == "True"
    return Restored(
        state=status.state,
        version=status.version,
        written=status.progress.bytes_written if status.progress is not None else 0,
        reason=failed.reason if failed is not None and is_refused else "",
        trouble=failed.message if failed is not None and is_refused else "",
        since=moment(failed.last_transition_time) if failed is not None and is_refused else None,
        doing=status.doing,
    )
