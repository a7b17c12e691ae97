"""The embedded controllers without informers: they see the store as it is, and work when woken.

How late Kubernetes' own controllers notice something is a delay here, not a queue and a watch: it
is our operator that the simulation asks, and it pays for every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stateward.core.chance import Chance
from stateward.core.outcome import Retry
from stateward.core.ports import Ports
from stateward.kube.client import Change, Client
from stateward.kube.codec import decode
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.controllers.desk import indexes_of
from stateward.local.documents import Document, loosely
from stateward.local.store import StoreEvent
from stateward.runtime.cache import Cache
from stateward.runtime.controller import Habits, Reconciler
from stateward.runtime.telling.recorder import EventType, ObjectReference
from stateward.runtime.triggers import Trigger
from stateward.sim.immediate import at_once
from stateward.sim.loop import SimLoop

#: Seconds after which a controller of Kubernetes has noticed something.
_NOTICE = (0.005, 0.2)
#: Seconds until it tries again what was refused.
_AGAIN = 1.0


class DirectDesk:
    """What the embedded controllers need, straight over the store."""

    def __init__(
        self, loop: SimLoop, api: Api, ports: Ports, watched: Iterable[Resource[Any]]
    ) -> None:
        self.ports = ports
        self.client: Client = MemoryClient(api, field_manager="kube-controller-manager")
        self.recorder = Silence()
        self._loop = loop
        self._api = api
        self._chance = ports.chance.stream("kubernetes")
        self._caches = {it.name: Cache(loosely(it), indexes_of(it)) for it in watched}
        for name, cache in self._caches.items():
            api.store.listen(_feeding(cache), name)

    def cache(self, resource: Resource[Any]) -> Cache[Document]:
        """Return the objects of a resource as they are."""
        return self._caches[resource.name]

    def add(
        self,
        name: str,
        reconciler: Reconciler,
        sources: Iterable[tuple[Resource[Any], Trigger]],
        habits: Habits | None = None,  # noqa: ARG002 - nothing here is probed or timed out
    ) -> None:
        """Employ a controller."""
        post = _Post(self._loop, self._chance.stream(name), reconciler)
        for resource, trigger in sources:
            shape = self._caches[resource.name].resource.type
            self._api.store.listen(_waking(post, trigger, shape), resource.name)


class _Post:
    """One controller: keys that wait for it, each at most once."""

    def __init__(self, loop: SimLoop, chance: Chance, reconciler: Reconciler) -> None:
        self._loop = loop
        self._chance = chance
        self._reconciler = reconciler
        self._waiting: set[ObjectKey] = set()

    def wake(self, key: ObjectKey, after: float | None = None) -> None:
        """Have a key looked at soon."""
        if key in self._waiting:
            return
        self._waiting.add(key)
        delay = self._chance.between(*_NOTICE) if after is None else after
        self._loop.call_outside(delay, lambda: self._work(key))

    def _work(self, key: ObjectKey) -> None:
        self._waiting.discard(key)
        try:
            outcome = at_once(self._reconciler.reconcile(key))
        except ApiError:
            self.wake(key, _AGAIN)
            return
        if isinstance(outcome, Retry):
            self.wake(key, max(outcome.after, 0.1))


class Silence:
    """Events of Kubernetes' own controllers, which nobody reads here."""

    async def tell(
        self, about: ObjectReference, kind: EventType, reason: str, message: str
    ) -> None:
        """Say nothing."""


def _feeding(cache: Cache[Document]) -> Callable[[StoreEvent], None]:
    shape = cache.resource.type

    def feed(event: StoreEvent) -> None:
        if event.change is Change.DELETED:
            cache.remove(event.now.key)
        else:
            cache.put(decode(event.now.text, shape))

    return feed


def _waking(post: _Post, trigger: Trigger, shape: type[Document]) -> Callable[[StoreEvent], None]:
    def wake(event: StoreEvent) -> None:
        for key in trigger(decode(event.now.text, shape)):
            post.wake(key)

    return wake
