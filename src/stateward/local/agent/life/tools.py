"""What the lives of all pods of an agent share, and the words they have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from stateward.core.clock import Clock
from stateward.core.ports import Ports
from stateward.kube.client import Client
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.local.agent.actions import Actions
from stateward.local.agent.files.logs import Aside
from stateward.local.agent.files.volumes import Folders, Volumes
from stateward.local.agent.images import Images
from stateward.local.agent.life.backoff import Backoff
from stateward.local.agent.processes import Runner
from stateward.local.agent.references import Lookup
from stateward.runtime.telling.recorder import EventType


class Teller(Protocol):
    """Who tells people what happened to a pod; it takes no time and never fails."""

    def __call__(
        self, pod: ObjectMeta, node: str, kind: EventType, reason: str, message: str
    ) -> None:
        """Tell it in the name of a node."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a life is made with."""

    client: Client
    ports: Ports
    runner: Runner
    actions: Actions
    images: Images
    volumes: Volumes
    folders: Folders
    lookup: Lookup
    tell: Teller
    aside: Aside
    backoff: Backoff = field(default_factory=Backoff)
    #: What programs get of this machine's environment, and from whoever made the agent.
    host_env: Mapping[str, str] = field(default_factory=dict)

    @property
    def clock(self) -> Clock:
        """The clock to read and wait by."""
        return self.ports.clock


class Household(Protocol):
    """The pod that a container is part of."""

    @property
    def metadata(self) -> ObjectMeta:
        """Who the pod is."""

    @property
    def bell(self) -> Bell:
        """Rings when the pod or something that it refers to is different."""

    @property
    def grace_seconds(self) -> float:
        """How long a container gets to end when nobody says otherwise."""

    def changed(self) -> None:
        """Take in that a container is different."""

    def say(self, kind: EventType, reason: str, message: str) -> None:
        """Tell people what happened."""


class Grace:
    """How long something gets to end; it can be made shorter while somebody waits."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self._until = self._began + seconds
        self._shortened = asyncio.Event()

    @property
    def left(self) -> float:
        """Seconds that are left, 0 when it is over."""
        return max(0.0, self._until - self._clock.monotonic())

    def shorten(self, seconds: float) -> None:
        """Count only so many seconds from the beginning, if that is less."""
        until = self._began + seconds
        if until < self._until:
            self._until = until
            self._shortened.set()

    async def over(self) -> None:
        """Return when it is over."""
        while self.left > 0:
            self._shortened.clear()
            await first(self._clock.sleep(self.left), self._shortened.wait())


class Bell:
    """Wakes whoever waits for something to be different."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake everybody."""
        self._rung.set()
        self._rung = asyncio.Event()

    def heard(self) -> Coroutine[Any, Any, bool]:
        """Return what waits for the next ring from now on, not from when it is waited for."""
        return self._rung.wait()


async def first(*things: Coroutine[Any, Any, Any]) -> None:
    """Return when the first of some things is done; the others are given up."""
    tasks = [asyncio.create_task(it) for it in things]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await given_up(tasks)
    for task in done:
        task.result()


async def given_up(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and see them end."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


async def finished(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Return when all tasks are done, however they ended; cancelling us cancels none of them."""
    waiting = [it for it in tasks if not it.done()]
    if waiting:
        await asyncio.wait(waiting)


def ports_of(container: Json) -> dict[str, int]:
    """Return the named ports of a container."""
    ports = container.get("ports") or ()
    return {it["name"]: it["containerPort"] for it in ports if it.get("name")}
