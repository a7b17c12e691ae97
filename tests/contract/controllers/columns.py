"""Whose controllers a story is told to: those of the embedded Kubernetes, and real ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias

from contract.controllers.stage import Stage, stage_on
from contract.kubernetes.columns import embedded
from contract.telling import EMBEDDED
from fakes import loops
from fakes.threads import Lazily
from real import planes
from stateward.kube.http.access import ClusterAccess
from stateward.local.controllers.workloads import all as workloads
from stateward.local.real.programs import OLDEST_KUBERNETES

#: The embedded one of this process, told all stories as a real one is.
SERVED: Final = Lazily(lambda: embedded(workloads.employ))
#: Seconds for one story: a CronJob may have to wait for the next minute.
PATIENCE: Final = 100.0

Story: TypeAlias = Callable[[Stage], Awaitable[None]]
Column: TypeAlias = Callable[[Story], None]


def all_columns() -> dict[str, Column]:
    """Return whom to tell stories in this run, by name; the oldest release runs no workloads."""
    real = {name: it for name, it in planes.shared().items() if name != OLDEST_KUBERNETES.release}
    told = {name: partial(_tell_real, access) for name, access in real.items()}
    return planes.columns({EMBEDDED: _tell_embedded}, told)


def _tell_embedded(story: Story) -> None:
    _tell_real(SERVED(), story)


def _tell_real(access: ClusterAccess, story: Story) -> None:
    loops.run(_told(access, story), PATIENCE)


async def _told(access: ClusterAccess, story: Story) -> None:
    async with stage_on(access) as stage:
        await story(stage)
