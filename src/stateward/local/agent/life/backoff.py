"""How long a container that ended waits before it starts again. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Ten seconds, doubling up to five minutes; a run of ten minutes makes all good again.

    >>> [Backoff().delay(ends) for ends in (0, 1, 2, 3, 6, 99)]
    [0.0, 10.0, 20.0, 40.0, 300.0, 300.0]
    """

    first: float = 10.0
    limit: float = 300.0
    #: Seconds of running after which earlier ends are forgotten.
    forgiven_after: float = 600.0

    def delay(self, ends: int) -> float:
        """Return the wait before the next start after so many ends in a row beyond the first."""
        return min(self.first * 2 ** min(ends - 1, 32), self.limit) if ends > 0 else 0.0

    def ends_after(self, ends: int, ran: float) -> int:
        """Return how many ends count after one more, of a run of so many seconds."""
        return 1 if ran >= self.forgiven_after else ends + 1
