"""What operators did to a world: what they made, what they took away, what they asked of etcd."""

from __future__ import annotations

from collections import Counter
from typing import Final

from stateward.emulate.etcd.state import State
from stateward.kube.client import Change
from stateward.kube.resources import EVENTS, LEASES
from stateward.local.store import StoreEvent
from stateward.sim.etcd.laws.truth import changes, ordinal
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.laws.watchman import Sent, Watchman, begins_to_go

#: What operators do and say all the time.
_SMALL: Final = frozenset({EVENTS.name, LEASES.name})
#: Changes of members and of logins are counted when members agree to them: to ask for one that is
#: there already, since nobody heard the answer, does nothing.
_AGREED: Final = frozenset(
    {"add_learner", "promote", "remove", "add_root", "enable_auth", "disable_auth"}
)


class Acts:
    """Counts acts as they are carried out, by who is concerned."""

    def __init__(self, watchman: Watchman) -> None:
        self.counts: Counter[str] = Counter()
        self._watchman = watchman
        watchman.world.api.store.listen(self._changed)
        watchman.on_sent(self._sent)

    def agreed(self, before: State, after: State) -> None:
        """Count a change of members or logins: nobody but operators asks for one."""
        for verb, member in changes(before, after):
            self.counts[f"etcd {verb} {ordinal(member)}"] += 1
        if after.rooted and not before.rooted:
            self.counts["etcd add_root"] += 1
        if after.auth != before.auth:
            self.counts["etcd enable_auth" if after.auth else "etcd disable_auth"] += 1

    def _changed(self, event: StoreEvent) -> None:
        if event.resource in _SMALL or self._watchman.world.weather.acting is None:
            return
        if event.change is Change.ADDED:
            self.counts[f"create {event.resource} {event.now.key.name}"] += 1
        elif begins_to_go(event):
            self.counts[f"delete {event.resource} {event.now.key.name}"] += 1

    def _sent(self, sent: Sent) -> None:
        call = sent.call
        if isinstance(call, EtcdCall) and call.writes and call.verb not in _AGREED:
            self.counts[f"etcd {call.verb}"] += 1
