"""How a story asks: members by their letters, over one way of speaking, of real etcd or the stand-in."""

from __future__ import annotations

import http.client
import inspect
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from contract.etcd.standin import StandIn, StandIns
from fakes import etcds
from fakes.etcds import Etcd, Etcds, Release
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Dialer, Endpoint, MemberApi
from stateward.etcd.model.members import AlarmKind

#: How real etcd is spoken to.
WIRES: Final = ("gateway", "grpc")
#: And the stand-in, which must say the same, in virtual time.
WAYS: Final = (*WIRES, pytest.param("standin", marks=pytest.mark.virtual))
#: Shorter than any patience of etcd, so that a story about waiting is short.
SHORT: Final = Deadlines(connect=0.5, reads=0.8, changes=0.8, upkeep=0.8, chunk=0.8, keys=0.8)

Cluster = Etcds | StandIns


@dataclass(frozen=True, slots=True)
class Voice:
    """One way of speaking to some members."""

    etcds: Cluster
    way: str
    connections: Dialer

    def __getitem__(self, name: str) -> MemberApi:
        return self.connections.dial(spoken(self.etcds[name], self.way))

    async def ids(self) -> dict[str, int]:
        """Return the members' ids by their letters."""
        return {it.name: it.id for it in (await self["a"].members()).members}

    async def leader(self) -> str:
        """Return who leads."""
        leads = (await self["a"].status()).leader
        return next(name for name, id_ in (await self.ids()).items() if id_ == leads)


def spoken(etcd: Etcd | StandIn, way: str) -> Endpoint:
    """Return an endpoint that is asked in that way, in clear text."""
    return etcd.endpoint(login_by_certificate=way == "grpc")


@asynccontextmanager
async def running(
    release: Release, way: str, folder: Path, names: str = "a", *flags: str
) -> AsyncIterator[Cluster]:
    """Run one healthy member for each letter."""
    if way == "standin":
        cluster = StandIns(release)
        await cluster.begin(names, *flags)
        yield cluster
    else:
        with etcds.running(release, folder, names, flags=flags) as found:
            yield found


@asynccontextmanager
async def speaking(
    cluster: Cluster, way: str, deadlines: Deadlines | None = None
) -> AsyncIterator[Voice]:
    """Give a voice, and close what it opened."""
    connections: Dialer
    if isinstance(cluster, StandIns):
        await cluster.begin("abc" if not cluster.members else "")
        connections = cluster.dialer(deadlines)
    else:
        connections = Connections(deadlines)
    try:
        yield Voice(cluster, way, connections)
    finally:
        await connections.close()


async def there(member: Etcd | StandIn, *codes: int) -> None:
    """Wait until a member says that it is healthy, or one of the given codes of HTTP."""
    waiting = member.wait(*codes)
    if inspect.isawaitable(waiting):
        await waiting


@asynccontextmanager
async def hung(*members: Etcd | StandIn) -> AsyncIterator[None]:
    """Let members stand still for a while: their connections stay, and nobody answers."""
    for it in members:
        it.hang()
    try:
        yield
    finally:
        for it in members:
            it.wake()
        for it in members:
            await there(it)


def raise_alarm(cluster: Cluster, whose: int, kind: AlarmKind) -> None:
    """Have a member raise an alarm."""
    if isinstance(cluster, StandIns):
        cluster.raise_alarm(whose, kind)
    else:
        body = {"action": 1, "memberID": str(whose), "alarm": kind.value}
        raw(cluster["a"], "/v3/maintenance/alarm", body)


def raw(etcd: Etcd, path: str, body: dict[str, Any]) -> None:
    """Ask something that the port cannot."""
    line = http.client.HTTPConnection(etcd.address, etcd.client_port, timeout=5)
    try:
        line.request("POST", path, json.dumps(body))
        answer = line.getresponse()
        assert answer.status == 200, answer.read()
    finally:
        line.close()
