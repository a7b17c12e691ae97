"""Clusters with nodes that nobody lives on: an embedded one for each story, a real one for all.

Messages count the nodes of a cluster, so a story has one to itself: the real one is tidied up after
each. No kubelet runs; a pod that has a node is all there is to see.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

from contract.kubernetes.wire import wire_to
from contract.scheduling.stage import Stage
from contract.telling import EMBEDDED
from real import planes
from stateward.core.ports import Ports
from stateward.kube.http.access import BearerToken, ClusterAccess
from stateward.kube.resources import Resource
from stateward.local.client import MemoryClient
from stateward.local.collector import Collector
from stateward.local.controllers.cluster import staff
from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads import all as workloads
from stateward.local.real.plane import Plane, PlaneTerms
from stateward.local.real.programs import KUBERNETES
from stateward.local.scheduler import scheduler
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.runtime.telling.metrics import Metrics

#: Seconds for one story.
PATIENCE: Final = 60.0
REAL: Final = KUBERNETES.release

Story: TypeAlias = Callable[[Stage], Awaitable[None]]
Column: TypeAlias = Callable[[Story], None]


class Clusters:
    """Clusters whose nodes are lost after so many seconds of silence; the real one starts when asked."""

    def __init__(self, lost_after: float) -> None:
        self._lost_after = lost_after
        self._open = ExitStack()
        self._real: ClusterAccess | None = None

    def columns(self) -> dict[str, Column]:
        """Return whom to tell stories in this run, by name; the embedded one comes first."""
        real = {REAL: self._tell_real} if REAL in planes.shared() else {}
        return {EMBEDDED: self._tell_embedded, **real}

    def close(self) -> None:
        """End the real one."""
        self._open.close()
        self._real = None

    def _tell_real(self, story: Story) -> None:
        if self._real is None:
            root = tempfile.TemporaryDirectory(prefix="stateward-nodes-")
            plane = _plane(Path(self._open.enter_context(root)), self._lost_after)
            self._open.enter_context(planes.held(plane))
            self._real = plane.access
        asyncio.run(asyncio.wait_for(_told(self._real, story), PATIENCE))

    def _tell_embedded(self, story: Story) -> None:
        async def told() -> None:
            async with embedded(self._lost_after) as access:
                await _told(access, story)

        asyncio.run(asyncio.wait_for(told(), PATIENCE))


def _plane(root: Path, lost_after: float) -> Plane:
    words = (
        f"--node-monitor-grace-period={lost_after:g}s",
        "--node-monitor-period=1s",
        "--node-eviction-rate=100",
        # A claim without a volume is looked at again only then.
        "--pvclaimbinder-sync-period=1s",
    )
    terms = PlaneTerms(extra={"kube-controller-manager": words})
    return Plane(root, Ports.of_this_machine(), terms)


async def _told(access: ClusterAccess, story: Story) -> None:
    async with wire_to(access) as wire:
        stage = Stage(wire)
        try:
            await story(stage)
        finally:
            await stage.clear()


@asynccontextmanager
async def embedded(lost_after: float) -> AsyncGenerator[ClusterAccess, None]:
    """Serve an embedded Kubernetes with every controller and the scheduler, and no node."""
    ports = Ports.of_this_machine()
    api = served_api(ports)
    desk = Desk(MemoryClient(api, field_manager="stateward-local"), ports, Metrics(ports.clock))
    workloads.employ(desk)
    scheduler.employ(desk)

    def kept() -> list[Resource[Any]]:
        return [kind.resource for kind in api.kinds if kind.storage]

    staff.employ(desk, kept, staff.Terms(lost_after=lost_after))
    collector = Collector(api, kept)
    async with ApiServer(api, ports, token="contract").listening() as url:
        tasks = [asyncio.create_task(it) for it in (desk.run(), collector.run(ports))]
        try:
            yield ClusterAccess(url, credentials=BearerToken("contract"))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
