"""Events are news: after a while they go."""

from __future__ import annotations

from stateward.core.moments import from_rfc3339
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import Selection
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.policies import Event
from stateward.kube.resources import EVENTS, NAMESPACES
from stateward.local.controllers.desk import Desk
from stateward.runtime.controller import Habits
from stateward.runtime.triggers import itself

#: Seconds between two looks at the events of a namespace, which nobody keeps in memory here.
_EVERY = 300.0


def is_old(event: Event, now: float, ttl: float) -> bool:
    """Tell whether an event has not been told for too long."""
    told = event.last_timestamp or event.metadata.creation_timestamp
    return bool(told) and now - from_rfc3339(told) > ttl


class Events:
    """Removes old events, one namespace at a time."""

    def __init__(self, desk: Desk, ttl: float) -> None:
        self._desk = desk
        self._ttl = ttl

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Remove the old events of a namespace."""
        if key not in self._desk.cache(NAMESPACES):
            return DONE
        client, now = self._desk.client, self._desk.ports.clock.now()
        found = await client.list(EVENTS, Selection(namespace=key.name))
        for event in found.items:
            if is_old(event, now, self._ttl):
                try:
                    await client.delete(EVENTS, event.metadata.key, uid=event.metadata.uid)
                except NotFound:
                    continue
        return Retry(_EVERY, "EventsAge", "the others are not old yet")


def employ(desk: Desk, *, ttl: float = 3600.0) -> None:
    """Have old events removed."""
    habits = Habits(workers=1, probe_every=_EVERY)
    desk.add("events", Events(desk, ttl), ((NAMESPACES, itself),), habits)
