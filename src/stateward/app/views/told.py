"""What the statuses of all our kinds have in common, so that one question serves them all."""

from __future__ import annotations

from stateward.fdb.api.status import LockStatus, SynchronizationStatus
from stateward.kube.codec import Part
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import Condition, Object


class ToldStatus(Part):
    """What an operator tells of an object. What a kind does not have is as if nothing were told."""

    observed_generation: int = 0
    doing: str = ""
    blockers: tuple[Blocker, ...] = ()
    conditions: tuple[Condition, ...] = ()
    locks: LockStatus | None = None
    synchronization: SynchronizationStatus | None = None


class Told(Object, kw_only=True):
    """Any object of ours, as far as it tells how it is."""

    status: ToldStatus = ToldStatus()
