"""One pod: its volumes, its containers in order, its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import structlog

from stateward.core.clock import Clock
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.local.agent.environment import PodView
from stateward.local.agent.files.volumes import NotMounted
from stateward.local.agent.life import status
from stateward.local.agent.life.containers import ContainerLife
from stateward.local.agent.life.crew import Crew
from stateward.local.agent.life.recipe import Recipe
from stateward.local.agent.life.reporting import Reporter
from stateward.local.agent.life.tools import Bell, Grace, Tools, first, given_up
from stateward.local.agent.nodes import Node
from stateward.local.documents import Document
from stateward.runtime.backoff import Backoff
from stateward.runtime.telling.recorder import EventType

#: Seconds between looks at a volume that is not there, and before that is told.
_LOOK_AGAIN = 10.0
_PATIENCE = 1.0
#: Seconds that the processes of a pod get whose object is gone already.
_AFTERLIFE = 1.0
_GRACE = 30.0
#: Moments are written in whole seconds, so each may be almost one later than it says.
_WHOLE = 1.0
_RETRY = Backoff(first=0.2, limit=10.0)


class PodLife:
    """Runs one pod from when it is bound until it is gone."""

    def __init__(self, pod: Document, node: Node, address: str, tools: Tools) -> None:
        self.node = node
        self.bell = Bell()
        self.places: dict[str, Path] = {}
        #: Cleared by whoever wants the pod to stay Terminating.
        self.unstuck = asyncio.Event()
        self.unstuck.set()
        self._tools = tools
        self._spec = pod.spec
        self._facts = _first_facts(pod, self._spec, node.address, tools.clock.now())
        self._facts.address = address
        self._reporter = Reporter(tools.client, pod, self._status)
        self._asked = pod.metadata.generation, pod.metadata.labels, pod.metadata.annotations
        #: Set when the pod has to go.
        self.leaving = asyncio.Event()
        #: Set when nothing is left to be waited for: the object is gone, or the agent stops.
        self._over = asyncio.Event()
        self.is_halted = False
        self._grace: Grace | None = None
        policy = self._spec.get("restartPolicy") or "Always"
        self._crew = Crew(self._facts, policy, self, tools, self.recipe)
        self._log = structlog.get_logger("agent").bind(pod=str(pod.metadata.key))
        self._take_in_deletion()

    # -------------------------------------------------------------- what others know of it
    @property
    def metadata(self) -> ObjectMeta:
        """Who the pod is, as last seen."""
        return self._reporter.pod.metadata

    @property
    def grace_seconds(self) -> float:
        """How long a container gets to end when nobody says otherwise."""
        wanted = self._spec.get("terminationGracePeriodSeconds")
        return _GRACE if wanted is None else float(wanted)

    @property
    def containers(self) -> dict[str, ContainerLife]:
        """The lives of its containers by name, those of init containers first."""
        return self._crew.lives

    def is_init(self, name: str) -> bool:
        """Tell whether a container belongs to the start of the pod."""
        return self._crew.is_init(name)

    def recipe(self, name: str) -> Recipe:
        """Return how a container is to be run, as of now."""
        everything = [*_list(self._spec, "initContainers"), *_list(self._spec, "containers")]
        spec = next(it for it in everything if it["name"] == name)
        return Recipe(spec, self._view(), self.places, self._tools)

    def changed(self) -> None:
        """Take in that a container is different."""
        self._reporter.changed()

    def say(self, kind: EventType, reason: str, message: str) -> None:
        """Tell people what happened, as far as the node can be heard."""
        if self.node.reachable.is_set():
            self._tools.tell(self.metadata, self.node.spec.name, kind, reason, message)

    # -------------------------------------------------------------- what happens to it
    def update(self, pod: Document) -> None:
        """Take in a version of the pod."""
        self._reporter.take_in(pod)
        self._spec = self._reporter.pod.spec
        self._take_in_deletion()
        meta = self.metadata
        asked = meta.generation, meta.labels, meta.annotations
        if asked == self._asked:
            return  # our own words about it are no news
        self._asked = asked
        self.poke()
        for life in self._crew.lives.values():
            life.updated()

    def poke(self) -> None:
        """Take in that something may have changed to which the pod refers."""
        if self._facts.prepared and not self.leaving.is_set():
            self._tools.volumes.refresh(self._view())
        self.bell.ring()

    def vanish(self) -> None:
        """Take in that the object is gone."""
        self._over.set()
        self._leave(_AFTERLIFE)

    async def run(self) -> None:
        """Live until the object is gone and nothing of it runs any more."""
        reporting = asyncio.create_task(self._reporter.run(self.node.reachable, self._rest))
        self.changed()
        try:
            if self._reporter.pod.status.get("phase") in status.FINISHED:
                self._reporter.close()  # it is over, and somebody may have said why
            elif not self.leaving.is_set():  # or an earlier agent was ending it already
                await self._live()
            await self._depart()
        finally:
            self._crew.abandon()
            await given_up([reporting])

    def halt(self, seconds: float) -> None:
        """Have all processes end, and tell nobody: the pod itself is to live on."""
        self.is_halted = True
        self._reporter.close()
        self._over.set()
        self._leave(seconds)

    # -------------------------------------------------------------- its course
    async def _live(self) -> None:
        work = asyncio.create_task(self._work())
        deadline = asyncio.create_task(
            _deadline(lambda: self._spec, self._facts.started_at, self.bell, self._tools.clock)
        )
        leaving = asyncio.create_task(self.leaving.wait())
        try:
            await asyncio.wait({work, deadline, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            elif deadline.done() and not leaving.done():
                await given_up([work])
                await self._fail("DeadlineExceeded", "it was active longer than it may be")
        finally:
            await given_up([work, deadline, leaving])

    async def _work(self) -> None:
        await self._mount()
        await self._crew.run()

    async def _mount(self) -> None:
        """Have the volumes, as soon as they can be had."""
        clock = self._tools.clock
        began = clock.monotonic()
        while True:
            try:
                self.places = self._tools.volumes.prepare(self._view())
            except NotMounted as error:
                waited = clock.monotonic() - began
                if waited >= _PATIENCE:
                    self.say(EventType.WARNING, "FailedMount", error.message)
                self._crew.tell_waiting(error.message)
                delay = _LOOK_AGAIN if waited >= _PATIENCE else _PATIENCE
                await first(clock.sleep(delay), self.bell.heard())
            else:
                self._facts.prepared = True
                self._crew.tell_waiting("")
                return

    async def _fail(self, reason: str, message: str) -> None:
        self._facts.failed = reason, message
        self.say(EventType.NORMAL, reason, message)
        self.changed()
        self._grace = self._grace or Grace(self._tools.clock, self.grace_seconds)
        await self._crew.end(self._grace)

    # -------------------------------------------------------------- its end
    async def _depart(self) -> None:
        await self.leaving.wait()
        await self._crew.end(self._grace or Grace(self._tools.clock, self.grace_seconds))
        failures = 0
        while not self._over.is_set() and not await self._is_let_go():
            failures += 1
            await first(self._rest(failures), self._over.wait())
        await self._over.wait()  # a finalizer may hold the object still

    async def _is_let_go(self) -> bool:
        """Tell the server that nothing runs any more, and have the object go."""
        await first(_all_set(self.unstuck, self.node.reachable), self._over.wait())
        if self._over.is_set():
            return True
        return await self._reporter.is_let_go()

    def _take_in_deletion(self) -> None:
        if self.metadata.deleting:
            now = self._tools.clock.now()
            self._leave(_grace_of(self.metadata, now, is_news=self._grace is None))

    def _leave(self, seconds: float) -> None:
        if self._grace is None:
            self._grace = Grace(self._tools.clock, seconds)
        self._grace.shorten(seconds)
        self.leaving.set()

    # -------------------------------------------------------------- small things
    def _view(self) -> PodView:
        node = self.node
        return PodView(
            self.metadata, self._spec, self._facts.address, node.address, node.allocatable
        )

    def _status(self, pod: Document) -> Json:
        now = self._tools.clock.now()
        generation = pod.metadata.generation
        return status.pod_status(generation, self._spec, pod.status, self._facts, now)

    async def _rest(self, failures: int) -> None:
        await self._tools.clock.sleep(_RETRY.delay(failures, self._tools.ports.chance))


def _first_facts(pod: Document, spec: Json, host: str, now: float) -> status.PodFacts:
    """Return what is known of a pod before anything is done: what its status remembers."""
    old = pod.status
    return status.PodFacts(
        host_address=host,
        started_at=status.moment(old.get("startTime")) or now,
        inits=[status.recalled(it, old, now) for it in _list(spec, "initContainers")],
        mains=[status.recalled(it, old, now) for it in _list(spec, "containers")],
    )


def _grace_of(meta: ObjectMeta, now: float, *, is_news: bool) -> float:
    """Return the grace of a deleted pod; who hears of the deletion late, has less of it left."""
    seconds = float(meta.deletion_grace_period_seconds or 0)
    if is_news:
        seconds = min(seconds, status.moment(meta.deletion_timestamp) + _WHOLE - now)
    return max(seconds, _AFTERLIFE)


async def _deadline(spec: Callable[[], Json], began: float, bell: Bell, clock: Clock) -> None:
    """Return when a pod was active for as long as it may be; that can be said late."""
    while True:
        seconds, heard = spec().get("activeDeadlineSeconds"), bell.heard()
        if seconds is None:
            await heard
            continue
        left = began + seconds - clock.now()
        if left <= 0:
            heard.close()
            return
        await first(clock.sleep(left), heard)


async def _all_set(*events: asyncio.Event) -> None:
    for event in events:
        await event.wait()


def _list(spec: Json, name: str) -> list[Json]:
    return spec.get(name) or []
