"""The demonstration: the example operator on an embedded Kubernetes, in real time, in one process.

Two instances of the operator run; a story is told (create, change, grow, lose the leader, shrink,
delete) and each chapter ends when what was asked for has become true, or fails when it has not in
time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from stateward.core.errors import NotLeader, PeerUnreachable, StatewardError
from stateward.core.ports import Ports
from stateward.example.api import TEAMS, Team
from stateward.example.operator import LEASE, assemble
from stateward.kube import conditions
from stateward.kube.client import MergePatch, Selection, WatchEvent
from stateward.kube.errors import NotFound
from stateward.kube.interception import Call, InterceptedClient
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import BUILT_IN, CONFIG_MAPS, LEASES, Registry
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.runtime.election import Terms
from stateward.runtime.telling.metrics import Metrics

R = TypeVar("R")
T = TypeVar("T", bound=Object)

KEY = ObjectKey("demo", "crew")

#: Short terms, so that a lost leader is replaced before the eyes of the audience.
_TERMS = Terms(duration=3.0, renew_deadline=2.0, retry_every=0.4)
_PATIENCE = 30.0


class DemoFailed(StatewardError):
    """A chapter of the story did not come true."""

    reason = "DemoFailed"


@dataclass(frozen=True, slots=True)
class Picture:
    """What there is to see at one moment."""

    team: Team | None
    members: tuple[ConfigMap, ...]
    leader: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """One thing that is done, and what must become true of it."""

    title: str
    act: Callable[[], Awaitable[None]]
    holds: Callable[[Picture], bool]


class Cable:
    """An interceptor: the network cable of one instance, which can be pulled."""

    def __init__(self) -> None:
        self._pulled = asyncio.Event()

    def pull(self) -> None:
        """Let nothing through any more."""
        self._pulled.set()

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        """Perform the call while the cable is in."""
        if self._pulled.is_set():
            raise PeerUnreachable(f"{call}: the cable is pulled")
        return await perform()

    async def around_watch(
        self, call: Call, events: AsyncGenerator[WatchEvent[T], None]
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Deliver events while the cable is in."""
        async for event in events:
            if self._pulled.is_set():
                raise PeerUnreachable(f"{call}: the cable is pulled")
            yield event


@dataclass(slots=True)
class Stage:
    """The embedded Kubernetes, the instances and their cables."""

    ports: Ports
    api: Api
    client: MemoryClient
    cables: dict[str, Cable] = field(default_factory=dict)

    def picture(self) -> Picture:
        """Return what there is to see now."""
        team = self.api.store.get(TEAMS.name, KEY)
        lease = self.api.store.get(LEASES.name, LEASE)
        members = self.api.list(CONFIG_MAPS, Selection(namespace=KEY.namespace)).items
        return Picture(
            team=TEAMS.read(team.text) if team else None,
            members=tuple(CONFIG_MAPS.read(stored.text) for stored in members),
            leader=(LEASES.read(lease.text).spec.holder_identity or "") if lease else "",
        )

    async def until(self, chapter: Chapter) -> None:
        """Wait until a chapter has come true."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not chapter.holds(self.picture()):
                    await self.ports.clock.sleep(0.05)
        except TimeoutError:
            raise DemoFailed(
                f"{chapter.title}: not true after {_PATIENCE:g} s", hint="please report it"
            ) from None


@asynccontextmanager
async def stage(ports: Ports) -> AsyncGenerator[Stage, None]:
    """Set the stage: an embedded Kubernetes with two instances of the operator.

    Clear it afterwards.
    """
    api = Api(ports)
    it = Stage(ports, api, MemoryClient(api, field_manager="you"))
    instances = [_operate(it, name) for name in ("operator-a", "operator-b")]
    tasks = [asyncio.create_task(work) for work in (_collect_garbage(it), *instances)]
    try:
        yield it
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def story(it: Stage) -> list[Chapter]:
    """Return the chapters in order."""
    team = {
        "metadata": {"namespace": KEY.namespace, "name": KEY.name},
        "spec": {"size": 3, "motto": "hold fast"},
    }

    async def create() -> None:
        await it.client.create(TEAMS, team)

    async def delete() -> None:
        found = await it.client.get(TEAMS, KEY)
        await it.client.delete(TEAMS, KEY, uid=found.metadata.uid)

    async def pull_the_leaders_cable() -> None:
        it.cables[it.picture().leader].pull()
        await _edit(it, {"size": 6})

    return [
        Chapter("create a team of 3", create, _is_as_asked),
        Chapter(
            "change its motto, one member at a time",
            _editing(it, {"motto": "onward"}),
            _is_as_asked,
        ),
        Chapter(
            "pull the leader's network cable and ask for 6", pull_the_leaders_cable, _is_as_asked
        ),
        Chapter("shrink to 2, highest first", _editing(it, {"size": 2}), _is_as_asked),
        Chapter("delete it: members first, then the team", delete, _is_gone),
    ]


def _editing(it: Stage, spec: dict[str, object]) -> Callable[[], Awaitable[None]]:
    return lambda: _edit(it, spec)


async def _edit(it: Stage, spec: dict[str, object]) -> None:
    await it.client.patch(TEAMS, KEY, MergePatch({"spec": spec}))


def _is_as_asked(picture: Picture) -> bool:
    team = picture.team
    return (
        team is not None
        and conditions.is_true(team.status.conditions, "Ready")
        and team.status.observed_generation == team.metadata.generation
        and len(picture.members) == team.spec.size
        and all(member.data["motto"] == team.spec.motto for member in picture.members)
    )


def _is_gone(picture: Picture) -> bool:
    return picture.team is None and not picture.members


async def _operate(it: Stage, name: str) -> None:
    cable = it.cables[name] = Cable()
    client = InterceptedClient(MemoryClient(it.api), cable)
    with suppress(NotLeader):
        operator = assemble(client, it.ports.stream(name), name, Metrics(it.ports.clock), _TERMS)
        await operator.run(asyncio.Event())


async def _collect_garbage(it: Stage) -> None:
    collector = Collector(it.api, Registry((*BUILT_IN, TEAMS)))
    while True:
        await it.ports.clock.sleep(0.2)
        with suppress(NotFound):
            collector.step()
