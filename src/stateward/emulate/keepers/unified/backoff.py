"""How long a process that failed waits: failures in a row, squared; a minute at most. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

LONGEST = 60.0
#: Seconds since the last start after which failures are forgotten.
FORGOTTEN_AFTER = 300.0


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a process failed in a row.

    >>> failures = Failures()
    >>> [failures.pause, failures.another().pause, failures.another().another().pause]
    [0.0, 1.0, 4.0]
    """

    count: int = 0

    @property
    def pause(self) -> float:
        """Seconds to wait after the next failure."""
        return min(LONGEST, float(self.count**2))

    def another(self) -> Self:
        """Count one more."""
        return replace(self, count=self.count + 1)

    def remembered(self, since_start: float) -> Self:
        """Forget them when the last start was long ago.

        >>> Failures(5).remembered(299.0), Failures(5).remembered(301.0)
        (Failures(count=5), Failures(count=0))
        """
        return replace(self, count=0) if since_start > FORGOTTEN_AFTER else self
