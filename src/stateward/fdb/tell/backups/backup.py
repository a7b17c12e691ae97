"""The status of a backup. Feeding it its own result, later, gives the same: at rest all is still.

A backup that goes on moves all the time, and so does what is told of it; that can wait (haste).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Final

from msgspec.structs import replace

from stateward.core import moments
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.backup import (
    BackupDetails,
    BackupGenerations,
    BackupMoved,
    BackupPoint,
    BackupProgress,
    BackupTimes,
    FoundationDBBackupStatus,
)
from stateward.fdb.decide.backups import backing, belonging
from stateward.fdb.decide.backups.drills import DrillView
from stateward.fdb.decide.backups.views import (
    BackupView,
    Discontinue,
    Modify,
    Pause,
    Resume,
    Start,
)
from stateward.fdb.status.backups.backup import Point
from stateward.fdb.tell.backups.agents import Agents
from stateward.fdb.tell.backups.backup_conditions import conditions_of
from stateward.fdb.tell.backups.drills import (
    PROVEN,
    counting,
    doing_with,
    drills_told,
    proven,
)
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.doing import short
from stateward.kube import conditions
from stateward.kube.meta import Condition

_REST: Final = "nothing to do"


@dataclass(frozen=True, slots=True)
class BackupTold:
    """What a pass adds to what was seen."""

    said: Sequence[tuple[str, Outcome]]
    agents: Agents
    now: float
    #: What is known of drills; None: nobody looked.
    drill: DrillView | None = None


def backup_status(
    view: BackupView, former: FoundationDBBackupStatus, told: BackupTold
) -> FoundationDBBackupStatus:
    """Return the status that a backup should have; ``former`` is the one that it has."""
    counted = replaced(told, said=counting(told.said))
    outcomes = [it for _, it in counted.said]
    truths = _generations(view, former.generations, counted)
    is_reconciled = truths.reconciled == view.generation
    details = _details(view, former.backup_details)
    drills = drills_told(told.drill, former.drill)
    is_proven = proven(told.drill, drills, view.generation)
    said = conditions_of(view, details, told.agents, outcomes, reconciled=is_reconciled)
    merged = conditions.merge(former.conditions, (*said, *is_proven), told.now)
    return replace(
        former,
        observed_generation=view.generation,
        doing=doing_with(_doing(view, outcomes, said), told.said),
        agent_count=told.agents.ready,
        deployment_configured=told.agents.configured,
        backup_details=details,
        progress=_progress(view, former.progress),
        place=_place(view, former.place),
        schedule=_times(view, former.schedule, details),
        drill=drills,
        used_urls=_used(view, former, details),
        generations=truths,
        blockers=blockers(former.blockers, counted.said, (), told.now),
        conditions=tuple(it for it in merged if is_proven or it.type != PROVEN),
    )


def can_wait(old: FoundationDBBackupStatus, new: FoundationDBBackupStatus) -> bool:
    """Tell whether a status says the same but for how far the backup is."""
    return _essence(old) == _essence(new)


def _essence(status: FoundationDBBackupStatus) -> FoundationDBBackupStatus:
    details = status.backup_details
    if details is not None:
        details = replace(details, latest_restorable=None, last_snapshot=None, snapshot_began=0)
    said = tuple(replace(it, message="") for it in status.conditions)
    held = tuple(replace(it, message="") for it in status.blockers)
    far = BackupProgress() if status.progress is not None else None
    return replace(
        status, doing="", backup_details=details, progress=far, conditions=said, blockers=held
    )


def _doing(view: BackupView, outcomes: Sequence[Outcome], told: Sequence[Condition]) -> str:
    """Return the first thing that is not over; then what is broken; then what the backup does."""
    waiting = next((it for it in outcomes if not isinstance(it, Done)), None)
    if waiting is not None and not isinstance(waiting, Done):
        return short(waiting.message)
    state = view.state
    if state is not None and state.stage.is_active and state.paused:
        return "paused: no agent of the cluster works"
    broken = next((it for it in told if it.type == "Degraded" and it.status == "True"), None)
    if broken is not None:
        return short(broken.message)
    if view.is_unmanaged or state is None or not state.stage.is_active:
        if view.is_scheduled and view.next_due is not None and view.wish == "Running":
            return f"waits until {moments.to_rfc3339(view.next_due)}"
        return _REST
    if view.moved is not None and state.restorable is not None:
        return "backing up; not restorable yet from where it lies now"
    return "backing up" if view.restorable is not None else "backing up; not restorable yet"


# ------------------------------------------------------------------ generations
def _generations(
    view: BackupView, former: BackupGenerations, told: BackupTold
) -> BackupGenerations:
    """Return what is pending; of what nobody knows, what was so before still stands."""
    generation = view.generation
    agents = 0 if told.agents.configured else generation
    if view.is_unmanaged:
        done = not agents and not any(isinstance(it, Blocked) for _, it in told.said)
        return BackupGenerations(
            reconciled=generation if done else _before(former, generation),
            needs_backup_agent_update=agents,
        )
    if view.state is None or view.holder:
        reconciled = _before(former, generation) if view.holder else former.reconciled
        return replace(former, reconciled=reconciled, needs_backup_agent_update=agents)
    needs = BackupGenerations(
        needs_backup_agent_update=agents,
        needs_backup_start=_if(generation, is_so=_needs_start(view)),
        needs_backup_stop=_if(generation, is_so=_needs_stop(view)),
        needs_backup_pause_toggle=_if(
            generation, is_so=isinstance(backing.pausing(view), Pause | Resume)
        ),
        needs_backup_modification=_if(
            generation, is_so=isinstance(backing.modifying(view), Modify)
        ),
    )
    is_done = needs == BackupGenerations() and view.former_uid is not None
    is_done = is_done and not any(isinstance(it, Blocked) for _, it in told.said)
    return replace(needs, reconciled=generation if is_done else _before(former, generation))


def _before(former: BackupGenerations, generation: int) -> int:
    """Return what was reconciled before; this generation is not, or not any more."""
    return former.reconciled if former.reconciled < generation else 0


def _needs_start(view: BackupView) -> bool:
    found = backing.starting(view)
    return isinstance(found, Start) or not isinstance(found, Done)


def _needs_stop(view: BackupView) -> bool:
    found = backing.stopping(view)
    return isinstance(found, Discontinue) or not isinstance(found, Done)


def _if(generation: int, *, is_so: bool) -> int:
    return generation if is_so else 0


# ------------------------------------------------------------------ details
def _details(view: BackupView, former: BackupDetails | None) -> BackupDetails | None:
    """Return what the database says; of one that is another's, nothing."""
    if view.holder or view.is_unmanaged or view.is_elsewhere:
        return None
    state = view.state
    if state is None or view.former_uid is None or belonging.is_another(view):
        return former
    before = former or BackupDetails()
    if before.uid != state.uid:
        before = BackupDetails()
    running = state.running
    return BackupDetails(
        url=urls.shown(state.url),
        running=state.stage.is_active,
        paused=state.paused,
        snapshot_period_seconds=running.interval if running else before.snapshot_period_seconds,
        restorable=view.restorable is not None,
        tag=view.tag,
        uid=state.uid,
        state=str(state.stage),
        latest_restorable=_point(view.restorable, before.latest_restorable),
        last_snapshot=_point(running.snapshot_end if running else None, before.last_snapshot),
        snapshot_began=(running.snapshot_begin if running else None) or before.snapshot_began,
        moved=_moved(view),
    )


