"""Leases, events and disruption budgets: the fields that we read."""

from __future__ import annotations

from stateward.kube.codec import Part
from stateward.kube.meta import Object


class LeaseSpec(Part):
    """Who holds a lease, since when, and for how long it is good."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(Object):
    """A right that ends by itself unless it is renewed."""

    spec: LeaseSpec = LeaseSpec()


class EventTarget(Part):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Event(Object):
    """Something that happened to an object, told to people."""

    involved_object: EventTarget = EventTarget()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int = 0
    first_timestamp: str | None = None
    last_timestamp: str | None = None


class BudgetStatus(Part):
    """How many pods may go now."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    observed_generation: int = 0


class PodDisruptionBudget(Object):
    """How many pods must stay."""

    status: BudgetStatus = BudgetStatus()
