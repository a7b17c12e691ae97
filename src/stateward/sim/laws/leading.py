"""LEAD and K9: only who holds the lease acts, and others do not ask for it all the time."""

from __future__ import annotations

from collections import deque
from typing import Final

from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import EVENTS, LEASES
from stateward.local.store import StoreEvent
from stateward.sim.laws.watchman import Sent, Watchman
from stateward.sim.network import Asked

#: How often one process may ask for the lease in one minute of calm, by the terms of etcd's.
MOST: Final = 11
_MINUTE: Final = 60.0
#: What those may write who do not lead: that is how they come to.
_ANYBODYS: Final = frozenset({EVENTS.name, LEASES.name})


class OneLeader:
    """LEAD: nobody sends a write while the lease names another, or nobody, or is too new.

    While there is no lease, or one made out of nothing is too new to be acted by, whoever had it
    may believe in it to the end. Who acts without one on purpose is not meant.
    """

    law = "LEAD"

    def __init__(self, watchman: Watchman, lease: ObjectKey, free: str) -> None:
        #: How the names of those begin who need no lease.
        self._free = free
        self._book = watchman.book
        self._store = watchman.world.api.store
        self._lease = lease
        #: Who ever held it.
        self._known: set[str] = set()
        self._holder: str | None = None
        #: Who held it last, or nobody.
        self._last = ""
        watchman.on_sent(self._sent)
        #: Until when those may not act who made a lease out of nothing.
        self._until: dict[str, float] = {}
        self._time = watchman.world.loop.time
        self._store.listen(self._look, LEASES.name)

    def _look(self, event: StoreEvent) -> None:
        stored = self._store.get(LEASES.name, self._lease)
        self._holder = None
        if stored is not None:
            spec = decode(stored.text, Lease).spec
            self._holder = spec.holder_identity or ""
            if event.change is Change.ADDED and self._holder != self._last:
                self._until[self._holder] = self._time() + (spec.lease_duration_seconds or 0)
            self._known.add(self._holder)
            self._last = self._holder

    def _sent(self, sent: Sent) -> None:
        if not sent.call.writes or (sent.kube and sent.kube.resource.name in _ANYBODYS):
            return
        if sent.at < self._until.get(sent.who, 0.0):
            words = f"{sent.call}, while somebody may believe in the lease that was there before"
            self._book.report(self.law, sent.who, words)
        if self._holder == sent.who or sent.who.startswith(self._free) or self._is_open(sent):
            return
        words = f"{sent.call}, while {self._holder or 'nobody'} holds the lease"
        self._book.report(self.law, sent.who, words)

    def _is_open(self, sent: Sent) -> bool:
        """Tell whether who had the lease cannot know yet that another will."""
        is_new = self._holder is None or sent.at < self._until.get(self._holder, 0.0)
        return is_new and sent.who in self._known


class StandBy:
    """K9 in calm: who waits for the lease hears of it, and need not ask again and again."""

    law = "K9"

    def __init__(self, watchman: Watchman, most: int = MOST) -> None:
        self._most = most
        self._book = watchman.book
        self._time = watchman.world.loop.time
        self._asked: dict[str, deque[float]] = {}
        #: Whether no call goes wrong.
        self.calm = False
        watchman.world.weather.listeners.append(self._hear)

    def _hear(self, who: str, call: Asked) -> None:
        if not isinstance(call, Call) or (call.verb, call.resource.name) != ("get", LEASES.name):
            return
        times, now = self._asked.setdefault(who, deque()), self._time()
        times.append(now)
        while times[0] < now - _MINUTE:
            times.popleft()
        if self.calm and len(times) > self._most:
            self._book.report(self.law, who, f"{call}: more than {self._most} times in a minute")
