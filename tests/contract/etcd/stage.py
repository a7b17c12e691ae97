"""How a story asks: members by their letters, over one way of speaking."""

from __future__ import annotations

import http.client
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from fakes.etcds import Etcd, Etcds
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Endpoint, MemberApi

WAYS: Final = ("gateway", "grpc")
#: Shorter than any patience of etcd, so that a story about waiting is short.
SHORT: Final = Deadlines(connect=0.5, reads=0.8, changes=0.8, upkeep=0.8, chunk=0.8, keys=0.8)


@dataclass(frozen=True, slots=True)
class Voice:
    """One way of speaking to some members."""

    etcds: Etcds
    way: str
    connections: Connections

    def __getitem__(self, name: str) -> MemberApi:
        return self.connections.dial(spoken(self.etcds[name], self.way))

    async def ids(self) -> dict[str, int]:
        """Return the members' ids by their letters."""
        return {it.name: it.id for it in (await self["a"].members()).members}

    async def leader(self) -> str:
        """Return who leads."""
        leads = (await self["a"].status()).leader
        return next(name for name, id_ in (await self.ids()).items() if id_ == leads)


def spoken(etcd: Etcd, way: str) -> Endpoint:
    """Return an endpoint that is asked in that way, in clear text."""
    return etcd.endpoint(login_by_certificate=way == "grpc")


@asynccontextmanager
async def speaking(
    etcds: Etcds, way: str, deadlines: Deadlines | None = None
) -> AsyncIterator[Voice]:
    """Give a voice, and close what it opened."""
    connections = Connections(deadlines)
    try:
        yield Voice(etcds, way, connections)
    finally:
        await connections.close()


def raw(etcd: Etcd, path: str, body: dict[str, Any]) -> None:
    """Ask something that the port cannot."""
    line = http.client.HTTPConnection(etcd.address, etcd.client_port, timeout=5)
    try:
        line.request("POST", path, json.dumps(body))
        answer = line.getresponse()
        assert answer.status == 200, answer.read()
    finally:
        line.close()
