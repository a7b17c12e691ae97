"""A client of etcd that writes all the time, and says at the end what it was promised and what is lost.

One process in the cluster's network, told to end by SIGTERM; its last line is JSON.
"""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.app.etcd.writer import Writer
from stateward.core.clock import SystemClock
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Endpoint, MemberApi, Trust
from stateward.etcd.model.names import CLIENT_PORT
from tools.cluster import cluster
from tools.cluster.api import Api

#: Seconds between looks at where the members are.
_LOOK: Final = 0.5
#: A client that waits longer for one member than an election takes makes the gap its own.
_DEADLINES: Final = Deadlines(connect=0.5, keys=1.5)
_LABEL: Final = "app.kubernetes.io/instance"


@dataclass
class Doors:
    """The members of a cluster, by the addresses of its pods."""

    api: Api
    connections: Connections
    namespace: str
    name: str
    #: Whether certificates are asked for; `stateward certs` made them.
    secure: bool = False
    found: list[MemberApi] = field(default_factory=list)

    def members(self) -> Sequence[MemberApi]:
        """Return who can be asked."""
        return self.found

    async def look(self) -> None:
        """Look for members again and again."""
        while True:
            try:
                ends = await asyncio.to_thread(self._look)
                self.found = [self.connections.dial(it) for it in ends]
            except OSError as error:  # the API server is away; those that are known are asked
                print(f"writing: {error}", flush=True)
            await asyncio.sleep(_LOOK)

    def _look(self) -> list[Endpoint]:
        there = f"/api/v1/namespaces/{self.namespace}"
        trust = self._trust(f"{there}/secrets/{self.name}") if self.secure else None
        pods = self.api.ask("GET", f"{there}/pods?labelSelector={_LABEL}%3D{self.name}")["items"]
        return [
            Endpoint(
                it["status"]["podIP"],
                CLIENT_PORT,
                trust,
                f"{it['metadata']['name']}.{self.name}-headless.{self.namespace}.svc",
                login_by_certificate=trust is not None,
            )
            for it in pods
            if it["status"].get("podIP")
        ]

    def _trust(self, path: str) -> Trust:
        own = self.api.ask("GET", f"{path}-root")["data"]
        above = self.api.ask("GET", f"{path}-ca")["data"]
        found = (above["ca.crt"], own["tls.crt"], own["tls.key"])
        return Trust(*(base64.b64decode(it) for it in found))


async def write(folder: Path, namespace: str, name: str, secure: str) -> None:
    """Write until told to end, then read everything back and say what came of it."""
    connections = Connections(_DEADLINES)
    doors = Doors(Api(cluster.kept_plan(folder)), connections, namespace, name, bool(secure))
    writer = Writer(doors.members, SystemClock())
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    tasks = [asyncio.create_task(doors.look()), asyncio.create_task(writer.run())]
    told = asyncio.create_task(over.wait())
    await asyncio.wait([told, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for it in tasks:
        if it.done():
            it.result()  # neither ends by itself
    tasks[1].cancel()
    gap = writer.gap_so_far()
    lost = await writer.lost()
    tasks[0].cancel()
    await connections.close()
    said = {"acknowledged": writer.acknowledged, "failed": writer.failed}
    print(json.dumps({**said, "gap": round(gap, 1), "lost": len(lost)}), flush=True)


if __name__ == "__main__":
    given = [*sys.argv[1:], ""]
    asyncio.run(write(Path(given[0]), given[1], given[2], given[3]))
