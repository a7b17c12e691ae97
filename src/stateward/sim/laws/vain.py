"""K4: what an operator writes changes something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from stateward.kube.interception import Call
from stateward.kube.resources import LEASES
from stateward.sim.faults import Family
from stateward.sim.laws.watchman import Watchman
from stateward.sim.network import Asked, Weather

#: How often in a calm life somebody else may be first, so that a write is refused; once more for
#: every time that a user does something, which may be just then.
MOST: Final = 2
#: How often more what is there may be written because of one fault of a family: by who sees the
#: past, or by two at once. Whatever else goes wrong makes nobody blind.
_REPEATED: Final[Mapping[Family, int]] = {
    **dict.fromkeys((Family.PAST, Family.PAST_OF_SOME, Family.UPGRADE), 6),
    # Two passes that begin at once both tie three pods to their cluster, and delete one object.
    Family.TWICE: 2,
    Family.TWO_LEADERS: 20,
}


class Vain:
    """K4: counts the writes to Kubernetes of which nothing came: refused, or what was there."""

    law = "K4"

    def __init__(self, watchman: Watchman) -> None:
        #: By their ids, which nobody else gets as long as they are kept here.
        self._sent: dict[int, Asked] = {}
        self._failed: dict[int, Asked] = {}
        self.follow(watchman)

    def follow(self, watchman: Watchman) -> None:
        """Count what operators write beside as well."""
        weather = watchman.world.weather
        weather.listeners.append(self._hear)
        weather.failed = self._fail
        watchman.world.api.store.listen(lambda _event: self._changed(weather))

    def complaint(self, edits: int = 0) -> str:
        """Return what was written in vain too often for a calm life with some edits, if it was."""
        return _complaint([*self._failed.values(), *self._sent.values()], MOST + edits)

    def repeats(self, families: Iterable[Family]) -> str:
        """Return what was written too often though it was there, under faults of some families.

        What was refused or lost may be written again; who writes what is there did not look.
        """
        most = MOST + sum(_REPEATED.get(it, 0) for it in families)
        return _complaint([*self._sent.values()], most)

    def _hear(self, _: str, call: Asked) -> None:
        if isinstance(call, Call) and call.writes and call.resource.name != LEASES.name:
            self._sent[id(call)] = call

    def _fail(self, call: Asked) -> None:
        if (sent := self._sent.pop(id(call), None)) is not None:
            self._failed[id(call)] = sent

    def _changed(self, weather: Weather) -> None:
        if weather.acting is not None:
            self._sent.pop(id(weather.acting[1]), None)


def _complaint(vain: list[Asked], most: int) -> str:
    if len(vain) <= most:
        return ""
    return f"{len(vain)} writes changed nothing, the last one: {vain[-1]}"
