"""A control plane outlives its parts: one that ends is started again, later each time it ends soon.

Nobody else can do it: users expect a cluster to be there until they end it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Final

from stateward.core.ports import Ports
from stateward.local.agent.processes import StartFailed
from stateward.local.real.plane import Plane
from stateward.runtime.backoff import Backoff

_BACKOFF: Final = Backoff(first=0.5, limit=30.0)
#: Seconds after which a program that runs is well again.
_WELL: Final = 60.0


async def keep(plane: Plane, ports: Ports, say: Callable[[str], None]) -> None:
    """Start parts again that end by themselves, until cancelled; say each time which and when."""
    async with asyncio.TaskGroup() as group:
        for name in plane.parts:
            group.create_task(_keep(plane, name, ports.stream(name), say))


async def _keep(plane: Plane, name: str, ports: Ports, say: Callable[[str], None]) -> None:
    failures = 0
    while True:
        began = ports.clock.monotonic()
        code = await plane.wait(name)
        failures = 1 if ports.clock.monotonic() - began > _WELL else failures + 1
        delay = _BACKOFF.delay(failures, ports.chance)
        say(f"local: {name} {_how(code)}; started again in {delay:.1f} s, see {plane.log(name)}")
        await ports.clock.sleep(delay)
        try:
            plane.start(name)
        except (StartFailed, OSError) as error:
            say(f"local: {name} cannot be started, and must be: {error}")


def _how(code: int) -> str:
    """Return how a program ended, in words.

    >>> _how(-9), _how(2)
    ('was killed by SIGKILL', 'ended with code 2')
    """
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
