"""A drill of a backup, from its moment until nothing of it is left: the one thing to do now. Pure.

What comes next is on record before it is done, and each object that is made is looked up by its
name: so whoever comes after an operator that ended goes on, and nothing is made twice. What was not
made by this very drill is never touched, whatever it is called.

Nothing is proved but by a restore that is completed at the version that was asked for, into a
cluster that takes transactions, with keys that are there. Whatever keeps a drill from that says so,
and so does time: a backup of which nobody knows whether it can be restored is not proven.
"""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.api.backups.drill import DrillPhase
from stateward.fdb.decide.backups.drills import (
    Act,
    Close,
    Counted,
    DrillView,
    Drop,
    Forget,
    Found,
    Keep,
    Make,
    Move,
    Open,
    Piece,
    Run,
    Verdict,
    Verify,
)
from stateward.fdb.decide.backups.views import Arm, Skip

#: Seconds between two looks at a drill that goes on, and at what keeps one from being begun.
_FOLLOWED: Final = 10.0
_AGAIN: Final = 15.0
#: Seconds for which a restore must have been refused before that is what the drill has shown.
_SURELY: Final = 300.0
#: Refusals that are about the backup, or that nobody but a person mends.
_REFUSALS: Final = frozenset(
    {
        "BackupMissing",
        "VersionNotRestorable",
        "DestinationInvalid",
        "DestinationNotEmpty",
        "DestinationReplaced",
        "DatabaseRefused",
        "RestoreForgotten",
        "SpecInvalid",
    }
)


def drilling(view: DrillView) -> Act | Outcome:
    """Return what is to be done about the drills of a backup."""
    run = view.run
    if view.unseen:
        return Retry(_AGAIN, "DrillWaits", f"what there is of drills must be known: {view.unseen}")
    if run is None:
        return _idle(view)
    if view.is_asked and not view.is_deleting and view.due is not None:
        return Skip(view.due)
    if run.phase == "Ending":
        return _ending(view)
    if not view.is_asked or view.is_deleting:
        return Move("Ending")
    found = _running(view, run)
    is_in_time = view.now - view.timeout < run.began < view.now + view.timeout
    if is_in_time or isinstance(found, Verdict):
        return found
    return Verdict("DrillTimedOut", _late(view, run, found))


# ------------------------------------------------------------------ before
def _idle(view: DrillView) -> Act | Outcome:
    """Return whether one is to be begun."""
    if view.is_deleting:
        return DONE
    if not view.is_asked:
        return Forget() if view.is_told else DONE
    if view.since is None:
        return Arm()
    if view.due is None:
        return DONE
    return _in_the_way(view) or _opening(view, view.due)


def _opening(view: DrillView, due: float) -> Act | Outcome:
    if view.hindrance:
        return Retry(_AGAIN, "DrillWaits", f"a drill is due, and {view.hindrance}")
    if view.source is None:
        return Retry(_AGAIN, "DrillWaits", "a drill is due, and nothing can be restored yet")
    return Open(due, view.source)


def _in_the_way(view: DrillView) -> Act | Outcome | None:
    """Return what becomes of what is there already; None: nothing is."""
    if left := {piece: it.uid for piece, it in view.found.items() if it.is_left}:
        return Drop({it: left[it] for it in reversed(Piece) if it in left})
    return _taken(view, *next(iter(view.found.items()))) if view.found else None


def _taken(view: DrillView, piece: Piece, found: Found) -> Outcome:
    what = f"{piece} {view.name}"
    if found.is_going:
        return Retry(_FOLLOWED, "LeftoverLeaving", f"waiting for {what} of before to go")
    return Blocked(
        "NameTaken",
        f"{what} must be a drill's own, and is there and is none of this drill: it is left alone",
        f"delete it, or give it another name; or take spec.drill away: nobody drills while {what}"
        " is there",
    )


# ------------------------------------------------------------------ while it goes on
def _running(view: DrillView, run: Run) -> Act | Outcome:
    match run.phase:
        case "MakingCluster":
            return _made(view, Piece.CLUSTER, then="MakingAgents")
        case "MakingAgents":
            return (
                _broken(view, run, Piece.CLUSTER)
                or _unavailable(view)
                or _made(view, Piece.AGENTS, then="Restoring")
            )
        case "Restoring":
            return _broken(view, run, Piece.CLUSTER, Piece.AGENTS) or _restoring(view, run)
        case _:
            pieces = Piece.CLUSTER, Piece.RESTORE
            return _broken(view, run, *pieces) or _unavailable(view) or Verify()


