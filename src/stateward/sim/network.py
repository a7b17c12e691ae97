"""The wire between a process and Kubernetes: late, lossy, and not tied to the fate of who sent.

A call travels, is carried out, and its answer travels back; at each of these moments something can
go wrong. What was sent is carried out even if the sender dies or is paused meanwhile: that is what
makes zombies dangerous.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from stateward.core.chance import Chance
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError, PeerUnreachable
from stateward.kube.client import WatchEvent
from stateward.kube.errors import (
    Conflict,
    Forbidden,
    Gone,
    ServerFailed,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from stateward.kube.interception import Call
from stateward.kube.meta import Object
from stateward.sim.faults import Fault, Kind, fault
from stateward.sim.immediate import drive
from stateward.sim.loop import SimLoop
from stateward.sim.process import Fate, SimProcess
from stateward.sim.trace import Trace

R = TypeVar("R")
T = TypeVar("T", bound=Object)


class Asked(Protocol):
    """A call of any kind: to Kubernetes, or to what the operator looks after."""

    @property
    def writes(self) -> bool:
        """True when it may change something."""


#: How a call is refused that is not carried out; None: it is not refused.
Refuse = Callable[[Kind, Asked], PeerError | None]

#: A verb, a resource and a subresource.
Sort = tuple[str, str, str]

#: What a stormy wire may do to a call.
STORM: Final = tuple(
    fault(kind)
    for kind in (
        *(Kind.LOST_REQUEST, Kind.LOST_ANSWER, Kind.SLOW, Kind.CONFLICT, Kind.OVERLOADED),
        *(Kind.FAILED, Kind.UNAVAILABLE, Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.ZOMBIE),
    )
)


@dataclass(frozen=True, slots=True)
class Mix:
    """How often what goes wrong, as probabilities per call or per event."""

    call: float = 0.0
    watch_cut: float = 0.0
    watch_gone: float = 0.0
    #: The longest that one watch event is late, in seconds.
    watch_lag: float = 0.0
    faults: tuple[Fault, ...] = STORM


CALM = Mix()


@dataclass(slots=True)
class Course:
    """What is counted once, however many clusters of Kubernetes there are beside each other."""

    #: Faults that come at calls of certain numbers.
    planned: dict[int, list[Fault]] = field(default_factory=dict)
    #: How many calls all processes have sent so far.
    calls: int = 0
    #: What still goes on of all that went wrong: calls under way that may be carried out much
    #: later, pauses, cuts, views of the past.
    troubled: int = 0


@dataclass(slots=True)
class Weather:
    """What all wires of a world share: how bad it is now, and who listens to every call."""

    mix: Mix = CALM
    course: Course = field(default_factory=Course)
    listeners: list[Callable[[str, Asked], None]] = field(default_factory=list)
    #: Whose call is being carried out at this very moment, and which; None: nobody's.
    acting: tuple[str, Asked] | None = None
    #: What nobody may do now, and how many wishes there are for that.
    forbidden: Counter[Sort] = field(default_factory=Counter)
    #: Told of every call that came to nothing: refused, lost, or its sender died before.
    failed: Callable[[Asked], None] = lambda _call: None
    #: Carries out what happens to the world, and not to the call itself.
    befall: Callable[[Fault, SimProcess], None] = lambda _fault, _process: None

    @property
    def planned(self) -> dict[int, list[Fault]]:
        """Faults that come at calls of certain numbers."""
        return self.course.planned

    @property
    def calls(self) -> int:
        """How many calls all processes have sent so far."""
        return self.course.calls

    @property
    def troubled(self) -> int:
        """How much still goes on of all that went wrong."""
        return self.course.troubled

    def trouble(self) -> Callable[[], None]:
        """Count one more thing that goes wrong; call the result, once or more, when it is over."""
        self.course.troubled += 1
        going_on = True

        def over() -> None:
            nonlocal going_on
            self.course.troubled -= going_on
            going_on = False

        return over

    def may(self, call: Asked) -> bool:
        """Tell whether a call is allowed."""
        return not self.forbidden or not self.forbidden[sort_of(call)]

    def forbid(self, call: Asked) -> Callable[[], None]:
        """Allow no call like this one to Kubernetes; call the result to allow it again."""
        sort, over = sort_of(call), self.trouble()
        self.forbidden[sort] += 1

        def allow() -> None:
            self.forbidden[sort] -= 1
            over()

        return allow


def sort_of(call: Asked) -> Sort:
    """Return what roles speak of: a verb, a resource and a subresource; of etcd none does."""
    if not isinstance(call, Call):
        return ("", "", "")
    return (call.verb, call.resource.name, call.subresource)


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
        """Send a call to Kubernetes on its way and wait for the answer, if one comes."""
        return await self.send(call, perform, _refusal)

    async def send(self, call: Asked, perform: Callable[[], Awaitable[R]], refuse: Refuse) -> R:
        """Send any call; ``refuse`` says how who is asked refuses it."""
        if self._process.fate is Fate.BURIED:
            raise PeerUnreachable("the dead reach nobody")
        weather = self._weather
        weather.course.calls += 1
        for listener in weather.listeners:
            listener(self._process.name, call)
        happening = self._draw()
        if happening is not None:
            self._trace.note(f"{self._process.name}: {call}: {happening}")
        sent = _Sent(call, happening, refuse, weather)
        journey = _Journey(self._loop, self._process, self._chance, sent)
        if self._process.fate is Fate.DEAD:  # what befell it was its end, before it could send
            never: R = await self._loop.create_future()
            return never
        if happening is not None:
            journey.when_over = weather.trouble()
            if happening.kind is Kind.FORBIDDEN and isinstance(call, Call):
                self._loop.call_outside(happening.seconds, weather.forbid(call))
        return await journey.make(perform)

    async def around_watch(
        self, call: Call, events: AsyncGenerator[WatchEvent[T], None]
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Deliver events late, and cut the stream now and then."""
        async with aclosing(events) as stream:
            if not self._weather.may(call):
                raise _forbidden(call)
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

    def _draw(self) -> Fault | None:
        """Return what happens to the call; what happens to the world happens before it is sent."""
        weather, found = self._weather, None
        for it in weather.planned.pop(weather.calls, ()):
            if it.kind.of_call:
                found = it
            else:
                self._trace.note(f"at call {weather.calls}: {it}")
                weather.befall(it, self._process)
        if found is None and self._chance.happens(weather.mix.call):
            found = self._chance.choice(weather.mix.faults)
        return found


