"""A process of the simulated world: tasks that crash together and are paused together.

Everything that a process does runs in its context, so the loop knows whose turn it is. A crash is a
kill -9: from that moment nothing of the process runs, not even its ``finally`` blocks. A pause is
what a stopped virtual machine or a long collector run does: the process notices nothing, except
that it is late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from enum import Enum
from typing import Any, Protocol, TypeVar

from stateward.core.errors import HouseError

T = TypeVar("T")


class Host(Protocol):
    """What a process needs of the loop that it runs on."""

    def create_task(
        self, coro: Coroutine[Any, Any, T], *, name: str, context: Context
    ) -> asyncio.Task[T]:
        """Start a task."""

    def call_outside(self, delay: float, callback: Callable[[], None]) -> object:
        """Call back later on behalf of nobody."""

    def requeue(self, handles: list[asyncio.Handle]) -> None:
        """Put back what was held."""


class Fate(Enum):
    """What has become of a process."""

    ALIVE = "alive"
    PAUSED = "paused"
    DEAD = "dead"
    #: Dead, and its tasks are being cleared away: they run, and reach nobody.
    BURIED = "buried"


class SimProcess:
    """Some tasks with one fate."""

    def __init__(self, loop: Host, name: str) -> None:
        self.name = name
        self.fate = Fate.ALIVE
        self._loop = loop
        self._held: list[asyncio.Handle] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._pauses = 0
        #: Seconds until the one that replaces it starts; None: as chance has it.
        self.rest: float | None = None
        self.ended = asyncio.Event()
        #: Set to ask it to end, as SIGTERM does.
        self.stop = asyncio.Event()

    @property
    def stands_still(self) -> bool:
        """True when nothing of the process may run."""
        return self.fate is Fate.PAUSED or self.fate is Fate.DEAD

    def spawn(self, main: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that belongs to this process, and so does all that it starts."""
        task = self.spawn_beside(main)
        task.add_done_callback(lambda _: self.ended.set())
        return task

    def spawn_beside(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start one more task; the process goes on when it ends."""
        context = copy_context()
        context.run(PROCESS.set, self)
        task = self._loop.create_task(work, name=self.name, context=context)
        self._tasks.append(task)
        return task

    def crash(self, *, rest: float | None = None) -> None:
        """Kill the process: nothing of it ever runs again; ``rest`` says when the next starts."""
        self.fate = Fate.DEAD
        self.rest = rest
        self.ended.set()

    def pause(self, seconds: float) -> None:
        """Stop the process for a while; it does not notice, except that it is late."""
        if self.fate not in {Fate.ALIVE, Fate.PAUSED}:
            return
        self.fate = Fate.PAUSED
        self._pauses += 1
        number = self._pauses
        self._loop.call_outside(seconds, lambda: self._resume(number))

    def hold(self, handle: asyncio.Handle) -> None:
        """Keep what wanted to run while the process could not (the loop calls this)."""
        self._held.append(handle)

    def bury(self) -> None:
        """After the run: let the tasks of a dead process end, so that nothing complains."""
        if self.fate is not Fate.DEAD:
            raise HouseError(f"process {self.name} must be dead before it is buried")
        self.fate = Fate.BURIED
        self._let_run()
        for task in self._tasks:
            task.cancel()

    def _resume(self, number: int) -> None:
        if self.fate is Fate.PAUSED and number == self._pauses:
            self.fate = Fate.ALIVE
            self._let_run()

    def _let_run(self) -> None:
        held, self._held = self._held, []
        self._loop.requeue(held)


#: The process on whose behalf the current task runs; None for the world itself.
PROCESS: ContextVar[SimProcess | None] = ContextVar("process", default=None)
