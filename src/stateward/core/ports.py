"""Time and chance, handed around together: who waits wants not to be in step with others."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.chance import Chance
from stateward.core.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True)
class Ports:
    """The clock to read and wait by, and the chance to draw from."""

    clock: Clock
    chance: Chance

    @classmethod
    def of_this_machine(cls) -> Ports:
        """Return real time and chance that nobody can repeat."""
        return cls(SystemClock(), Chance.from_system())

    def stream(self, name: str) -> Ports:
        """Return the same clock with an independent stream of chance."""
        return Ports(self.clock, self.chance.stream(name))
