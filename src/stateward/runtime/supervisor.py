"""One operator process: caches first, then leadership, then work; and back in reverse order.

A standby keeps its caches warm, so that it can act at once when it is elected. A process that loses
its lease ends: what it believed about the world is worth less than a fresh start. Whoever started
it starts it again, as a Deployment does, and then it stands by.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

import structlog

from stateward.core.errors import HouseError, NotLeader
from stateward.runtime.controller import Controller
from stateward.runtime.election import Candidate
from stateward.runtime.informer import Informer

#: Seconds that running passes get to end when the process is asked to stop. With what follows it
#: must fit into the thirty that a pod is given.
GRACE = 15.0
#: Seconds that a cancelled part gets to end; one that does not is left behind.
STUBBORN = 5.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What an operator is made of."""

    informers: tuple[Informer[Any], ...]
    controllers: tuple[Controller, ...]
    elector: Candidate


class Supervisor:
    """Starts and stops the parts of an operator, and says how it is."""

    def __init__(self, parts: Parts, *, grace: float = GRACE) -> None:
        self._parts = parts
        self._grace = grace
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._log = structlog.get_logger("supervisor")

    def problems(self) -> list[str]:
        """Return why the operator is not ready, one sentence each; nothing when it is."""
        return [
            f"{informer.resource}: {informer.problem}"
            for informer in self._parts.informers
            if informer.needed and informer.problem is not None
        ]

    async def run(self, stop: asyncio.Event) -> None:
        """Work until asked to stop; raise NotLeader when leadership is lost."""
        self._start("stop", _wait_for(stop))
        for informer in self._parts.informers:
            self._start(f"informer {informer.resource}", informer.run())
        try:
            await self._lead()
        finally:
            await self._cancel(self._tasks)

    async def _lead(self) -> None:
        self._start("election", self._parts.elector.acquire())
        try:
            if await self._first_of("election") == "stop":
                return
            await self._cancel(["election"])
            for controller in self._parts.controllers:
                self._start(f"controller {controller.name}", controller.run())
            self._start("lease", self._parts.elector.keep())
            if await self._first_of("lease") == "lease":
                raise NotLeader(
                    "leadership was lost, and this process ends",
                    hint="start it again; in a Deployment it starts again by itself",
                )
            await self._wind_down()
        finally:
            # Whatever happens, nothing of ours may still act when the lease is let go.
            self._close_controllers()
            await self._cancel(t for t in self._tasks if t.startswith("controller"))
            await self._cancel(["election", "lease"])
            await self._parts.elector.release()

    async def _wind_down(self) -> None:
        """Take no new work and let what runs end, within the grace and while we lead."""
        self._log.info("stopping: letting running passes end", grace=self._grace)
        self._close_controllers()
        tasks = [t for name, t in self._tasks.items() if name.startswith("controller")]
        parts = zip(self._parts.controllers, tasks, strict=True)
        working = [task for controller, task in parts if not controller.idle]
        if working:
            self._start("end of passes", _wait_for_all(working))
            await asyncio.wait(
                [self._tasks["end of passes"], self._tasks["lease"]],
                timeout=self._grace,
                return_when=asyncio.FIRST_COMPLETED,
            )

    def _close_controllers(self) -> None:
        for controller in self._parts.controllers:
            controller.close()

    async def _first_of(self, *names: str) -> str:
        """Wait for a stop, for one of the named parts to end, or for any part to fail."""
        watched = dict(self._tasks)
        await asyncio.wait(watched.values(), return_when=asyncio.FIRST_COMPLETED)
        for name, task in watched.items():
            if task.done():
                task.result()  # raises what ended it
                if name not in {"stop", *names}:
                    raise HouseError(f"{name} ended, and must not")
        return next(name for name in ("stop", *names) if watched[name].done())

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        while name in self._tasks:
            name += "'"  # two informers may watch one resource
        self._tasks[name] = asyncio.create_task(work, name=name)

    async def _cancel(self, names: Iterable[str]) -> None:
        tasks = [self._tasks.pop(name) for name in tuple(names) if name in self._tasks]
        for task in tasks:
            task.cancel()
        if not tasks:
            return
        _, stubborn = await asyncio.wait(tasks, timeout=STUBBORN)
        for task in stubborn:
            self._log.error("a part does not end and is left behind", part=task.get_name())
            self._parts.elector.leadership.unsure()


async def _wait_for(event: asyncio.Event) -> None:
    await event.wait()


async def _wait_for_all(tasks: Iterable[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)
