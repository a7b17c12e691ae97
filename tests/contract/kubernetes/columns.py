"""Whom a story is told to: the embedded Kubernetes, and real ones beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, TypeAlias

from contract.kubernetes.wire import Wire, wire_to
from contract.telling import EMBEDDED
from fakes import loops
from fakes.threads import Lazily
from real import planes
from stateward.core.ports import Ports
from stateward.kube.http.access import BearerToken, ClusterAccess
from stateward.kube.resources import Resource
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.local.controllers.cluster import staff
from stateward.local.controllers.desk import Desk
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.runtime.telling.metrics import Metrics

#: Seconds for one story.
PATIENCE: Final = 60.0
#: A real cluster waits so long before it removes pods of a node that is not there.
_TERMS: Final = staff.Terms(orphaned_after=60.0)

Story: TypeAlias = Callable[[Wire], Awaitable[None]]
Column: TypeAlias = Callable[[Story], None]


def all_columns() -> dict[str, Column]:
    """Return whom to tell stories in this run, by name; the embedded one comes first."""
    real = {name: partial(tell, access) for name, access in planes.shared().items()}
    return planes.columns({EMBEDDED: _tell_embedded}, real)


def _tell_embedded(story: Story) -> None:
    tell(SERVED(), story)


def tell(access: ClusterAccess, story: Story) -> None:
    """Tell a story to whoever is reached so, in namespaces of its own."""
    loops.run(_told(access, story), PATIENCE)


async def _told(access: ClusterAccess, story: Story) -> None:
    async with wire_to(access) as wire:
        await story(wire)


@asynccontextmanager
async def embedded(
    *employers: Callable[[Desk], None], terms: staff.Terms = _TERMS
) -> AsyncGenerator[ClusterAccess, None]:
    """Serve an embedded Kubernetes with the controllers that a real one without nodes has, and more."""
    ports = Ports.of_this_machine()
    api = served_api(ports)
    metrics = Metrics(ports.clock)
    desk = Desk(MemoryClient(api, field_manager="kube-controller-manager"), ports, metrics)

    def kept() -> list[Resource[Any]]:
        return [kind.resource for kind in api.kinds if kind.storage]

    staff.employ(desk, kept, terms)
    for employ in employers:
        employ(desk)
    collector = Collector(api, kept)
    async with ApiServer(api, ports, token="contract").listening() as url:
        tasks = [asyncio.create_task(it) for it in (desk.run(), collector.run(ports))]
        try:
            yield ClusterAccess(url, credentials=BearerToken("contract"))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


#: The embedded one of this process: as a real one it is told all stories, each in its namespaces.
SERVED: Final = Lazily(embedded)
