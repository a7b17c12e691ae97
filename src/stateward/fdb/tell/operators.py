"""What a cluster's status says of other operators of its database. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from stateward.core.moments import to_rfc3339
from stateward.fdb.api import questions
from stateward.fdb.api.status import LockStatus, SynchronizationStatus
from stateward.fdb.decide.operators import agreeing
from stateward.fdb.model.intents import READY, Intents
from stateward.fdb.model.locks import Found
from stateward.fdb.views import ClusterView

_SHOWN: Final = 10


def locks_of(
    view: ClusterView,
    found: Found | None,
    deny_list: tuple[str, ...] | None = None,
    key_prefix: str | None = None,
) -> LockStatus:
    """Return whose the lock is, and what we wrote; where nobody has looked, what was known."""
    former = view.status.locks
    place = former.key_prefix if key_prefix is None else key_prefix
    if not questions.uses_locks(view.spec):
        return LockStatus(key_prefix=place if questions.acts_together(view.spec) else "")
    written = former.deny_list_written if deny_list is None else deny_list
    known = former if found is None else _told(found)
    return msgspec.structs.replace(known, deny_list_written=written, key_prefix=place)


def _told(found: Found) -> LockStatus:
    lock, denied = found.lock, tuple(sorted(found.denied))
    if lock is None:
        return LockStatus(lock_deny_list=denied)
    since, until = to_rfc3339(lock.start), to_rfc3339(lock.end)
    return LockStatus(lock_deny_list=denied, holder=lock.owner, since=since, until=until)


def synchronization(
    view: ClusterView, told: Intents | None, *, silenced: bool
) -> SynchronizationStatus | None:
    """Return as whom we speak, and of whom we wait; until nothing is said any more."""
    former = view.status.synchronization
    if not questions.acts_together(view.spec):
        return None if silenced else former
    if told is None:
        return former
    me, gone = questions.lock_owner(view.spec), agreeing.silent(told, view.now)
    nobody = {me, *gone}
    late = {
        it.group
        for pending, ready in READY.items()
        for it in told.of(pending)
        if it.operator not in nobody and it not in told.of(ready)
    }
    return SynchronizationStatus(
        name=me,
        waiting_for=tuple(sorted(late)[:_SHOWN]),
        silent=gone[:_SHOWN],
    )
