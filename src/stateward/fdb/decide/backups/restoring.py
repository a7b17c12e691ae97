"""Begin a restore once, follow it, end it with its object: the one thing to do now. Pure.

That it is to be begun is on record before anybody is asked to; what the database has of its tag
says whether it was. So who dies in between, or hears no answer, looks it up. Where the database, or
the cluster, is another by then, nothing is begun a second time.

Keys are taken away only after the database would not restore over them, and only where the object
asks for that; that they will be is on record a minute before. By then nothing that was asked for
earlier can begin a restore any more whose keys these would be, and until the database says that it
is done nothing begins one; after that it is never done again.
"""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.fdb.decide.backups.views import (
    Abort,
    Begin,
    Clear,
    ClusterIs,
    LetGo,
    Note,
    RestoreView,
)
from stateward.fdb.model.listing import some_of
from stateward.fdb.status.backups.restore import RestoreState

_AGAIN: Final = 15.0
#: Seconds between two looks at a restore that goes on, and at one that others are before.
_FOLLOWED: Final = 10.0
#: Seconds for which a program may still begin one, though who ran it is gone.
_LATE: Final = 60.0
#: Seconds after an object was deleted for which what was asked for right before may still come.
_LEFT: Final = 20.0
_SHOWN: Final = 3
_ANOTHER: Final = "delete this object, and make another one"
_NO_AGENTS: Final = Blocked(
    "NoAgents",
    "a restore is done by backup agents of its cluster, and no FoundationDBBackup has any",
    "make one with spec.backupType: unmanaged, which has agents and no backup",
)


def tag_of(uid: str) -> str:
    """Return what a database calls the restore of an object: nobody else's is ever called so."""
    return f"restore-{uid}"


def restoring(view: RestoreView) -> Note | Clear | Begin | Outcome:
    """Return what is to be done about a restore that nobody deleted."""
    record = view.record
    if record.is_over:
        return DONE
    if record.is_foreign:
        return Blocked(
            "BegunByAnother",
            f"it must be begun here to be followed, and another operator began it: {record.state}",
            f"fdbrestore status tells how it is; to restore once more {_ANOTHER}",
        )
    if view.cluster is ClusterIs.GONE:
        return Wait("ClusterMissing", f"waiting for the FoundationDBCluster {view.cluster_name}")
    if view.cluster is ClusterIs.UNMADE:
        return Wait("DatabaseNotMade", "waiting until the cluster has a database")
    if (another := _another(view)) is not None:
        return another
    state = view.state
    if state is None:
        why = view.live.reason if isinstance(view.live, Unknown) else ""
        return Retry(_AGAIN, "RestoreUnknown", f"nobody knows how it is: {why}")
    if state.uid:
        return _followed(view, state)
    return _beginning(view)


def _another(view: RestoreView) -> Outcome | None:
    """Return why nothing is begun where the cluster is not the one that is meant."""
    record, bound = view.record, view.bound_uid
    if record.is_begun:
        if record.cluster_uid != view.cluster_uid:
            return _forgotten("the cluster is another one of the same name by now")
        return None
    if bound in ("", view.cluster_uid):
        return None
    return Blocked(
        "DestinationReplaced",
        f"the cluster must have the UID {bound}, as spec says, and has {view.cluster_uid}: it is"
        " another one of the same name",
        f"to restore into this one {_ANOTHER}",
    )


def _beginning(view: RestoreView) -> Note | Clear | Begin | Outcome:
    """Return whether to begin what the database knows nothing of."""
    if view.record.uid:
        return _forgotten("the database does not know of it any more")
    if view.was_into:
        return Blocked(
            "RestoreElsewhere",
            f"it must go where it was to be begun, which is {view.was_into}, and spec names another"
            " cluster by now: nothing is restored",
            f"set spec.destinationClusterName back; or to restore into the other {_ANOTHER}",
        )
    if view.url_unknown:
        return Wait("BackupUnknown", f"what to restore must be known: {view.url_unknown}")
    if view.emptied:
        words = f"waiting until the files of {view.emptied}, which it would read, are deleted"
        return Retry(_FOLLOWED, "LeftoverLeaving", words)
    if view.others:
        who = some_of(view.others, _SHOWN)
        words = f"{who} is restored into this database, which one restore at a time locks"
        return Retry(_FOLLOWED, "AnotherRestoreRuns", words)
    if not view.has_agents:
        return _NO_AGENTS  # begun, it would lock the database until somebody comes
    if not view.record.is_begun:
        return Note()
    return Begin() if view.record.clearing_at is None else _clearing(view, view.record.clearing_at)


def _clearing(view: RestoreView, since: float) -> Clear | Begin | Outcome:
    """Return whether keys are to be taken away before it is begun."""
    if isinstance(view.cleared, Unknown):
        why = view.cleared.reason
        return Retry(_AGAIN, "RestoreUnknown", f"nobody knows whether keys are cleared: {why}")
    if view.cleared.value:
        return Begin()
    if view.is_paused:
        return Retry(_FOLLOWED, "AgentsPaused", "keys are cleared once agents are not paused")
    left = min(_LATE, since + _LATE - view.now)
    if left > 0:
        words = "keys are cleared a minute after that was said; deleting this object prevents it"
        return Retry(left, "ClearingSoon", words)
    return Clear()


def may_clear(view: RestoreView) -> bool:
    """Tell whether keys may be taken away, now that nothing is restored over them."""
    record = view.record
    return view.clears and record.is_begun and record.clearing_at is None and not record.uid


def _followed(view: RestoreView, state: RestoreState) -> Outcome:
    if not state.stage.is_active:
        return DONE
    if view.is_paused:
        words = "all backup agents of the cluster are paused, and nobody restores"
        return Retry(_FOLLOWED, "AgentsPaused", words)
    if not view.has_agents:
        return _NO_AGENTS
    done = f"{state.blocks_done} of {state.blocks} blocks" if state.blocks else state.stage
    return Retry(_FOLLOWED, "RestoreRuns", f"restoring: {done}")


def _forgotten(why: str) -> Blocked:
    return Blocked(
        "RestoreForgotten",
        f"a restore is begun once, this one was, and {why}",
        f"to restore once more {_ANOTHER}",
    )


def leaving(view: RestoreView) -> Abort | LetGo | Outcome:
    """Return what must be done before the object may go."""
    record = view.record
    if record.is_foreign or not record.is_begun:
        return LetGo("it was never begun here")
    if record.is_over:
        return LetGo("it is over")
    if view.cluster is ClusterIs.GONE or record.cluster_uid != view.cluster_uid:
        return LetGo("its cluster is gone")
    state = view.state
    if state is None:
        why = view.live.reason if isinstance(view.live, Unknown) else ""
        return Retry(_AGAIN, "RestoreUnknown", f"nobody knows whether it still goes on: {why}")
    if state.stage.is_active:
        return Abort()
    if not state.uid and not record.uid and _may_come(view):
        return Retry(_AGAIN, "RestoreMayCome", "it may have been begun just now; looking once more")
    return LetGo("it does not go on")


def _may_come(view: RestoreView) -> bool:
    """Tell whether one may begin that was asked for just before, though nobody asks any more."""
    since = ((view.record.begun_at, _LATE), (view.deleted_at, _LEFT))
    # By clocks of others: one that is ahead of ours is no reason not to wait.
    return any(at is not None and -within < view.now - at < within for at, within in since)
