"""The wire between a process and Kubernetes: late, lossy, and not tied to the fate of who sent.

A call travels, is carried out, and its answer travels back; at each of these moments something can
go wrong. What was sent is carried out even if the sender dies or is paused meanwhile: that is what
makes zombies dangerous.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from stateward.core.chance import Chance
from stateward.core.errors import HouseError, OutcomeUnknown, PeerError, PeerUnreachable
from stateward.kube.client import WatchEvent
from stateward.kube.errors import Conflict, Gone, ServerFailed, TooManyRequests, Unavailable
from stateward.kube.interception import Call
from stateward.kube.meta import Object
from stateward.sim.loop import SimLoop
from stateward.sim.process import Fate, SimProcess
from stateward.sim.trace import Trace

R = TypeVar("R")
T = TypeVar("T", bound=Object)


class Fault(Enum):
    """What can happen to one call."""

    NONE = "none"
    LOST_REQUEST = "the request is lost"
    LOST_ANSWER = "the answer is lost"
    SLOW = "both ways take seconds"
    CONFLICT = "409"
    OVERLOADED = "429"
    FAILED = "500"
    UNAVAILABLE = "503"
    CRASH_BEFORE = "the sender dies before it is carried out"
    CRASH_AFTER = "the sender dies after it was carried out"
    ZOMBIE = "the sender sleeps through its lease while the call is under way"


@dataclass(frozen=True, slots=True)
class Mix:
    """How often what goes wrong, as probabilities per call or per event."""

    call: float = 0.0
    watch_cut: float = 0.0
    watch_gone: float = 0.0
    #: The longest that one watch event is late, in seconds.
    watch_lag: float = 0.0
    faults: tuple[Fault, ...] = tuple(fault for fault in Fault if fault is not Fault.NONE)


CALM = Mix()


@dataclass(slots=True)
class Weather:
    """What all wires of a world share: how bad it is now, and who listens to every call."""

    mix: Mix = CALM
    #: Calls under way that something happened to: they may still be carried out, much later.
    troubled: int = 0
    listeners: list[Callable[[str, Call], None]] = field(default_factory=list)


_TIMEOUT = 10.0
_PAUSES = (12.0, 30.0, 60.0, 90.0)


class Network:
    """An interceptor: the wire of one process."""

    def __init__(
        self,
        loop: SimLoop,
        process: SimProcess,
        chance: Chance,
        trace: Trace,
        weather: Weather,
    ) -> None:
        self._loop = loop
        self._process = process
        self._chance = chance
        self._trace = trace
        self._weather = weather

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        """Send the call on its way and wait for the answer, if one comes."""
        if self._process.fate is Fate.BURIED:
            raise PeerUnreachable("the dead reach nobody")
        fault = self._draw()
        if fault is not Fault.NONE:
            self._trace.note(f"{self._process.name}: {call}: {fault.value}")
        for listener in self._weather.listeners:
            listener(self._process.name, call)
        journey = _Journey(self._loop, self._process, self._chance, call, fault)
        if fault is not Fault.NONE:
            self._weather.troubled += 1
            journey.when_over = self._one_trouble_less
        return await journey.make(perform)

    async def around_watch(
        self, call: Call, events: AsyncGenerator[WatchEvent[T], None]
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Deliver events late, and cut the stream now and then."""
        async with aclosing(events) as stream:
            async for event in stream:
                mix = self._weather.mix
                if mix.watch_lag:
                    await asyncio.sleep(self._chance.between(0, mix.watch_lag))
                if self._chance.happens(mix.watch_cut):
                    self._trace.note(f"{self._process.name}: {call}: cut")
                    raise PeerUnreachable("the watch was cut")
                if self._chance.happens(mix.watch_gone):
                    self._trace.note(f"{self._process.name}: {call}: gone")
                    raise Gone("too old resource version")
                yield event

    def _one_trouble_less(self) -> None:
        self._weather.troubled -= 1

    def _draw(self) -> Fault:
        mix = self._weather.mix
        return self._chance.choice(mix.faults) if self._chance.happens(mix.call) else Fault.NONE


class _Journey:
    """One call under way. It belongs to nobody: it goes on if the sender dies or sleeps."""

    def __init__(
        self, loop: SimLoop, process: SimProcess, chance: Chance, call: Call, fault: Fault
    ) -> None:
        self._loop = loop
        self._process = process
        self._chance = chance
        self._call = call
        self._fault = fault
        self._answer: asyncio.Future[Any] = loop.create_future()
        self.when_over: Callable[[], None] | None = None

    async def make(self, perform: Callable[[], Awaitable[R]]) -> R:
        """Set out, and wait for the answer as long as the sender lives."""
        self._loop.call_outside(self._way(slow=(1, 4)), lambda: self._arrive(perform))
        result: R = await self._answer
        return result

    def _arrive(self, perform: Callable[[], Awaitable[Any]]) -> None:
        if refusal := _refusal(self._fault, self._call):
            delay = _TIMEOUT if self._fault is Fault.LOST_REQUEST else 0.0
            self._send_back(refusal, delay)
        elif self._fault is Fault.ZOMBIE:
            pause = self._chance.choice(_PAUSES)
            self._process.pause(pause)
            self._loop.call_outside(
                pause * self._chance.fraction(), lambda: self._carry_out(perform)
            )
        else:
            if self._fault is Fault.CRASH_BEFORE:
                self._process.crash()
            self._carry_out(perform)

    def _carry_out(self, perform: Callable[[], Awaitable[Any]]) -> None:
        try:
            result: Any = _at_once(perform())
        except PeerError as error:
            result = error
        if self._fault is Fault.CRASH_AFTER:
            self._process.crash()
        if self._fault is Fault.LOST_ANSWER:
            self._send_back(_unknown(self._call), _TIMEOUT)
        else:
            self._send_back(result, self._way(slow=(0, 4)))

    def _send_back(self, result: Any, delay: float) -> None:
        self._loop.call_outside(delay, lambda: self._deliver(result))

    def _deliver(self, result: Any) -> None:
        if self.when_over is not None:
            self.when_over()
        if self._answer.done():  # the caller gave up
            return
        if isinstance(result, PeerError):
            self._answer.set_exception(result)
        else:
            self._answer.set_result(result)

    def _way(self, slow: tuple[float, float]) -> float:
        return self._chance.between(*(slow if self._fault is Fault.SLOW else (0, 0.02)))


def _at_once(work: Awaitable[R]) -> R:
    """Carry out a call of the embedded server, which never waits for anything but its turn."""
    steps = work.__await__()
    try:
        while next(steps) is None:  # it offers its turn to others; here it has it
            pass
    except StopIteration as ended:
        result: R = ended.value
        return result
    raise HouseError("a call of the embedded server must not wait")


def _refusal(fault: Fault, call: Call) -> PeerError | None:
    """Return what the caller hears when the call is not carried out."""
    match fault:
        case Fault.LOST_REQUEST:
            return _unknown(call)
        case Fault.CONFLICT if call.writes:
            return Conflict("somebody else wrote first")
        case Fault.OVERLOADED:
            return TooManyRequests("slow down", retry_after=2)
        case Fault.FAILED:
            return ServerFailed("internal error")
        case Fault.UNAVAILABLE:
            return Unavailable("not now")
        case _:
            return None


def _unknown(call: Call) -> PeerError:
    """Return what silence means: of a read nothing, of a write that nobody knows."""
    if call.writes:
        return OutcomeUnknown(f"{call}: no answer came")
    return PeerUnreachable(f"{call}: no answer came")
