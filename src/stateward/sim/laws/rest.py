"""L0 and SILENCE: from the last fault on, a life comes to its end, stays there, and writes nothing.

The clock starts when the last thing that went wrong is over, however long that takes.
"""

from __future__ import annotations

from collections.abc import Callable

from stateward.sim.laws.rates import Rates
from stateward.sim.network import CALM
from stateward.sim.world import NotInTime, World

#: Seconds in which every step must come to its end after the last fault.
PATIENCE = 600.0
#: Seconds for which nothing is written when all is done.
SILENCE = 60.0
#: Seconds between two looks at what shall stay as it is.
_ASKED = 3.0


class Noise(NotInTime):
    """An operator did not stop writing."""

    reason = "Noise"


class Rest:
    """Waits for ends, and knows since when nothing goes wrong."""

    def __init__(self, world: World, rates: Rates, patience: float = PATIENCE) -> None:
        self._world = world
        self._rates = rates
        self._patience = patience
        self._planned = 0
        self._calm_since = 0.0

    def expect(self, planned: int) -> None:
        """Say how many things are still to go wrong: the clock starts anew when they do."""
        self._planned = planned

    async def reach(self, what: str, holds: Callable[[], bool], pause: float = 0.0) -> float:
        """Let time pass until something holds; return how many seconds of calm that took.

        An operator may pause before it tries once more. Raise NotInTime when calm did not help.
        """
        self._calm_since = self._now

        def done() -> bool:
            self._look()
            if not holds():
                self._check(what, self._patience + pause)
                return False
            return True

        await self._world.until(what, done, within=float("inf"))
        return self._now - self._calm_since

    async def stay(self, what: str, holds: Callable[[], bool]) -> None:
        """Let time pass until something has held for a while and nobody wrote meanwhile."""
        self._calm_since = held_since = asked = self._now

        def done() -> bool:
            nonlocal held_since, asked
            self._look()
            if self._now - asked < _ASKED:
                return False
            asked = self._now
            if not holds():
                held_since = self._now
                self._check(f"{what} did not stay so", self._patience)
                return False
            wrote, _, _ = self._rates.last_write
            quiet_since = max(wrote, held_since, self._calm_since)
            if self._now - quiet_since >= SILENCE:
                return True
            self._check_noise()
            return False

        await self._world.until(what, done, within=float("inf"))

    @property
    def _now(self) -> float:
        return self._world.loop.time()

    def _look(self) -> None:
        """Start the clock anew while something goes wrong, or just did."""
        world = self._world
        planned = sum(map(len, world.weather.planned.values()))
        paused = any(it.stands_still for it in world.processes)
        if world.troubled or paused or planned != self._planned or world.weather.mix != CALM:
            self._calm_since = self._now
        self._planned = planned

    def _check(self, what: str, patience: float) -> None:
        if self._now - self._calm_since >= patience:
            raise NotInTime(f"{what}: not within {patience:g} s")

    def _check_noise(self) -> None:
        if self._now - self._calm_since >= self._patience + SILENCE:
            at, who, call = self._rates.last_write
            raise Noise(f"{who} still writes: {call} at {at:.3f} s")
