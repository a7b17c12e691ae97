"""For how long clusters have been looked at without a pause.

What is on record says since when something fails, and not whether somebody looked all the while.
Who just began, or was away, has yet to see who comes back by itself.
"""

from __future__ import annotations

from typing import Final

from stateward.core.clock import Clock
from stateward.kube.meta import ObjectKey

#: Seconds between two looks from which on nobody knows what happened meanwhile.
_PAUSE: Final = 120.0


class Attention:
    """Kept in memory only: whoever starts anew has seen nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: By cluster: when it was looked at first, and last.
        self._looks: dict[ObjectKey, tuple[float, float]] = {}

    def paid(self, cluster: ObjectKey) -> float:
        """Look once more; return for how many seconds there has been no pause."""
        now = self._clock.monotonic()
        first, last = self._looks.get(cluster, (now, now))
        began = first if now - last < _PAUSE else now
        self._looks[cluster] = (began, now)
        return now - began

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of a cluster that is gone."""
        self._looks.pop(cluster, None)
