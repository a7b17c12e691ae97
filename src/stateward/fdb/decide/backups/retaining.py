"""What of a backup is old enough to be deleted: never what a restore could still need. Pure.

A restore needs a snapshot that was whole before the moment that is asked for, and all logs since
that snapshot began. So of the days that shall be kept the first moment decides: the newest snapshot
that was whole by then stays, and what is older than it goes. Where there is none, nothing does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.api.backups import urls
from stateward.fdb.decide.backups.views import BackupView, Expire
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import drill_name
from stateward.fdb.status.backups.container import Container

#: Seconds between two looks for what is too old: each reads what lies there.
EVERY: Final = 3600.0
#: Seconds by which a clock may have been ahead and still count.
_AHEAD: Final = 86400.0
#: Seconds until it is asked again whether a restore is over.
_WAITED: Final = 60.0
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Cut:
    """Data before a version goes, and from another on all can be restored as before."""

    before: int
    restorable_after: int


def retaining(view: BackupView, now: float) -> Expire | Outcome:
    """Return whether it is time to look for what is too old."""
    state = view.state
    if view.days is None or state is None or not view.may_act or view.is_deleting:
        return DONE
    if state.restorable is None or not state.url or view.is_elsewhere:
        return DONE
    if not state.stage.is_active or not view.is_ours:
        return DONE
    if view.sharers:
        who = some_of(view.sharers, _SHOWN)
        return Blocked(
            "BackupShared",
            f"its files must be its own to be deleted, and {who} has its backup there too",
            "take spec.retention away, or have one of them lie elsewhere",
        )
    if is_due(view.tried_at, now):
        return _read(view) or Expire(urls.bare(state.url), view.days)
    if view.not_expired:
        words = f"what is older than {view.days} days could not be deleted: {view.not_expired}"
        return Retry(EVERY, "BackupNotExpired", words)
    return DONE


def _read(view: BackupView) -> Outcome | None:
    """Return that somebody reads what is too old, or may; None: nobody does."""
    if drill_name(view.name) in view.readers:
        return DONE  # its own drill is over soon, and nobody has to know
    if not view.readers and not view.unseen:
        return None
    if not view.readers:
        words = f"nobody knows who else has, or reads, what is too old: {view.unseen}"
        return Retry(_WAITED, "BackupUnknown", words)
    who = some_of(view.readers, _SHOWN)
    words = f"what is too old is deleted when nobody restores from it any more: {who} does"
    return Retry(_WAITED, "BackupBeingRestored", words)


def is_due(tried_at: float | None, now: float) -> bool:
    """Tell whether nobody looked within the hour; a clock that is a little behind is no reason to.

    What is far ahead was told by a clock that was wrong, and nobody waits for that.
    """
    return tried_at is None or not -_AHEAD < now - tried_at < EVERY


def cut(found: Container, days: int) -> Cut | None:
    """Return what may go so that every moment of so many days can be restored; None: nothing."""
    if not found.is_restorable:
        return None
    old = [it for it in found.taken if it.restorable and it.days >= days]
    if not old:
        return None
    kept = max(old, key=lambda it: (it.end, it.begin))
    # Nothing of what stays may have begun before: snapshots can overlap where somebody restarts.
    began = min(it.begin for it in found.taken if it.end >= kept.end)
    return Cut(min(kept.begin, began), kept.end)
