"""Clusters with nodes that nobody lives on: an embedded one for each story, a real one for all.

Messages count the nodes of a cluster, so a story has one to itself: the real one is tidied up after
each. No kubelet runs; a pod that has a node is all there is to see.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeAlias

from contract.kubernetes.columns import embedded
from contract.kubernetes.wire import wire_to
from contract.scheduling.stage import Stage
from contract.telling import EMBEDDED
from fakes import loops
from real import planes
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.local.controllers.cluster import staff
from stateward.local.controllers.workloads import all as workloads
from stateward.local.real.plane import Plane, PlaneTerms
from stateward.local.real.programs import KUBERNETES
from stateward.local.scheduler import scheduler

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
        return planes.columns({EMBEDDED: self._tell_embedded}, real)

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
        loops.run(_told(self._real, story), PATIENCE)

    def _tell_embedded(self, story: Story) -> None:
        async def told() -> None:
            terms = staff.Terms(lost_after=self._lost_after)
            async with embedded(workloads.employ, scheduler.employ, terms=terms) as access:
                await _told(access, story)

        loops.run(told(), PATIENCE)


def _plane(root: Path, lost_after: float) -> Plane:
    words = (
        f"--node-monitor-grace-period={lost_after:g}s",
        "--node-monitor-period=1s",
        "--node-eviction-rate=100",
        # A claim without a volume is looked at again only then.
        "--pvclaimbinder-sync-period=1s",
    )
    terms = PlaneTerms(extra=planes.HASTY | {"kube-controller-manager": words})
    return Plane(root, Ports.of_this_machine(), terms)


async def _told(access: ClusterAccess, story: Story) -> None:
    async with wire_to(access) as wire:
        stage = Stage(wire)
        try:
            await story(stage)
        finally:
            await stage.clear()