def _made(view: DrillView, piece: Piece, *, then: DrillPhase) -> Act | Outcome:
    """Return how a piece comes to be there and on record."""
    found = view.found.get(piece)
    if found is None:
        if view.hindrance and piece is Piece.CLUSTER:
            return Retry(_AGAIN, "DrillWaits", f"a drill goes on, and {view.hindrance}")
        return Make(piece)
    if not found.is_ours or found.is_going:
        return _taken(view, piece, found)
    return Keep(piece, found.uid, then)


def _broken(view: DrillView, run: Run, *pieces: Piece) -> Verdict | None:
    """Return that somebody took away what is on record; None: all of it is there."""
    for piece in pieces:
        found = view.found.get(piece)
        if found is None or found.is_going or found.uid != run.uids.get(piece):
            words = f"{piece} {view.name} was deleted, or made another, while the drill went on"
            return Verdict("DrillDisturbed", words)
    return None


def _unavailable(view: DrillView) -> Outcome | None:
    if view.is_available:
        return None
    words = f"the throw-away cluster {view.name} must take transactions"
    return Retry(_FOLLOWED, "DrillRuns", f"{words}: {view.doing or 'it does not say how it is'}")


def _restoring(view: DrillView, run: Run) -> Act | Outcome:
    if not run.uids.get(Piece.RESTORE):
        return _made(view, Piece.RESTORE, then="Restoring")
    if (broken := _broken(view, run, Piece.RESTORE)) is not None:
        return broken
    it = view.restored
    if it.state == "aborted":
        return Verdict("RestoreAborted", "the restore was ended before all was restored")
    if it.state == "completed":
        if run.version is not None and it.version != run.version:
            words = f"version {run.version} was asked for, and {it.version} was restored"
            return Verdict("DrillAtAnotherVersion", words)
        return Move("Verifying")
    if it.reason in _REFUSALS and it.since is not None and view.now - it.since >= _SURELY:
        return Verdict(it.reason, it.trouble)
    return Retry(_FOLLOWED, "DrillRuns", f"restoring into {view.name}: {it.doing or 'beginning'}")


def _late(view: DrillView, run: Run, found: Act | Outcome) -> str:
    """Return why one is ended that took too long: by what it still waited for."""
    waited = found.message if isinstance(found, Retry | Blocked) else f"it was at {run.phase}"
    return f"it was not over within {view.timeout:g} s: {waited}"


def proving(view: DrillView, counted: Counted) -> Verdict | Outcome:
    """Return what it shows that so many keys are there.

    Where there are none, the backed-up database must have none either: an empty backup is one, too.
    """
    there, before = counted.there, counted.before
    if isinstance(there, Unknown):
        words = f"nobody knows which keys {view.name} has: {there.reason}"
        return Retry(_FOLLOWED, "DrillRuns", words)
    if there.value:
        return Verdict("BackupRestored", keys=there.value)
    if isinstance(before, Unknown):
        words = f"{view.name} has no keys, and nobody knows whether the cluster has: "
        return Retry(_FOLLOWED, "DrillRuns", words + before.reason)
    if before.value:
        words = "the restore was completed, and no key is there, though the cluster has some"
        return Verdict("NothingRestored", words, keys=0)
    return Verdict("BackupRestored", keys=0)


# ------------------------------------------------------------------ after
def _ending(view: DrillView) -> Act | Outcome:
    """Return what is to be taken away: what this very drill made, and nothing else."""
    ours = {piece: it for piece, it in view.found.items() if it.is_ours}
    left = {piece: it.uid for piece, it in ours.items() if not it.is_going}
    if left:
        # The restore first: while there is its cluster it can be ended.
        return Drop({it: left[it] for it in reversed(Piece) if it in left})
    if ours:
        what = " and ".join(f"{it} {view.name}" for it in ours)
        return Retry(_FOLLOWED, "DrillEnds", f"a drill is over; waiting for {what} to go")
    if view.groups_left:
        words = f"{view.groups_left} process groups of {view.name} to go"
        return Retry(_FOLLOWED, "DrillEnds", f"a drill is over; waiting for {words}")
    return Close()
