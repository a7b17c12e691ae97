"""One reader of five thousand pods, measured in a process of its own: ``reader.py informer|dicts PORT``."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp

from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.resources import PODS
from stateward.runtime.cache import by_label, by_node, by_owner
from stateward.runtime.informer import Informer
from stateward.runtime.telling.metrics import Metrics
from tools.bench import pods

#: Gives the list's memory back to the machine, so that only what is kept is counted.
_LIBC = ctypes.CDLL(None)


def resident() -> int:
    """Return the bytes of memory that this process holds."""
    gc.collect()
    with suppress(AttributeError):
        _LIBC.malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Measurement:
    """CPU and memory, for the list and for the watch."""

    def __init__(self) -> None:
        self._memory = resident()
        self._began = time.process_time()
        self._listed = 0.0
        self._kept = 0

    def listed(self) -> None:
        """Note that the list is in memory."""
        self._listed = time.process_time() - self._began
        self._kept = resident() - self._memory
        self._began = time.process_time()

    def report(self) -> dict[str, float]:
        """Return the numbers for one pod."""
        watched = time.process_time() - self._began
        return {
            "list_us": self._listed / pods.COUNT * 1e6,
            "watch_us": watched / pods.COUNT * 1e6,
            "kept_kb": self._kept / pods.COUNT / 1024,
        }


async def with_informer(server: str) -> dict[str, float]:
    """Measure the informer over the HTTP client, with all its indexes."""
    ports = Ports.of_this_machine()
    async with HttpClient(ClusterAccess(server=server), ports.clock, ports.chance) as client:
        informer = Informer(
            client,
            PODS,
            ports=ports,
            meter=Metrics(ports.clock).informer("pods"),
            indexes=(by_owner(), by_label("process-group"), by_node()),
        )
        measured = Measurement()
        running = asyncio.create_task(informer.run())
        await informer.synced.wait()
        measured.listed()
        seen = 0
        ended = asyncio.Event()

        def count(_delta: object) -> None:
            nonlocal seen
            seen += 1
            if seen == pods.COUNT:
                ended.set()

        informer.listen(count)
        await _go(server)
        await ended.wait()
        result = measured.report()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return result


async def with_dicts(server: str) -> dict[str, float]:
    """Measure the plain way: the same requests, ``json.loads``, dictionaries in a dictionary."""
    cache: dict[str, Any] = {}
    async with aiohttp.ClientSession(server, read_bufsize=2**20) as session:
        measured = Measurement()
        token = ""
        while True:
            query = {"limit": "500", "continue": token}
            async with session.get("/api/v1/pods", params=query) as response:
                page = json.loads(await response.read())
            for item in page["items"]:
                cache[item["metadata"]["name"]] = item
            token = page["metadata"].get("continue", "")
            if not token:
                break
        del page, item
        measured.listed()
        async with session.get("/api/v1/pods", params={"watch": "1"}) as response:
            await _go(server)
            for _ in range(pods.COUNT):
                event = json.loads(await response.content.readline())
                cache[event["object"]["metadata"]["name"]] = event["object"]
        return measured.report()


async def _go(server: str) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{server}/go"):
        pass


READERS: dict[str, Callable[[str], Awaitable[dict[str, float]]]] = {
    "informer": with_informer,
    "dicts": with_dicts,
}


async def _main(reader: str, port: str) -> None:
    print(json.dumps(await READERS[reader](f"http://127.0.0.1:{port}")))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2]))
