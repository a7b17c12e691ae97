"""An asyncio event loop without a machine under it: virtual time, and an order that the seed
decides.

Time stands still while anything can run and then jumps to the next timer, so an hour costs what its
events cost. Of everything that could run next, the seed picks. Three things make a run repeat in
every process:

- tasks and futures hash by the number of their creation, because asyncio keeps them in sets and a
  set of addresses has another order in every process;
- nothing here can reach a socket, a thread or a program;
- the cyclic collector is off during a run, so that no generator is closed at a moment of its
  choosing.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
from asyncio import events
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, NoReturn, TypeVar

from stateward.core.chance import Chance
from stateward.core.clock import Timer
from stateward.core.errors import HouseError
from stateward.sim.process import PROCESS

T = TypeVar("T")

#: 2026-01-01T00:00:00Z: simulated wall clocks start here.
EPOCH = 1_767_225_600.0

#: So many steps at one moment mean that some tasks wake each other for ever.
LIVELOCK = 1_000_000


class NothingWillHappen(HouseError):
    """Everybody waits and no timer is set: the run would stand still for ever."""

    reason = "NothingWillHappen"


class SimTask(asyncio.Task[T]):
    """A task that hashes by creation number."""

    number = 0

    def __hash__(self) -> int:
        return self.number


class SimFuture(asyncio.Future[T]):
    """A future that hashes by creation number."""

    number = 0

    def __hash__(self) -> int:
        return self.number


class SimLoop(asyncio.BaseEventLoop):
    """The loop. Without a chance it runs first come, first served."""

    # These belong to asyncio.BaseEventLoop, which does not declare them for type checkers.
    _ready: Any
    _stopping: bool

    def __init__(self, chance: Chance | None = None) -> None:
        super().__init__()
        self._now = 0.0
        self._chance = chance
        self._numbers = 0
        # A heap of our own: of two timers for one moment, the one that was set first is due first.
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self.steps = 0
        self._steps_now = 0
        self.set_task_factory(self._make_task)

    def time(self) -> float:
        """Return virtual seconds since the run began."""
        return self._now

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Set a timer; equal moments keep the order in which they were set."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, self._next_number(), timer))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future whose hash does not depend on its address."""
        future: SimFuture[Any] = SimFuture(loop=self)
        future.number = self._next_number()
        return future

    def _make_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, T] | Generator[Any, None, T],
        **options: Any,
    ) -> asyncio.Task[T]:
        task: SimTask[T] = SimTask(coroutine, loop=loop, **options)
        task.number = self._next_number()
        return task

    def _next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _run_once(self) -> None:
        before = self._now
        self._collect_due_timers()
        self._steps_now = self._steps_now + 1 if self._now == before else 0
        if self._steps_now > LIVELOCK:
            self._steps_now = 0
            raise NothingWillHappen(f"{LIVELOCK} steps were taken and time did not move")
        if self._ready:
            self._run_handle(self._take())

    def _collect_due_timers(self) -> None:
        """Move what is due to the ready ones; if none is ready, jump to the next timer first."""
        timers = self._timers
        while timers:
            when, _, timer = timers[0]
            if not timer.cancelled():
                if self._ready and when > self._now:
                    return
                self._now = max(self._now, when)
                self._ready.append(timer)
            heapq.heappop(timers)
        if not self._ready and not self._stopping:
            raise NothingWillHappen("every task waits and no timer is set")

    def _take(self) -> asyncio.Handle:
        ready = self._ready
        if self._chance is None or len(ready) == 1:
            first: asyncio.Handle = ready.popleft()
            return first
        place = self._chance.below(len(ready))
        ready[place], ready[-1] = ready[-1], ready[place]
        chosen: asyncio.Handle = ready.pop()
        return chosen

    def _run_handle(self, handle: asyncio.Handle) -> None:
        if handle.cancelled():
            return
        context: Context = handle._context  # type: ignore[attr-defined]  # noqa: SLF001 - no other way
        process = context.get(PROCESS)
        if process is not None and process.stands_still:
            process.hold(handle)
            return
        self.steps += 1
        handle._run()  # noqa: SLF001 - running handles is what a loop does

    def requeue(self, handles: list[asyncio.Handle]) -> None:
        """Put back what a paused process held."""
        self._ready.extend(handles)

    def go_on(self) -> None:
        """Go on in a copy of the process: asyncio takes no loop for running that another ran."""
        events._set_running_loop(self)  # noqa: SLF001 - no other way

    def call_outside(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back later on behalf of nobody: neither crash nor pause of a process stops it."""
        return self.call_later(delay, callback, context=Context())

    # ------------------------------------------------------------------ no machine
    def _process_events(self, event_list: object) -> None:
        """There is no selector and so there are no events of its."""

    def _write_to_self(self) -> None:
        """Nothing sleeps in a selector, so nobody has to be woken."""

    def run_in_executor(self, executor: object, func: object, *args: object) -> NoReturn:
        """Refuse: threads have no place in a repeatable run."""
        what = f"{func!r} for {executor!r} with {len(args)} arguments"
        raise HouseError(f"a simulation must not use threads, and one was asked for: {what}")

    async def create_connection(self, *args: object, **options: object) -> NoReturn:  # noqa: ARG002
        """Refuse: there is no network here."""
        raise HouseError("a simulation must not open sockets; use a port")

    async def create_server(self, *args: object, **options: object) -> NoReturn:  # noqa: ARG002
        """Refuse: there is no network here."""
        raise HouseError("a simulation must not open sockets; use a port")

    async def subprocess_exec(self, *args: object, **options: object) -> NoReturn:  # noqa: ARG002
        """Refuse: there are no programs here."""
        raise HouseError("a simulation must not start programs; use a port")


class SimClock:
    """A clock of the simulated world, wrong by ``skew`` seconds if the scenario says so."""

    def __init__(self, loop: SimLoop, *, skew: float = 0.0) -> None:
        self._loop = loop
        self.skew = skew

    def now(self) -> float:
        """Return what this clock shows, skew included."""
        return EPOCH + self._loop.time() + self.skew

    def monotonic(self) -> float:
        """Return virtual seconds; a skewed clock still measures well."""
        return self._loop.time()

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call back in virtual time."""
        return self._loop.call_later(delay, callback)

    async def sleep(self, delay: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(delay)


@contextmanager
def running(loop: SimLoop) -> Generator[SimLoop, None, None]:
    """Make a loop usable for one run, with the collector off, and close it afterwards."""
    collected = gc.isenabled()
    gc.disable()
    events.set_event_loop(loop)
    try:
        yield loop
    finally:
        try:
            _end_what_is_left(loop)
        finally:
            loop.close()
            events.set_event_loop(None)
            if collected:
                gc.enable()


def run(main: Coroutine[Any, Any, T], *, chance: Chance | None = None) -> T:
    """Run one coroutine to its end in virtual time."""
    with running(SimLoop(chance)) as loop:
        return loop.run_until_complete(main)


def _end_what_is_left(loop: SimLoop) -> None:
    left = sorted(asyncio.all_tasks(loop), key=lambda task: getattr(task, "number", 0))
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
