"""The five conditions of a backup.

Ready        everything is as asked, and nothing is left to do
Restorable   there is a point to which all can be restored
Progressing  the operator is about to change something
Degraded     something broke that worked before, or keeps the backup from going on
Paused       no agent of the cluster works, whoever asked for that
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from stateward.core import moments
from stateward.core.outcome import Blocked, Done, Outcome
from stateward.fdb.api.backups.backup import BackupDetails
from stateward.fdb.decide.backups.views import BackupView, ClusterIs
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import agents_name
from stateward.fdb.status.backups.backup import BackupStage
from stateward.fdb.tell.backups.agents import Agents
from stateward.kube.meta import Condition

TYPES: Final = ("Ready", "Restorable", "Progressing", "Degraded", "Paused")
_SHOWN: Final = 3
#: Seconds without anything written; agents write what changed some times a minute.
_STALLED: Final = 900.0
_MOVED: Final = (
    "there is no whole snapshot yet where it lies now: before that, it can be restored only with"
    " what lies where it was before, which must be kept"
)
_Said: TypeAlias = tuple[str, str, str]


def conditions_of(
    view: BackupView,
    details: BackupDetails | None,
    agents: Agents,
    outcomes: Sequence[Outcome],
    *,
    reconciled: bool,
) -> tuple[Condition, ...]:
    """Return what a backup says of itself, after a pass that said so much."""
    waiting = next((it for it in outcomes if not isinstance(it, Done)), None)
    blocked = next((it for it in outcomes if isinstance(it, Blocked)), None)
    said = (
        _ready(view, waiting, reconciled=reconciled),
        _restorable(view, details),
        _progressing(waiting, blocked, reconciled=reconciled),
        _degraded(view, agents),
        _paused(view),
    )
    return tuple(
        Condition(
            type=type_,
            status=status,
            reason=reason,
            message=message,
            observed_generation=view.generation,
        )
        for type_, (status, reason, message) in zip(TYPES, said, strict=True)
    )


def _ready(view: BackupView, waiting: Outcome | None, *, reconciled: bool) -> _Said:
    is_unknown = view.state is None and not view.is_unmanaged and not view.holder
    if is_unknown and view.cluster is ClusterIs.THERE:
        return "Unknown", *_words(waiting, "BackupUnknown", "nobody knows how it is")
    if waiting is None or isinstance(waiting, Done):
        if reconciled:
            return "True", "Reconciled", "everything is as the spec says"
        return "False", "Reconciling", "the backup is not as the spec says yet"
    return "False", waiting.reason, waiting.message


def _restorable(view: BackupView, details: BackupDetails | None) -> _Said:
    if view.is_unmanaged:
        return "Unknown", "Unmanaged", "only agents are asked for: nobody looks at a backup"
    if view.holder:
        return "False", "TagTaken", f"the backup of tag {view.tag} is {view.holder}'s"
    state = view.state
    if state is None:
        return "Unknown", "BackupUnknown", "the database does not say how the backup is"
    if view.is_elsewhere:
        return "False", "MovedByOthers", f"what tag {view.tag} has lies elsewhere"
    if view.moved is not None and state.restorable is not None:
        return "False", "NotRestorable", _MOVED
    if state.restorable is None:
        return "False", "NotRestorable", "there is no whole snapshot yet, with all that follows it"
    point = details.latest_restorable if details is not None else None
    if point is None:
        return "True", "Restorable", "it can be restored"
    when = f", which was at {point.time}" if point.time else ""
    return "True", "Restorable", f"it can be restored to version {point.version}{when}"


def _progressing(waiting: Outcome | None, blocked: Blocked | None, *, reconciled: bool) -> _Said:
    if blocked is not None:
        return "False", blocked.reason, blocked.message
    if waiting is None or isinstance(waiting, Done):
        if reconciled:
            return "False", "Reconciled", "nothing is left to do"
        return "True", "Reconciling", "the backup is being changed"
    return "True", waiting.reason, waiting.message


def _degraded(view: BackupView, agents: Agents) -> _Said:
    if view.cluster is ClusterIs.GONE:
        return "True", "ClusterMissing", f"there is no FoundationDBCluster {view.cluster_name}"
    state = view.state
    if broken := _broken(view):
        return broken
    works = state is not None and state.stage.is_active and not view.holder
    if agents.unfit and agents.wanted:
        return "True", "AgentsIncompatible", agents.unfit
    if agents.trouble and agents.ready < agents.wanted:
        return "True", "AgentsMissing", f"{agents.ready} of {agents.wanted}: {agents.trouble}"
    if works and agents.wanted and not agents.ready:
        words = f"none of {agents.wanted} agents is ready: see pods of {agents_name(view.name)}"
        return "True", "AgentsMissing", words
    if since := _stalled(view):
        words = f"nothing was written to where it lies since {since}"
        if view.complaints:
            return "True", "WritesFail", f"{words}: {some_of(view.complaints, _SHOWN)}"
        return "True", "BackupStalled", words
    return "False", "AllWell", "nothing is broken"


def _broken(view: BackupView) -> _Said | None:
    """Return what the database says that keeps a backup from going on."""
    state = view.state
    if state is None or view.holder:
        return None
    if state.stage is BackupStage.ERRORED:
        return "True", "BackupErrored", "the database gave the backup up"
    if view.is_moved:
        return "True", "MovedByOthers", f"somebody else moved what tag {view.tag} has"
    if view.wish == "Running" and state.stage.is_active and state.paused:
        return "True", "BackupPaused", f"it shall run, and all agents are paused{_who(view)}"
    return None


def _stalled(view: BackupView) -> str:
    """Return since when agents write nothing though there is always something; empty: they do."""
    state = view.state
    if state is None or view.holder or view.wish != "Running" or state.paused:
        return ""
    is_told = view.complaints or state.written < view.now - _STALLED
    return moments.to_rfc3339(state.written) if is_told and state.written else ""


def _paused(view: BackupView) -> _Said:
    state = view.state
    if view.is_unmanaged or state is None:
        return "Unknown", "BackupUnknown", "the database does not say whether agents are paused"
    everybody = "no backup agent of the cluster works, for any tag or restore"
    if not state.paused:
        return "False", "NotPaused", "agents work"
    if view.wish == "Paused":
        if view.runners:
            whom = some_of(view.runners, _SHOWN)
            return "True", "PausedForOthers", f"{everybody}, though {whom} shall run"
        return "True", "Paused", everybody
    if view.pausers:
        return "True", "PausedByOthers", f"{everybody}{_who(view)}"
    return "True", "PausedByHand", f"{everybody}, and no FoundationDBBackup asks for that"


def _who(view: BackupView) -> str:
    return f": {some_of(view.pausers, _SHOWN)} asks for that" if view.pausers else ""


def _words(outcome: Outcome | None, reason: str, message: str) -> tuple[str, str]:
    if outcome is None or isinstance(outcome, Done):
        return reason, message
    return outcome.reason, outcome.message
