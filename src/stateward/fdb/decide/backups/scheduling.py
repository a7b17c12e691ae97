"""At which moment of a schedule a backup is begun: each at most once, the last of many. Pure."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.decide.backups.views import Arm, BackupView, Due, Skip
from stateward.fdb.status.backups.backup import BackupStage

#: Seconds until a backup is looked at again that is about to end.
_ENDING: Final = 10.0


def scheduling(view: BackupView) -> Arm | Due | Skip | Outcome:
    """Return what is to be done about the moment that came last.

    That one is to be begun is on record before, with what the tag had until then: what the tag has
    later is another, or it was not begun yet. Moments that passed unseen are one.
    """
    state = view.state
    if not view.is_scheduled or state is None or not view.may_act or view.wish != "Running":
        return DONE
    if view.since is None:
        return Arm()
    if view.due is None:
        return DONE
    if state.stage is BackupStage.ABORTING:
        return Retry(_ENDING, "BackupEnding", "the backup of before is about to end")
    if state.stage.is_active:
        return Skip(view.due)
    return Due(view.due, state.uid)
