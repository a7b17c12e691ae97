"""K4 in calm: what an operator writes changes something."""

from __future__ import annotations

from typing import Final

from stateward.kube.interception import Call
from stateward.kube.resources import LEASES
from stateward.local.store import StoreEvent
from stateward.sim.laws.watchman import Watchman
from stateward.sim.network import Asked

#: How often in a life somebody else may be first, so that a write is refused.
MOST: Final = 2


class Vain:
    """K4: counts the writes to Kubernetes of which nothing came: refused, or what was there."""

    law = "K4"

    def __init__(self, watchman: Watchman) -> None:
        self._weather = watchman.world.weather
        #: By their ids, which nobody else gets as long as they are kept here.
        self._sent: dict[int, Asked] = {}
        self._weather.listeners.append(self._hear)
        watchman.world.api.store.listen(self._changed)

    def complaint(self) -> str:
        """Return what was written in vain too often, if anything was."""
        if len(self._sent) <= MOST:
            return ""
        last = list(self._sent.values())[-1]
        return f"{len(self._sent)} writes changed nothing, the last one: {last}"

    def _hear(self, _: str, call: Asked) -> None:
        if isinstance(call, Call) and call.writes and call.resource.name != LEASES.name:
            self._sent[id(call)] = call

    def _changed(self, _: StoreEvent) -> None:
        if self._weather.acting is not None:
            self._sent.pop(id(self._weather.acting[1]), None)
