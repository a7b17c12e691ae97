"""What the embedded Kubernetes costs a request, beside a bare handler of the same HTTP library.

The server runs in a process of its own and its CPU time is read from the system, so the numbers
are about the server and not about who asks: requests per second of one core.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.bench.load import Ask, once, run

#: Writes a second on one core that we aim at.
AIM = 2_000
COUNT = 5_000
LISTS = 100
LISTED = 1_000
WATCHERS = 50
TOKEN = "bench"  # noqa: S105 - of a server that lives for a second
_TICKS = os.sysconf("SC_CLK_TCK")
_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(number: int) -> dict[str, object]:
    """Return a small object."""
    metadata = {"name": f"thing-{number}", "labels": {"app": "bench", "n": str(number % 10)}}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"motto": "hold fast", "n": str(number)},
    }


@dataclass(frozen=True, slots=True)
class Server:
    """A server process that listens."""

    port: int
    pid: int

    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> float:
        """Return its resident megabytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(it for it in status.splitlines() if it.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@contextmanager
def serving(kind: str) -> Iterator[Server]:
    """Run a server: ``bare`` or ``embedded``."""
    command = [sys.executable, "-m", "tools.bench.kube_server", kind]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the server must have pipes")
        yield Server(int(process.stdout.readline()), process.pid)
        process.stdin.close()


def measure() -> bool:
    """Print requests a second of one core; return whether the aim is reached."""
    with serving("bare") as server:
        bare = _rate(server, Ask("GET", lambda _: "/bare"), COUNT)
        bare_post = _rate(server, Ask("POST", lambda _: "/bare", config_map), COUNT)
    with serving("embedded") as server:
        rates = {
            "create": _rate(server, Ask("POST", lambda _: _MAPS, config_map), COUNT),
            "get": _rate(server, Ask("GET", lambda n: f"{_MAPS}/thing-{n}"), COUNT),
            "merge patch": _rate(
                server,
                Ask(
                    "PATCH",
                    lambda n: f"{_MAPS}/thing-{n}",
                    lambda n: {"data": {"motto": f"onward {n}"}},
                    "application/merge-patch+json",
                ),
                COUNT,
            ),
            f"list of {LISTED:,}": _rate(
                server, Ask("GET", lambda _: f"{_MAPS}?limit={LISTED}"), LISTS
            ),
        }
        told = _fan_out(server)
    print("\nembedded Kubernetes over HTTP, requests per second of one core of the server")
    print(f"{'bare aiohttp GET':20} {bare:10,.0f}")
    print(f"{'bare aiohttp POST':20} {bare_post:10,.0f}")
    for name, rate in rates.items():
        print(f"{name:20} {rate:10,.0f}   {bare_post / rate:6.1f}x a bare POST")
    print(f"{'watch events':20} {told:10,.0f}   told to {WATCHERS} watchers, writes included")
    print(f"{'aim: writes':20} {AIM:10,.0f}")
    return rates["create"] >= AIM and rates["merge patch"] >= AIM


def _rate(server: Server, ask: Ask, count: int) -> float:
    before = server.cpu()
    asyncio.run(run(server.port, TOKEN, ask, count))
    return count / max(server.cpu() - before, 0.01)


def _fan_out(server: Server) -> float:
    """Return how many events a second of one core reach watchers while objects are written."""
    before = server.cpu()
    events = asyncio.run(_watch_and_write(server))
    return events / max(server.cpu() - before, 0.01)


async def _watch_and_write(server: Server) -> int:
    writes = 200
    page = await once(server.port, TOKEN, Ask("GET", lambda _: f"{_MAPS}?limit=1"))
    since = json.loads(page)["metadata"]["resourceVersion"]
    async with asyncio.TaskGroup() as group:
        watchers = [group.create_task(_watch(server.port, since, writes)) for _ in range(WATCHERS)]
        patch = Ask(
            "PATCH",
            lambda n: f"{_MAPS}/thing-{n}",
            lambda n: {"data": {"motto": f"told {n}"}},
            "application/merge-patch+json",
        )
        await asyncio.sleep(0.5)  # until all watch
        group.create_task(run(server.port, TOKEN, patch, writes))
    return sum(it.result() for it in watchers)


async def _watch(port: int, since: str, events: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    path = f"{_MAPS}?watch=true&labelSelector=app%3Dbench&resourceVersion={since}"
    writer.write(Ask("GET", lambda _: path).text(0, TOKEN))
    await reader.readuntil(b"\r\n\r\n")
    seen = 0
    while seen < events:
        seen += (await reader.readline()).count(b'"type":"MODIFIED"')
    writer.close()
    return seen
