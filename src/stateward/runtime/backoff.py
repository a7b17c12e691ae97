"""How long to wait after failures: doubling, bounded, never in step with others. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.chance import Chance


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow from ``first`` to ``limit`` seconds, each moved by a random share of itself.

    >>> [Backoff(first=1, limit=10, jitter=0).delay(n, Chance(0)) for n in (1, 2, 3, 4, 5, 100)]
    [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    """

    first: float = 0.5
    limit: float = 60.0
    jitter: float = 0.2

    def delay(self, failures: int, chance: Chance) -> float:
        """Return the wait after so many failures in a row (1 or more)."""
        doublings = min(failures - 1, 32)  # 2**32 times anything is past every limit
        return chance.jittered(min(self.first * 2**doublings, self.limit), self.jitter)
