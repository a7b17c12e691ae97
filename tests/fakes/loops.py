"""An event loop for a test, which lives until all connections are closed.

Who closes a TLS connection waits for the other side's goodbye. A loop that ends before it came
leaves a socket open, and the next test is blamed for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

#: So long the other side may take; what is open then was never closed.
_GOODBYE = 10.0
#: What a loop reads from all its life: it wakes itself so.
_OWN = 1


def run(coroutine: Coroutine[Any, Any, T], limit: float) -> T:
    """Return what comes out within so many seconds."""
    with asyncio.Runner() as runner:
        try:
            return runner.run(asyncio.wait_for(coroutine, limit))
        finally:
            runner.run(_until_all_hung_up())


async def _until_all_hung_up() -> None:
    loop = asyncio.get_running_loop()
    read = loop._selector.get_map()  # type: ignore[attr-defined]
    ends = loop.time() + _GOODBYE
    while len(read) > _OWN and loop.time() < ends:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    await asyncio.sleep(0)  # what was just hung up is put away in the next turn