@dataclass(frozen=True, slots=True)
class _Sent:
    """A call, what happens to it, how it would be refused, and the weather that it is sent in."""

    call: Asked
    happening: Fault | None
    refuse: Refuse
    weather: Weather


class _Journey:
    """One call under way. It belongs to nobody: it goes on if the sender dies or sleeps."""

    def __init__(
        self,
        loop: SimLoop,
        process: SimProcess,
        chance: Chance,
        sent: _Sent,
    ) -> None:
        self._loop = loop
        self._process = process
        self._chance = chance
        self._call = sent.call
        self._refuse = sent.refuse
        self._weather = sent.weather
        self._fault = sent.happening
        self._kind = sent.happening.kind if sent.happening is not None else None
        self._answer: asyncio.Future[Any] = loop.create_future()
        self.when_over: Callable[[], None] | None = None

    async def make(self, perform: Callable[[], Awaitable[R]]) -> R:
        """Set out, and wait for the answer as long as the sender lives."""
        self._loop.call_outside(self._way(slow=(1, 4)), lambda: self._arrive(perform))
        result: R = await self._answer
        return result

    def _arrive(self, perform: Callable[[], Awaitable[Any]]) -> None:
        kind = self._kind if self._weather.may(self._call) else Kind.FORBIDDEN
        if kind is Kind.LOST_REQUEST:
            self._come_to_nothing(_unknown(self._call), _TIMEOUT)
        elif kind is not None and (refusal := self._refuse(kind, self._call)):
            self._come_to_nothing(refusal, 0.0)
        elif kind is Kind.ZOMBIE and self._fault is not None:
            self._fall_asleep(self._fault, perform)
        elif kind is Kind.CRASH_BEFORE:
            self._weather.failed(self._call)
            self._die()
            if self.when_over is not None:
                self.when_over()
        else:
            self._carry_out(perform)

    def _come_to_nothing(self, error: PeerError, delay: float) -> None:
        self._weather.failed(self._call)
        self._send_back(error, delay)

    def _fall_asleep(self, fault: Fault, perform: Callable[[], Awaitable[Any]]) -> None:
        """Pause the sender; the call is carried out at some moment of that, or right after it."""
        pause = float(fault.detail(0)) or self._chance.choice(_PAUSES)
        share = float(fault.detail(1, "-1"))
        moment = pause * (share if share >= 0 else self._chance.fraction())
        self._process.pause(pause)
        self._loop.call_outside(pause, self._weather.trouble())
        self._loop.call_outside(moment, lambda: self._carry_out(perform))

    def _die(self) -> None:
        rest = self._fault.seconds if self._fault is not None and self._fault.details else None
        self._process.crash(rest=rest)

    def _carry_out(self, perform: Callable[[], Awaitable[Any]]) -> None:
        self._weather.acting = (self._process.name, self._call)
        try:
            if self._kind is Kind.TWICE:
                drive(perform(), lambda *_: drive(perform(), self._carried_out))
            else:
                drive(perform(), self._carried_out)
        finally:
            self._weather.acting = None

    def _carried_out(self, result: Any, error: BaseException | None) -> None:
        if error is not None:
            if not isinstance(error, PeerError):
                raise error
            self._weather.failed(self._call)
        if self._kind is Kind.CRASH_AFTER:
            self._die()
        if self._kind is Kind.LOST_ANSWER:
            self._send_back(_unknown(self._call), _TIMEOUT)
        else:
            self._send_back(error if error is not None else result, self._way(slow=(0, 4)))

    def _send_back(self, result: Any, delay: float) -> None:
        self._loop.call_outside(delay, lambda: self._deliver(result))

    def _deliver(self, result: Any) -> None:
        if self.when_over is not None:
            self.when_over()
        if self._kind is Kind.CRASH_ANSWERED:
            self._loop.call_outside(0.0, self._die)
        if self._answer.done():  # the caller gave up
            return
        if isinstance(result, PeerError):
            self._answer.set_exception(result)
        else:
            self._answer.set_result(result)

    def _way(self, slow: tuple[float, float]) -> float:
        return self._chance.between(*(slow if self._kind is Kind.SLOW else (0, 0.02)))


