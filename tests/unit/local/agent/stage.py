"""An agent and a Kubernetes in memory: for tests with real processes and with acted ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from stateward.core.ports import Ports
from stateward.kube.client import LogOptions, MergePatch, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, EVENTS, PODS
from stateward.local.agent.agent import Agent, Means
from stateward.local.agent.images import Images, built_in
from stateward.local.agent.life.backoff import Backoff
from stateward.local.agent.nodes import NodeSpec
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.documents import Document, loosely

NODES = (NodeSpec("node-1", "a"), NodeSpec("node-2", "b"))


def key(name: str) -> ObjectKey:
    return ObjectKey("ns", name)


def container(image: str = "busybox", *command: str, **more: Any) -> Json:
    return {
        "name": "main",
        "image": image,
        **({"command": list(command)} if command else {}),
        **more,
    }


def sh(script: str, **more: Any) -> Json:
    return container("busybox", "sh", "-c", script, **more)


def pod(
    name: str, *containers: Json, node: str = "node-1", meta: Json | None = None, **spec: Any
) -> Json:
    spec = {"terminationGracePeriodSeconds": 2, **spec}
    metadata = {"namespace": "ns", "name": name, **(meta or {})}
    return {
        "metadata": metadata,
        "spec": {"nodeName": node, "containers": list(containers), **spec},
    }


class Stage:
    """A Kubernetes and (one after the other) agents for it on one folder."""

    def __init__(
        self, ports: Ports, root: Path, images: Images | None = None, **means: Any
    ) -> None:
        self.ports = ports
        self.root = root
        self.api = Api(ports)
        self.images = images or built_in()
        self.means = Means(**{"backoff": Backoff(first=0.3, limit=5), **means})
        self.client = MemoryClient(self.api, logs=self._log)
        self.agent: Agent = self.new_agent()

    def new_agent(self) -> Agent:
        return Agent(
            self.client,
            self.ports,
            nodes=NODES,
            root=self.root,
            images=self.images,
            means=self.means,
        )

    def _log(self, pod: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
        return self.agent.log(pod, options)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Agent, None]:
        """Let a fresh agent work; afterwards it has stopped."""
        self.agent = self.new_agent()
        stop = asyncio.Event()
        work = asyncio.create_task(self.agent.run(stop))
        try:
            yield self.agent
        finally:
            stop.set()
            await work

    async def make(self, *args: Any, **options: Any) -> Document:
        return await self.client.create(loosely(PODS), pod(*args, **options))

    async def get(self, name: str) -> Document:
        return await self.client.get(loosely(PODS), key(name))

    async def status(self, name: str) -> Json:
        return (await self.get(name)).status

    async def until(self, name: str, holds: Callable[[Json], Any], within: float = 10.0) -> Json:
        """Wait until the status of a pod is as wanted, and return it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while not _fits(holds, status := await self.status(name)):
            assert loop.time() < deadline, f"not within {within:g} s: {status}"
            await asyncio.sleep(0.02)
        return status

    async def ready(self, name: str) -> Json:
        return await self.until(name, is_ready)

    async def gone(self, name: str, within: float = 10.0) -> float:
        """Wait until a pod is gone; return how long that took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        with suppress(NotFound):
            while True:
                assert loop.time() < began + within, (
                    f"not gone within {within:g} s: {await self.status(name)}"
                )
                await self.get(name)
                await asyncio.sleep(0.02)
        return loop.time() - began

    async def delete(self, name: str, grace: int | None = None) -> None:
        uid = (await self.get(name)).metadata.uid
        await self.client.delete(PODS, key(name), uid=uid, grace_seconds=grace)

    async def patch(self, name: str, body: Json) -> None:
        await self.client.patch(PODS, key(name), MergePatch(body))

    async def config_map(self, name: str, **data: str) -> None:
        await self.client.create(
            CONFIG_MAPS, {"metadata": {"namespace": "ns", "name": name}, "data": data}
        )

    async def log(self, name: str, **options: Any) -> str:
        pieces = [it async for it in self.client.log(key(name), LogOptions(**options))]
        return b"".join(pieces).decode()

    async def says(self, name: str, words: str, within: float = 10.0, **options: Any) -> str:
        """Wait until the log of a pod has some words, and return it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while words not in (text := await self._said(name, **options)):
            assert loop.time() < deadline, f"{words!r} is not in: {text}"
            await asyncio.sleep(0.02)
        return text

    async def _said(self, name: str, **options: Any) -> str:
        try:
            return await self.log(name, **options)
        except ApiError as error:  # it did not start yet
            return str(error)

    async def events(self, name: str) -> list[str]:
        """Return the reasons told about a pod."""
        found = await self.client.list(EVENTS, Selection("ns"))
        return [it.reason for it in found.items if it.involved_object.name == name]


def _fits(holds: Callable[[Json], Any], status: Json) -> bool:
    try:
        return bool(holds(status))
    except (KeyError, IndexError):
        return False


def conditions(status: Json) -> dict[str, str]:
    return {it["type"]: it["status"] for it in status.get("conditions") or ()}


def is_ready(status: Json) -> bool:
    return conditions(status).get("Ready") == "True"


def state(status: Json, number: int = 0) -> Json:
    """Return the state of a container, in one word and its details."""
    return status["containerStatuses"][number]["state"]


def waiting(status: Json, number: int = 0) -> str:
    return (state(status, number).get("waiting") or {}).get("reason", "")