def _progress(view: BackupView, former: BackupProgress | None) -> BackupProgress | None:
    """Return how much was written; None: it does not go on, or is another's."""
    if view.holder or view.is_unmanaged or view.is_elsewhere:
        return None
    state = view.state
    if state is None:
        return former
    running = state.running if state.stage.is_active and not belonging.is_another(view) else None
    if running is None:
        return None
    return BackupProgress(
        range_bytes_written=running.range_bytes, log_bytes_written=running.log_bytes
    )


def _moved(view: BackupView) -> BackupMoved | None:
    found = view.moved
    return None if found is None else BackupMoved(during=found.during, began=found.began)


def _place(view: BackupView, former: str) -> str:
    """Return where it shall lie if it was seen there since that was asked for."""
    state, wanted = view.state, urls.shown(view.url)
    if view.holder or view.is_unmanaged or view.is_one_time:
        return ""
    if state is not None and state.stage.is_active and urls.is_at(state.url, view.url):
        return wanted
    return former if urls.is_as_asked(former, view.url) else ""


def _used(
    view: BackupView, former: FoundationDBBackupStatus, details: BackupDetails | None
) -> tuple[str, ...]:
    """Return where it lay in stores: of a schedule each lies where none did before."""
    url = details.url if details is not None else ""
    if not url or urls.is_file(url) or view.is_scheduled or belonging.is_another(view):
        return former.used_urls
    return belonging.kept(former.used_urls, url)


def _times(
    view: BackupView, former: BackupTimes | None, details: BackupDetails | None
) -> BackupTimes | None:
    """Return what has become of a schedule; of none, nothing."""
    if not view.is_scheduled:
        return None
    told = former or BackupTimes()
    is_whole = details is not None and details.restorable is True and details.running is False
    return replace(
        told,
        next=moments.to_rfc3339(view.next_due) if view.next_due is not None else told.next,
        last_url=urls.bare(details.url) if details is not None and is_whole else told.last_url,
    )


def _point(point: Point | None, before: BackupPoint | None) -> BackupPoint | None:
    """Return a point as it is told: of one version the time stays, which databases tell anew."""
    if point is None:
        return before
    if before is not None and before.version == point.version and before.time:
        return before
    at = moments.to_rfc3339(point.seconds) if point.seconds else None
    return BackupPoint(version=point.version, time=at)
