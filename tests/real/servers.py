"""Servers that a test may break: each is its own, and can be restarted and made to forget."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from real import planes
from stateward.core.ports import Ports
from stateward.kube.http.access import BearerToken, ClusterAccess
from stateward.local.api import Api
from stateward.local.real.plane import Plane, PlaneTerms
from stateward.local.real.programs import ETCD, find
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer


@dataclass(frozen=True, slots=True)
class Server:
    """An API server without controllers."""

    access: ClusterAccess
    #: Kill it as a power cut does, and start it again where it was.
    restart: Callable[[], Awaitable[None]]
    #: Make it forget everything but what is there now.
    forget: Callable[[], Awaitable[None]]


@asynccontextmanager
async def embedded(_root: Path) -> AsyncGenerator[Server, None]:
    """The embedded one; what it stores outlives its end."""
    ports = Ports.of_this_machine()
    api = served_api(ports)
    async with AsyncExitStack() as stack:
        port = 0

        async def start() -> str:
            server = ApiServer(api, ports, token="t")
            return await stack.enter_async_context(server.listening(port=port))

        async def restart() -> None:
            await stack.aclose()
            await start()

        url = await start()
        port = int(url.rpartition(":")[2])
        access = ClusterAccess(url, credentials=BearerToken("t"))
        yield Server(access, restart, lambda: _compacted(api))


async def _compacted(api: Api) -> None:
    api.store.compact()


@asynccontextmanager
async def real(root: Path) -> AsyncGenerator[Server, None]:
    """A real one; without its cache of watches it forgets what its etcd does."""
    extra = planes.HASTY | {"kube-apiserver": ("--watch-cache=false",)}
    plane = Plane(
        root, Ports.of_this_machine(), PlaneTerms(controllers="", schedules=False, extra=extra)
    )

    async def restart() -> None:
        await plane.stop("kube-apiserver", signal.SIGKILL)
        plane.start("kube-apiserver")
        await plane.until_ready()

    async with plane.running():
        yield Server(plane.access, restart, lambda: _etcd_compacted(plane))


async def _etcd_compacted(plane: Plane) -> None:
    """Compact etcd at its newest revision."""
    tool = find(ETCD, "etcdctl", os.environ)
    assert tool is not None
    papers = plane.papers
    words = [
        f"--endpoints={plane.etcd_url}",
        f"--cacert={papers / 'ca.crt'}",
        f"--cert={papers / 'server.crt'}",
        f"--key={papers / 'server.key'}",
    ]
    now = (await _said(str(tool.path), *words, "get", "none", "-w", "json")).split('"revision":')[1]
    await _said(str(tool.path), *words, "compact", now.split(",")[0].split("}")[0])


async def _said(*words: str) -> str:
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0, words
    return out.decode()
