"""A simulated world: one Kubernetes, some operator processes, a garbage collector, and time that
costs nothing.

The production code of an operator runs unchanged; only its ports lead here. A process that dies, or
ends because it lost its lease, is started again after a while, as a Deployment would do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from stateward.core.chance import Chance
from stateward.core.errors import HouseError, NotLeader
from stateward.core.ports import Ports
from stateward.kube.client import Client
from stateward.kube.interception import InterceptedClient
from stateward.kube.resources import BUILT_IN, Registry, Resource
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.sim.loop import SimClock, SimLoop, running
from stateward.sim.network import Network, Weather
from stateward.sim.process import SimProcess
from stateward.sim.trace import Trace

T = TypeVar("T")

#: Seconds between a process's end and its next start.
_RESTART = (0.5, 20.0)


class NotInTime(HouseError):
    """What had to happen did not happen in time."""

    reason = "NotInTime"


class Operator(Protocol):
    """What a world runs: an operator process until it is asked to stop."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work."""


#: Makes an operator from its client, its ports and an identity that no other process ever had.
Assemble = Callable[[Client, Ports, str], Operator]


@dataclass(slots=True)
class _Slot:
    """A place for a process, and the one that is there now."""

    name: str
    assemble: Assemble
    skew: float
    starts: int = 0
    process: SimProcess | None = None


class World:
    """Everything that exists in one run."""

    def __init__(self, loop: SimLoop, seed: int, custom: tuple[Resource[Any], ...] = ()) -> None:
        self.loop = loop
        self.chance = Chance(seed, "world")
        self.clock = SimClock(loop)
        self.api = Api(Ports(self.clock, self.chance.stream("kubernetes")))
        self.client: Client = MemoryClient(self.api, field_manager="user")
        self.trace = Trace(loop)
        self.trace.follow(self.api.store)
        self.weather = Weather()
        self._registry = Registry((*BUILT_IN, *custom))
        self._slots: list[_Slot] = []
        self._graveyard: list[SimProcess] = []
        self._ended = False
        self._keepers: list[asyncio.Task[None]] = [loop.create_task(self._collect_garbage())]

    @property
    def processes(self) -> list[SimProcess]:
        """The operator processes that are there now."""
        return [slot.process for slot in self._slots if slot.process is not None]

    def run_operator(self, name: str, assemble: Assemble, *, skew: float = 0.0) -> None:
        """Keep an operator process running, whatever happens to it."""
        slot = _Slot(name, assemble, skew)
        self._slots.append(slot)
        self._keepers.append(self.loop.create_task(self._keep_running(slot)))

    async def until(self, what: str, holds: Callable[[], bool], *, within: float) -> None:
        """Let time pass until something holds; raise NotInTime when it does not in time."""
        deadline = self.loop.time() + within
        while not holds():
            for keeper in self._keepers:
                if keeper.done():
                    keeper.result()  # raises what ended it
            if self.loop.time() >= deadline:
                raise NotInTime(f"{what}: not within {within:g} s")
            await asyncio.sleep(0.5)

    async def end(self) -> None:
        """Stop everything and bury the dead, so that nothing is left to complain."""
        self._ended = True
        for process in self.processes:
            process.crash()
            self._graveyard.append(process)
        for process in self._graveyard:
            process.bury()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _keep_running(self, slot: _Slot) -> None:
        while not self._ended:
            slot.starts += 1
            process = slot.process = SimProcess(self.loop, f"{slot.name}.{slot.starts}")
            self.trace.note(f"{process.name} starts")
            task = process.spawn(self._operate(slot, process))
            await process.ended.wait()
            if task.done() and (error := task.exception()) is not None:
                raise HouseError(f"{process.name} fell over: {error!r}") from error
            self.trace.note(f"{process.name} ended")
            self._graveyard.append(process)
            process.crash()
            slot.process = None
            await asyncio.sleep(self.chance.between(*_RESTART))

    async def _operate(self, slot: _Slot, process: SimProcess) -> None:
        chance = self.chance.stream(process.name)
        wire = chance.stream("network")
        network = Network(self.loop, process, wire, self.trace, self.weather)
        client = InterceptedClient(MemoryClient(self.api), network)
        ports = Ports(SimClock(self.loop, skew=slot.skew), chance)
        with suppress(NotLeader):  # whoever loses the lease ends, as it should
            await slot.assemble(client, ports, process.name).run(asyncio.Event())

    async def _collect_garbage(self) -> None:
        """Collect late and a little at a time, as the real one does."""
        collector = Collector(self.api, self._registry)
        chance = self.chance.stream("garbage")
        while True:
            await asyncio.sleep(chance.between(0.2, 5))
            collector.step()


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended."""

    seed: int
    digest: str
    #: Virtual seconds.
    seconds: float
    writes: int


def simulate(
    scenario: Callable[[World], Awaitable[None]],
    *,
    seed: int,
    custom: tuple[Resource[Any], ...] = (),
) -> Result:
    """Run a scenario in a world of its own; an error tells the seed and what happened last."""
    with running(SimLoop(Chance(seed, "order"))) as loop:
        return loop.run_until_complete(_live(loop, scenario, seed, custom))


async def _live(
    loop: SimLoop,
    scenario: Callable[[World], Awaitable[None]],
    seed: int,
    custom: tuple[Resource[Any], ...],
) -> Result:
    world = World(loop, seed, custom)
    try:
        await scenario(world)
        return Result(seed, world.trace.digest, loop.time(), world.trace.writes)
    except Exception as error:
        error.add_note(f"seed {seed}, at {loop.time():.3f} s; the last that happened:")
        for line in world.trace.lines[-40:]:
            error.add_note(line)
        raise
    finally:
        await world.end()
