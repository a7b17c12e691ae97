"""What is on record of drills, and the condition that speaks of them.

BackupProven  the last drill restored the backup
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from stateward.core import moments
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.drill import BackupDrills, DrillResult, DrillRun
from stateward.fdb.decide.backups.drills import (
    Act,
    Close,
    DrillView,
    Forget,
    Keep,
    Move,
    Open,
    Piece,
    Verdict,
)
from stateward.fdb.decide.backups.views import Arm, Skip
from stateward.fdb.tell.doing import short
from stateward.kube.meta import Condition

PROVEN: Final = "BackupProven"
#: The step that speaks of drills.
STEP: Final = "DrillBackup"
_LONGEST: Final = 1000


# ------------------------------------------------------------------ the record
def recorded(act: Act, told: BackupDrills, view: DrillView) -> BackupDrills | None:
    """Return what is on record once something was decided; None: nothing is any more."""
    match act:
        case Forget():
            return None
        case Arm():
            return replace(told, since=moments.to_rfc3339(view.now))
        case Skip(moment):
            at = moments.to_rfc3339(moment)
            return replace(told, since=at, skipped=at)
        case Open():
            return replace(told, since=moments.to_rfc3339(act.moment), run=_opened(act, view))
        case Close():
            return replace(told, run=None)
        case Verdict():
            return _judged(act, told, view)
    run = told.run
    return told if run is None else replace(told, run=_moved(act, run))


def _opened(act: Open, view: DrillView) -> DrillRun:
    source = act.source
    return DrillRun(
        phase="MakingCluster",
        began=moments.to_rfc3339(view.now),
        version=source.version,
        version_time=_time(source.seconds),
        url=urls.shown(source.url),
    )


def _moved(act: Act, run: DrillRun) -> DrillRun:
    match act:
        case Move(then):
            return replace(run, phase=then)
        case Keep(Piece.CLUSTER, uid, then):
            return replace(run, phase=then, cluster_uid=uid)
        case Keep(Piece.AGENTS, uid, then):
            return replace(run, phase=then, agents_uid=uid)
        case Keep(Piece.RESTORE, uid, then):
            return replace(run, phase=then, restore_uid=uid)
        case _:
            return run


def _judged(verdict: Verdict, told: BackupDrills, view: DrillView) -> BackupDrills:
    """Return what a drill has shown; when the backup was last restored stays, whatever it is."""
    run = told.run
    if run is None or view.run is None:
        return told
    now = moments.to_rfc3339(view.now)
    version = view.restored.version if view.restored.version is not None else run.version
    result = DrillResult(
        began=run.began,
        ended=now,
        seconds=max(0, int(view.now - view.run.began)),
        proven=verdict.is_proof,
        version=version,
        version_time=run.version_time,
        bytes_written=view.restored.written,
        keys_seen=verdict.keys,
        reason=verdict.reason,
        trouble=verdict.trouble[:_LONGEST],
    )
    told = replace(told, run=replace(run, phase="Ending"), last=result)
    return replace(told, proven=now, proven_version=version) if verdict.is_proof else told


def _time(seconds: float | None) -> str | None:
    return moments.to_rfc3339(seconds) if seconds else None


# ------------------------------------------------------------------ what people are told
def drills_told(view: DrillView | None, former: BackupDrills | None) -> BackupDrills | None:
    """Return the record with when the next one comes."""
    if view is None or former is None or not view.is_asked or view.next_due is None:
        return former
    return replace(former, next=moments.to_rfc3339(view.next_due))


def proven(
    view: DrillView | None, drills: BackupDrills | None, generation: int
) -> tuple[Condition, ...]:
    """Return the condition; nothing where no drills are asked for."""
    if view is None or not view.is_asked:
        return ()
    status, reason, message = _proven(drills or BackupDrills())
    found = Condition(
        type=PROVEN, status=status, reason=reason, message=message, observed_generation=generation
    )
    return (found,)


def _proven(drills: BackupDrills) -> tuple[str, str, str]:
    last = drills.last
    if last is None and drills.run is not None:
        return (
            "Unknown",
            "NeverDrilled",
            f"no drill is over yet: one goes on since {drills.run.began}",
        )
    if last is None:
        when = f": the first one begins at {drills.next}" if drills.next else ""
        return "Unknown", "NeverDrilled", f"no drill is over yet{when}"
    what = "restored" if last.version is None else f"restored to version {last.version}"
    if last.version_time:
        what += f", which was at {last.version_time}"
    if last.proven:
        return "True", last.reason, f"{what}; proven at {last.ended}"
    before = f"last proven at {drills.proven}" if drills.proven else "never proven"
    return "False", last.reason, f"not restored at {last.ended}: {last.trouble}; {before}"


def counting(said: Sequence[tuple[str, Outcome]]) -> list[tuple[str, Outcome]]:
    """Return what steps said that counts for the backup: a drill does if a person must act."""
    return [it for it in said if it[0] != STEP or isinstance(it[1], Blocked)]


def doing_with(doing: str, said: Sequence[tuple[str, Outcome]]) -> str:
    """Return what is going on, with what a drill does beside it."""
    drill = next((it for step, it in said if step == STEP), None)
    if drill is None or isinstance(drill, Done | Blocked):
        return doing
    return f"{doing}; {short(drill.message)}"
