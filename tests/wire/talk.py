"""A client that talks to a scripted server, on a clock where waiting takes no time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from wire.scripted import EagerClock, Script, Scripted

KEY = ObjectKey("shop", "a")


@asynccontextmanager
async def talking(
    *scripts: Script,
    access: dict[str, Any] | None = None,
    clock: Clock | None = None,
    **options: Any,
) -> AsyncIterator[tuple[HttpClient, Scripted]]:
    async with Scripted().plays(*scripts) as server:
        where = ClusterAccess(server.url, **(access or {}))
        async with HttpClient(where, clock or EagerClock(), Chance(1), **options) as client:
            yield client, server
