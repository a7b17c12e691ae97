"""A server that may be broken, a proxy before it, and clients on both sides of the proxy."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from real.proxy import Proxy, before
from real.servers import Server
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS

PATIENCE = 40.0

Opened: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Server]]


@dataclass(slots=True)
class Site:
    """A server, a proxy before it, a client straight to the server and one through the proxy."""

    server: Server
    proxy: Proxy
    through: ClusterAccess
    direct: HttpClient
    client: HttpClient

    async def make(self, name: str, **data: str) -> None:
        body = {"metadata": {"namespace": "default", "name": name}, "data": data}
        await self.direct.create(CONFIG_MAPS, body)

    async def change(self, name: str, **data: str) -> None:
        await self.direct.patch(CONFIG_MAPS, key(name), MergePatch({"data": data}))

    async def remove(self, name: str) -> None:
        found = await self.direct.get(CONFIG_MAPS, key(name))
        await self.direct.delete(CONFIG_MAPS, key(name), uid=found.metadata.uid)


@asynccontextmanager
async def site(
    opened: Opened, root: Path, limits: Limits | None = None
) -> AsyncGenerator[Site, None]:
    ports = Ports.of_this_machine()
    async with opened(root) as server, before(server.access) as (proxy, through):
        direct = HttpClient(server.access, ports.clock, ports.chance, field_manager="you")
        client = HttpClient(through, ports.clock, ports.chance, limits=limits)
        async with direct, client:
            yield Site(server, proxy, through, direct, client)


def key(name: str) -> ObjectKey:
    return ObjectKey("default", name)


async def until(what: str, holds: Callable[[], Any]) -> None:
    """Wait for something to hold; the question may be a coroutine."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await _answer(holds()):  # noqa: ASYNC110 - the world outside rings no bell
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {PATIENCE:g} s: {what}") from None


async def _answer(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
