"""A small cluster in virtual time: the controllers of workloads, a kubelet, a garbage collector."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from fakes.bench import running, until
from fakes.kubelet import Kubelet
from stateward.core.chance import Chance
from stateward.core.errors import OutcomeUnknown
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Unavailable
from stateward.kube.interception import Call, InterceptedClient, PassThrough
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import EVENTS, PODS, Resource
from stateward.local.api import Api
from stateward.local.catalog import SERVED
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads.all import employ
from stateward.local.documents import Document, loosely
from stateward.runtime.telling.metrics import Metrics
from stateward.sim.loop import SimClock, SimLoop

__all__ = ["Cluster", "key", "until"]


class Cut(PassThrough):
    """Lets so many writes pass; with the last of them, everything behind it is dead."""

    def __init__(self, writes: int | None = None) -> None:
        self._left = writes
        self.writes = 0
        self.dead = asyncio.Event()

    async def around(self, call: Call, perform: Callable[[], Awaitable[Any]]) -> Any:
        counts = call.writes and call.resource.name != EVENTS.name
        if self.dead.is_set():
            await asyncio.sleep(1e9)
        result = await perform()
        if counts:
            self.writes += 1
            if self.writes == self._left:
                self.dead.set()
                await asyncio.sleep(1e9)
        return result


class Mischief(PassThrough):
    """Spoils every so-manieth write: nothing is done, or it is done and nobody hears of it."""

    def __init__(self, every: int, *, done: bool) -> None:
        self._every = every
        self._done = done
        self._writes = 0
        self.spoilt = 0

    async def around(self, call: Call, perform: Callable[[], Awaitable[Any]]) -> Any:
        if not call.writes or call.resource.name == EVENTS.name:
            return await perform()
        self._writes += 1
        if self._writes % self._every:
            return await perform()
        self.spoilt += 1
        if not self._done:
            raise Unavailable("not now")
        await perform()
        raise OutcomeUnknown("the answer was lost")


class Cluster:
    """Make it inside a test marked ``virtual``."""

    def __init__(self, **habits: float) -> None:
        self.loop = cast("SimLoop", asyncio.get_running_loop())
        self.clock = SimClock(self.loop)
        self.ports = Ports(self.clock, Chance(0))
        self.api = Api(self.ports)
        self.user = MemoryClient(self.api)
        self.kubelet = Kubelet(self.api, self.clock, **habits)
        self.collector = Collector(self.api, SERVED)
        self.starts = 0
        self.start = 0.0

    def desk(self, cut: Cut | Mischief | None = None) -> Desk:
        """Return controllers that were never here before."""
        self.starts += 1
        ports = self.ports.stream(f"start {self.starts}")
        desk = Desk(InterceptedClient(self.user, cut or Cut()), ports, Metrics(self.clock))
        employ(desk)
        return desk

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None, None]:
        """Have everything run."""
        async with self.without_controllers(), running(self.desk().run()):
            yield

    @asynccontextmanager
    async def without_controllers(self) -> AsyncGenerator[None, None]:
        """Have nodes and the garbage collector run."""
        async with running(self.kubelet.run(), self.collector.run(self.ports.stream("garbage"))):
            yield

    async def make(self, resource: Resource[Any], name: str, spec: Json, **meta: Any) -> Document:
        body = {"metadata": {"namespace": "ns", "name": name, **meta}, "spec": spec}
        return await self.user.create(loosely(resource), body)

    async def edit(self, resource: Resource[Any], name: str, spec: Json) -> None:
        await self.user.patch(loosely(resource), key(name), MergePatch({"spec": spec}))

    async def remove(self, resource: Resource[Any], name: str, **how: Propagation) -> None:
        uid = self.document(resource, name)["metadata"]["uid"]
        await self.user.delete(loosely(resource), key(name), uid=uid, **how)

    def document(self, resource: Resource[Any], name: str) -> Json:
        return self.api.get(resource, key(name)).document()

    def exists(self, resource: Resource[Any], name: str) -> bool:
        return self.api.store.get(resource.name, key(name)) is not None

    def all(self, resource: Resource[Any]) -> list[Json]:
        return [it.document() for it in self.api.store.all(resource.name)]

    def names(self, resource: Resource[Any]) -> list[str]:
        return [it["metadata"]["name"] for it in self.all(resource)]

    def status(self, resource: Resource[Any], name: str) -> Json:
        status: Json = self.document(resource, name).get("status") or {}
        return status

    def serving(self, **labels: str) -> list[str]:
        """Return the names of the pods that are ready and stay."""
        return [
            pod["metadata"]["name"]
            for pod in self.all(PODS)
            if labels.items() <= pod["metadata"].get("labels", {}).items() and is_serving(pod)
        ]

    def reasons(self, name: str) -> list[str]:
        """Return the reasons of the events about an object, in order of their names' ages."""
        told = [it for it in self.all(EVENTS) if it["involvedObject"]["name"] == name]
        told.sort(key=lambda it: int(it["metadata"]["resourceVersion"]))
        return [it["reason"] for it in told]


def is_serving(pod: Json) -> bool:
    if "deletionTimestamp" in pod["metadata"] or pod["status"].get("phase") != "Running":
        return False
    conditions = pod["status"].get("conditions") or ()
    return any(it["type"] == "Ready" and it["status"] == "True" for it in conditions)


def key(name: str) -> ObjectKey:
    return ObjectKey("ns", name)


def template(image: str = "v1", app: str = "web", **spec: Any) -> Json:
    """Return the template of a pod with one container."""
    return {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": image}], **spec},
    }


def workload(image: str = "v1", **spec: Any) -> Json:
    """Return the spec of a set or deployment of such pods."""
    return {"selector": {"matchLabels": {"app": "web"}}, "template": template(image), **spec}
