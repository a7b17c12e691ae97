"""A Kubernetes on the bench: in virtual time, with a wire that does what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, cast

from fakes.rough_wire import RoughWire
from fakes.tally import Tally
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.codec import Json
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS, Resource
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.watching import Pace
from stateward.runtime.informer import Informer
from stateward.sim.loop import SimClock, SimLoop

T = TypeVar("T", bound=Object)


class Bench:
    """Make it inside a test marked ``virtual``.

    ``user`` has a wire of gold, ``client`` the rough one. One that stands beside another has the
    same Kubernetes.
    """

    def __init__(
        self,
        *,
        lifetime: float = 600.0,
        bookmark_every: float = 60.0,
        beside: Bench | None = None,
    ) -> None:
        self.loop = cast("SimLoop", asyncio.get_running_loop())
        self.clock = SimClock(self.loop)
        self.ports = Ports(self.clock, Chance(0))
        self.api = beside.api if beside is not None else Api(self.ports)
        self.wire = RoughWire()
        pace = Pace(self.clock, bookmark_every, lifetime)
        self.user = MemoryClient(self.api, pace=pace)
        self.client = InterceptedClient(self.user, self.wire)
        self.meter = Tally()

    def informer(self, resource: Resource[T], **options: Any) -> Informer[T]:
        """Return an informer that listens over the rough wire."""
        return Informer(self.client, resource, ports=self.ports, meter=self.meter, **options)

    async def make(self, name: str, **data: str) -> ConfigMap:
        """Create a config map, as a user."""
        return await self.user.create(CONFIG_MAPS, config_map(name, **data))

    async def remove(self, name: str) -> None:
        """Delete a config map, as a user."""
        uid = (await self.user.get(CONFIG_MAPS, key(name))).metadata.uid
        await self.user.delete(CONFIG_MAPS, key(name), uid=uid)


def key(name: str) -> ObjectKey:
    return ObjectKey("ns", name)


def config_map(name: str, *, owner: str = "", **data: str) -> Json:
    """Return the manifest of a config map, controlled by a config map if an owner is named."""
    metadata: Json = {"namespace": "ns", "name": name}
    if owner:
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": f"uid-{owner}"}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    return {"metadata": metadata, "data": data}


@asynccontextmanager
async def running(*work: Coroutine[Any, Any, Any]) -> AsyncGenerator[list[asyncio.Task[Any]], None]:
    """Let coroutines run beside the test; one that fell over fails the test."""
    tasks = [asyncio.ensure_future(each) for each in work]
    await asyncio.sleep(0)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task


async def until(holds: Any, within: float = 300.0) -> float:
    """Let virtual time pass until something holds; return the moment."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not holds():
        assert loop.time() < deadline, f"not within {within:g} s"
        await asyncio.sleep(0.01)
    return loop.time()
