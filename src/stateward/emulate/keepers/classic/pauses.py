"""How long a process that ended waits for its next start. Pure.

One that ended with 0 was asked to (``kill`` of fdbcli): it is back at once, and that counts for
nothing. Others wait, longer each time, unless they had lived long enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stateward.core.chance import Chance
from stateward.emulate.keepers.classic.commands import Delays


@dataclass(frozen=True, slots=True)
class Pause:
    """Whole seconds until the next start, and what the next failure would wait before jitter."""

    seconds: int
    current: float


def after(code: int, lived: float, current: float, delays: Delays, chance: Chance) -> Pause:
    """Return the pause of a process that ended with a code, after so many seconds of life.

    >>> after(0, 1.0, 60.0, Delays(), Chance(1))
    Pause(seconds=0, current=60.0)
    >>> after(1, 1.0, 0.0, Delays(), Chance(1))
    Pause(seconds=0, current=60.0)
    """
    if code == 0:
        return Pause(0, current)
    if lived >= delays.forgotten_after:
        current = delays.first
    spread = math.ceil(0.1 * current)
    jitter = chance.below(2 * spread + 1) - spread if spread else 0
    longer = min(delays.longest, delays.factor * max(1.0, current))
    return Pause(max(0, round(current) + jitter), longer)


def fitted(current: float, delays: Delays) -> float:
    """Return a pause as new delays allow it.

    >>> fitted(60.0, Delays(longest=5.0, first=1.0)), fitted(0.0, Delays(longest=5.0, first=1.0))
    (5.0, 1.0)
    """
    return max(delays.first, min(delays.longest, current))
