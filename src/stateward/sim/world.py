"""A simulated world: one Kubernetes, some operator processes, a garbage collector, and time that
costs nothing. Others can lie beside it, each with a Kubernetes of its own, at the same time.

The production code of an operator runs unchanged; only its ports lead here. A process that dies, or
ends because it lost its lease, is started again after a while, as a Deployment would do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from stateward.core.chance import Chance
from stateward.core.errors import HouseError, NotLeader, UsageError
from stateward.core.ports import Ports
from stateward.kube.client import Client
from stateward.kube.interception import InterceptedClient
from stateward.kube.resources import BUILT_IN, Registry, Resource
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.sim.befalling import befall
from stateward.sim.faults import Fault
from stateward.sim.loop import SimClock, SimLoop, running
from stateward.sim.network import Course, Network, Weather
from stateward.sim.past import Eyes, SeenApi
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


@dataclass(frozen=True, slots=True)
class Line:
    """How a process reaches the world: its client of Kubernetes, and the wire below it."""

    client: Client
    network: Network


#: Makes an operator from its line, its ports and an identity that no other process ever had.
Assemble = Callable[[Line, Ports, str], Operator]


@dataclass(slots=True)
class Slot:
    """A place for a process, the one that is there now, and how it sees the world."""

    name: str
    assemble: Assemble
    clock: SimClock
    starts: int = 0
    process: SimProcess | None = None
    operator: Operator | None = None
    eyes: Eyes = field(default_factory=Eyes)
    #: Whether another process comes after the one that ends.
    lasts: bool = True


class World:
    """Everything that exists in one run."""

    def __init__(
        self,
        loop: SimLoop,
        seed: int,
        custom: tuple[Resource[Any], ...] = (),
        serve: Callable[[Ports], Api] = Api,
        *,
        place: str = "",
        beside: World | None = None,
    ) -> None:
        self.loop = loop
        #: What it is called among those that lie beside each other; empty: it is alone.
        self.place = place
        self.chance = Chance(seed, f"world {place}".strip())
        self.clock = SimClock(loop)
        self.api = serve(Ports(self.clock, self.chance.stream("kubernetes")))
        self.client: Client = MemoryClient(self.api, field_manager="user")
        #: All that lie beside each other, itself included.
        self.parts: list[World] = beside.parts if beside is not None else []
        self.parts.append(self)
        self.trace: Trace = beside.trace if beside is not None else Trace(loop)
        self.trace.follow(self.api.store, place)
        course: Course = beside.weather.course if beside is not None else Course()
        self.weather: Weather = Weather(course=course, befall=self._befall)
        self._registry = Registry((*BUILT_IN, *custom))
        #: What operators are called in the objects that they write, as their connections say.
        self.manager = "stateward"
        #: Every kind by its name.
        self.kinds = {it.kind: it for it in self._registry}
        #: What befalls beside what can befall any operator.
        self.befall: Callable[[Fault, Slot], bool] = lambda _fault, _slot: False
        #: What broke in the world itself: nothing of an operator, which is a process of its own.
        self._broken: list[BaseException] = []
        if beside is None:
            loop.set_exception_handler(self._hear)
        self._slots: list[Slot] = []
        self._graveyard: list[SimProcess] = []
        self._ended = False
        self._keepers: list[asyncio.Task[None]] = [loop.create_task(self._collect_garbage())]

    @property
    def processes(self) -> list[SimProcess]:
        """The operator processes that are there now, those beside it included."""
        slots = [slot for part in self.parts for slot in part._slots]  # noqa: SLF001 - our own
        return [slot.process for slot in slots if slot.process is not None]

    @property
    def troubled(self) -> int:
        """How much of what went wrong still goes on: that of the weather, and who is down."""
        slots = [slot for part in self.parts for slot in part._slots]  # noqa: SLF001 - our own
        return self.weather.troubled + sum(it.process is None for it in slots if it.lasts)

    def run_operator(self, name: str, assemble: Assemble, *, skew: float = 0.0) -> Slot:
        """Keep an operator process running, whatever happens to it."""
        name = f"{name}-{self.place}" if self.place else name
        slot = Slot(name, assemble, SimClock(self.loop, skew=skew))
        self._slots.append(slot)
        self._keep(slot)
        return slot

    def _keep(self, slot: Slot) -> None:
        keeper = self._keep_running(slot)
        self._keepers.append(self.loop.create_task(keeper, context=Context()))

    def retire(self, slot: Slot) -> None:
        """Kill an operator process; no other one starts until :meth:`restore`."""
        slot.lasts = False
        if slot.process is not None:
            slot.process.crash()

    def restore(self, slot: Slot) -> None:
        """Run the operator again that was retired."""
        slot.lasts = True
        self._keep(slot)

    def lend_operator(self, name: str, assemble: Assemble, seconds: float) -> None:
        """Run one more operator process for a while."""
        slot, over = self.run_operator(name, assemble), self.weather.trouble()
        slot.lasts = False

        def end() -> None:
            if slot.process is not None:
                slot.process.crash()
            over()

        self.later(seconds, end)

    def later(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something after a while, on behalf of nobody."""
        self.loop.call_outside(seconds, lambda: cast("None", do()))

    def _befall(self, fault: Fault, process: SimProcess) -> None:
        """Let something happen that is not about one call."""
        slot = next(it for it in self._slots if it.process is process)
        try:
            if not self.befall(fault, slot):
                befall(self, fault, slot)
        except Exception as error:  # noqa: BLE001 - it is ours, and not for the operator to catch
            self._broken.append(error)

    async def until(self, what: str, holds: Callable[[], bool], *, within: float) -> None:
        """Let time pass until something holds; raise NotInTime when it does not in time."""
        deadline = self.loop.time() + within
        while not holds():
            self.check()
            if self.loop.time() >= deadline:
                raise NotInTime(f"{what}: not within {within:g} s")
            await asyncio.sleep(0.5)

    def check(self) -> None:
        """Raise what broke in the world itself, if anything did."""
        for keeper in (it for part in self.parts for it in part._keepers):  # noqa: SLF001 - our own
            if keeper.done():
                keeper.result()  # raises what ended it
        self._check_sound()

    def _check_sound(self) -> None:
        for error in (it for part in self.parts for it in part._broken):  # noqa: SLF001 - our own
            if isinstance(error, UsageError):  # what was asked for cannot be
                raise error
            raise HouseError(f"the simulation itself fell over: {error!r}") from error

    def _hear(self, _: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        """Keep what nobody else catches; the dead may complain while they are buried."""
        if not self._ended:
            error = told.get("exception")
            self._broken.append(error or HouseError(str(told.get("message"))))

    async def end(self) -> None:
        """Stop everything and bury the dead, so that nothing is left to complain."""
        self._ended = True
        for process in self.processes:
            process.crash()
            self._graveyard.append(process)
        for part in self.parts:
            part._ended = True  # noqa: SLF001 - our own
            for process in part._graveyard:  # noqa: SLF001 - our own
                process.bury()
        keepers = [it for part in self.parts for it in part._keepers]  # noqa: SLF001 - our own
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)
        self._check_sound()

    async def _keep_running(self, slot: Slot) -> None:
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
            process.crash(rest=process.rest)
            slot.process = slot.operator = None
            if not slot.lasts:
                return
            chance = self.chance.stream(f"{process.name} rests")
            await asyncio.sleep(chance.between(*_RESTART) if process.rest is None else process.rest)

    async def _operate(self, slot: Slot, process: SimProcess) -> None:
        chance = self.chance.stream(process.name)
        wire = chance.stream("network")
        network = Network(self.loop, process, wire, self.trace, self.weather)
        seen = cast("Api", SeenApi(self.api, slot.eyes, self.clock))
        client = MemoryClient(seen, field_manager=self.manager)
        line = Line(InterceptedClient(client, network), network)
        slot.operator = slot.assemble(line, Ports(slot.clock, chance), process.name)
        with suppress(NotLeader):  # whoever loses the lease ends, as it should
            await slot.operator.run(process.stop)

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
    serve: Callable[[Ports], Api] = Api,
) -> Result:
    """Run a scenario in a world of its own; an error tells the seed and what happened last."""
    with running(SimLoop(Chance(seed, "order"))) as loop:

        def begin() -> World:
            return World(loop, seed, custom, serve)

        return loop.run_until_complete(_live(begin, scenario, seed))


async def _live(
    begin: Callable[[], World], scenario: Callable[[World], Awaitable[None]], seed: int
) -> Result:
    world = begin()
    try:
        await scenario(world)
        return Result(seed, world.trace.digest, world.loop.time(), world.trace.writes)
    except Exception as error:
        error.add_note(f"seed {seed}, at {world.loop.time():.3f} s; the last that happened:")
        for line in world.trace.lines[-40:]:
            error.add_note(line)
        raise
    finally:
        await world.end()
