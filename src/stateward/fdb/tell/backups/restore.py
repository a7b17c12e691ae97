"""The status of a restore, and its conditions.

Ready        it is completed
Progressing  it goes on, or is about to
Degraded     something keeps it from going on
Paused       no agent of the cluster works
Completed, Aborted, Failed  how it ended; or why it cannot be begun as it is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec.structs import replace

from stateward.core import moments
from stateward.core.facts import Known
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.restore import FoundationDBRestoreStatus, RestoreProgress
from stateward.fdb.decide.backups.views import ClusterIs, RestoreView
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.doing import short
from stateward.kube import conditions
from stateward.kube.meta import Condition

TYPES: Final = ("Ready", "Progressing", "Degraded", "Paused", "Completed", "Aborted", "Failed")
_Said: TypeAlias = tuple[str, str, str]
_COMPLETED, _ABORTED = str(RestoreStage.COMPLETED), str(RestoreStage.ABORTED)


@dataclass(frozen=True, slots=True)
class RestoreTold:
    """What a pass adds to what was seen."""

    said: Sequence[tuple[str, Outcome]]
    now: float


def restore_status(
    view: RestoreView, former: FoundationDBRestoreStatus, told: RestoreTold
) -> FoundationDBRestoreStatus:
    """Return the status that a restore should have; ``former`` is the one that it has."""
    outcomes = [it for _, it in told.said]
    found = _seen(view, former, told.now)
    said = _conditions(view, found, outcomes)
    return replace(
        found,
        observed_generation=view.generation,
        doing=_doing(found, outcomes),
        blockers=blockers(former.blockers, told.said, (), told.now),
        conditions=conditions.merge(former.conditions, said, told.now),
    )


def can_wait(old: FoundationDBRestoreStatus, new: FoundationDBRestoreStatus) -> bool:
    """Tell whether a status says the same but for how far the restore is."""
    return _essence(old) == _essence(new)


def _essence(status: FoundationDBRestoreStatus) -> FoundationDBRestoreStatus:
    said = tuple(replace(it, message="") for it in status.conditions)
    held = tuple(replace(it, message="") for it in status.blockers)
    return replace(status, doing="", progress=None, conditions=said, blockers=held)


def _seen(
    view: RestoreView, former: FoundationDBRestoreStatus, now: float
) -> FoundationDBRestoreStatus:
    """Return what the database says; what it does not know any more stays as it was told."""
    state = view.state
    if former.clearing is not None and isinstance(view.cleared, Known):
        former = replace(former, clearing=replace(former.clearing, done=view.cleared.value))
    if state is None or not state.uid:
        return former
    return replace(
        former,
        running=state.stage.is_active,
        state=str(state.stage),
        tag=view.tag,
        uid=state.uid,
        url=urls.shown(state.url) or former.url,
        version=former.version if state.version is None else state.version,
        progress=_progress(view, state, former.progress or RestoreProgress(), now),
    )


def _progress(
    view: RestoreView, state: RestoreState, former: RestoreProgress, now: float
) -> RestoreProgress:
    done, every = state.blocks_done, state.blocks
    said = RestoreProgress(
        blocks=every,
        blocks_done=done,
        bytes_written=state.written,
        lag_versions=state.lag,
        percent=100 * done // every if every else 0,
    )
    if not state.stage.is_active or view.is_paused:
        return said
    since = _moment(former.since)
    if since is None:
        return replace(said, since=moments.to_rfc3339(now), blocks_before=done)
    before = former.blocks_before
    left = _left(state, now - since, done - before)
    return replace(said, since=former.since, blocks_before=before, seconds_left=left)


def _left(state: RestoreState, took: float, read: int) -> int | None:
    """Return how long the blocks take that are left, as fast as those before; None: who knows.

    It may have waited for long before anybody restored: that tells nothing of how fast it goes.
    """
    if took <= 0 or read <= 0:
        return None
    return int(took * (state.blocks - state.blocks_done) / read)


def _moment(text: str | None) -> float | None:
    """Read a moment of a status, which anybody may have written."""
    try:
        return moments.from_rfc3339(text) if text else None
    except ValueError:
        return None


def _doing(status: FoundationDBRestoreStatus, outcomes: Sequence[Outcome]) -> str:
    waiting = _first(outcomes)
    if waiting is not None and not isinstance(waiting, Done):
        return short(waiting.message)
    if status.state == _COMPLETED:
        return "completed" if status.version is None else f"completed, at version {status.version}"
    return status.state or "beginning"


# ------------------------------------------------------------------ conditions
def _conditions(
    view: RestoreView, status: FoundationDBRestoreStatus, outcomes: Sequence[Outcome]
) -> tuple[Condition, ...]:
    waiting = _first(outcomes)
    blocked = next((it for it in outcomes if isinstance(it, Blocked)), None)
    said = (
        _ready(status, waiting),
        _progressing(status, waiting, blocked),
        _degraded(view, status, blocked),
        _paused(view, status),
        _ended(status, _COMPLETED, "RestoreCompleted"),
        _ended(status, _ABORTED, "RestoreAborted"),
        _failed(view, blocked),
    )
    return tuple(
        Condition(
            type=type_,
            status=yes,
            reason=reason,
            message=message,
            observed_generation=view.generation,
        )
        for type_, (yes, reason, message) in zip(TYPES, said, strict=True)
    )


def _first(outcomes: Sequence[Outcome]) -> Outcome | None:
    return next((it for it in outcomes if not isinstance(it, Done)), None)


def _ready(status: FoundationDBRestoreStatus, waiting: Outcome | None) -> _Said:
    if status.state == _COMPLETED:
        return "True", "RestoreCompleted", "all is restored"
    if status.state == _ABORTED:
        return "False", "RestoreAborted", "it was ended before all was restored"
    if waiting is None or isinstance(waiting, Done):
        return "False", "RestoreRuns", "not all is restored yet"
    return "False", waiting.reason, waiting.message


def _progressing(
    status: FoundationDBRestoreStatus, waiting: Outcome | None, blocked: Blocked | None
) -> _Said:
    if status.state in (_COMPLETED, _ABORTED):
        return "False", "RestoreOver", f"it is {status.state}"
    if blocked is not None:
        return "False", blocked.reason, blocked.message
    if waiting is None or isinstance(waiting, Done):
        return "True", "RestoreRuns", "it goes on"
    return "True", waiting.reason, waiting.message


def _degraded(
    view: RestoreView, status: FoundationDBRestoreStatus, blocked: Blocked | None
) -> _Said:
    if status.state == _ABORTED:
        return "True", "RestoreAborted", "it was ended before all was restored"
    state = view.state
    if state is not None and state.stage.is_active and state.error:
        return "True", "RestoreTroubled", state.error
    if blocked is not None:
        return "True", blocked.reason, blocked.message
    if view.cluster is ClusterIs.GONE and status.state != _COMPLETED:
        return "True", "ClusterMissing", f"there is no FoundationDBCluster {view.cluster_name}"
    if view.url_unknown and state is not None and not state.uid and not view.record.uid:
        return "True", "BackupUnknown", view.url_unknown
    return "False", "AllWell", "nothing keeps it from going on"


def _paused(view: RestoreView, status: FoundationDBRestoreStatus) -> _Said:
    if status.state in (_COMPLETED, _ABORTED):
        return "False", "RestoreOver", f"it is {status.state}"
    if view.is_paused is None:
        return "Unknown", "RestoreUnknown", "nobody has asked yet whether agents are paused"
    if view.is_paused:
        return "True", "AgentsPaused", "all backup agents of the cluster are paused"
    return "False", "NotPaused", "agents work"


def _ended(status: FoundationDBRestoreStatus, how: str, reason: str) -> _Said:
    if status.state == how:
        return "True", reason, f"it is {how}"
    return (
        "False",
        "RestoreOver" if status.state in (_COMPLETED, _ABORTED) else "RestoreRuns",
        (f"it is {status.state or 'not begun'}"),
    )


def _failed(view: RestoreView, blocked: Blocked | None) -> _Said:
    """Return why it cannot be begun; of one that goes on, whatever hinders it, it was."""
    state = view.state
    if state is not None and state.stage.is_active:
        return "False", "RestoreRuns", "it is begun, and goes on"
    if view.record.is_foreign:
        return "Unknown", "BegunByAnother", "another operator began it, and knows how it ends"
    if blocked is not None:
        return "True", blocked.reason, blocked.message
    return "False", "AllWell", "nothing stands against it"