#: What the caller hears when Kubernetes does not carry a call out, whatever it was.
_REFUSALS: Final[dict[Kind, Callable[[], PeerError]]] = {
    Kind.OVERLOADED: lambda: TooManyRequests("slow down", retry_after=2),
    Kind.FAILED: lambda: ServerFailed("internal error"),
    Kind.UNAVAILABLE: lambda: Unavailable("not now"),
    Kind.TIMED_OUT: lambda: ServerFailed("the server was too slow"),
    Kind.UNAUTHORIZED: lambda: Unauthorized("who are you?"),
    Kind.CONFUSED: lambda: PeerConfused("the answer was cut in the middle"),
}


def _forbidden(call: Asked) -> Forbidden:
    verb, resource, part = sort_of(call)
    return Forbidden(f"{resource}{'/' * bool(part)}{part} is forbidden: cannot {verb} it")


def _refusal(kind: Kind, call: Asked) -> PeerError | None:
    """Return what the caller hears when Kubernetes does not carry a call out."""
    if kind is Kind.CONFLICT:
        return Conflict("somebody else wrote first") if call.writes else None
    if kind is Kind.FORBIDDEN:
        return _forbidden(call)
    refuse = _REFUSALS.get(kind)
    return refuse() if refuse is not None else None


def _unknown(call: Asked) -> PeerError:
    """Return what silence means: of a read nothing, of a write that nobody knows."""
    if call.writes:
        return OutcomeUnknown(f"{call}: no answer came")
    return PeerUnreachable(f"{call}: no answer came")
