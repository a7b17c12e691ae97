"""Why an object is not as asked yet: all that holds it back, as its operator tells it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stateward.app.views.finding import Found
from stateward.app.views.told import ToldStatus
from stateward.fdb.api.status import LockStatus, SynchronizationStatus
from stateward.kube.codec import Part
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import Condition

#: Conditions that are true at rest; all others tell of something that goes on, or is wrong.
_GOOD: Final = frozenset(
    {"Ready", "Available", "FullyReplicated", "Quorate", "Restorable", "BackupProven", "Completed"}
    | {"Heeded"}
)
_NOBODY: Final = "no operator has told of it yet: one must run, and watch this namespace"


class Story(Part):
    """One object, and everything for which it waits."""

    kind: str
    namespace: str
    name: str
    #: All is as asked, and nothing is held back.
    complete: bool
    doing: str = ""
    #: Why what is told is not, or not the whole of, the story.
    caveat: str = ""
    blockers: tuple[Blocker, ...] = ()
    #: Those that are not as they are at rest.
    conditions: tuple[Condition, ...] = ()
    #: Of the database: who has it, and who is denied it.
    lock: LockStatus | None = None
    operators: SynchronizationStatus | None = None


def story_of(found: Found) -> Story:
    """Return why an object is not as asked yet, or that it is."""
    metadata, status = found.told.metadata, found.told.status
    caveat = _caveat(found)
    return Story(
        kind=found.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        complete=not caveat and not status.blockers and _is_ready(status.conditions),
        doing=status.doing,
        caveat=caveat,
        blockers=status.blockers,
        conditions=tuple(it for it in status.conditions if not _is_at_rest(it)),
        lock=_lock(status),
        operators=_operators(status),
    )


def _caveat(found: Found) -> str:
    metadata, status = found.told.metadata, found.told.status
    if not status.conditions:
        return _NOBODY
    if metadata.deleting:
        return f"it is being deleted, since {metadata.deletion_timestamp}"
    if (seen := status.observed_generation) < metadata.generation:
        return f"its operator has yet to see generation {metadata.generation}: this is of {seen}"
    return ""


def _is_ready(conditions: Iterable[Condition]) -> bool:
    return any(it.type == "Ready" and it.status == "True" for it in conditions)


def _is_at_rest(condition: Condition) -> bool:
    return condition.status == ("True" if condition.type in _GOOD else "False")


def _lock(status: ToldStatus) -> LockStatus | None:
    locks = status.locks
    return locks if locks is not None and (locks.holder or locks.lock_deny_list) else None


def _operators(status: ToldStatus) -> SynchronizationStatus | None:
    them = status.synchronization
    return them if them is not None and (them.waiting_for or them.silent) else None
