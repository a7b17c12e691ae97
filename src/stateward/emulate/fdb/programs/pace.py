"""How fast an emulated database lives: as fast as the world, or for tests some times faster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stateward.core.clock import Clock

VARIABLE: Final = "STATEWARD_FDB_PACE"
_MOST: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Pace:
    """A clock, and how many seconds of the model are one of the world.

    All who control a database one after another agree on its time: it begins with its birth.
    Processes are as old as the world says: that is compared with how old their pods are.
    """

    clock: Clock
    times: float = 1.0

    @classmethod
    def told(cls, clock: Clock, environment: Mapping[str, str]) -> Pace:
        """Return the pace that the environment asks for; raise ValueError."""
        text = environment.get(VARIABLE, "1")
        try:
            times = float(text)
        except ValueError:
            times = 0.0
        if not 0 < times <= _MOST:
            raise ValueError(f"{VARIABLE} must be a number above 0, up to {_MOST:g}, got {text!r}")
        return cls(clock, times)

    def now(self, born: float) -> float:
        """Return the time of a database that was born at a moment."""
        return self.model(self.clock.now(), born)

    def model(self, moment: float, born: float) -> float:
        """Return a moment of the world as the model's; what was before its birth is as it was."""
        return born + (moment - born) * self.times

    def wall(self, seconds: float) -> float:
        """Return how long seconds of the model take."""
        return seconds / self.times
