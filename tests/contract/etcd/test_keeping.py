"""Connections are kept, shared, replaced when certificates change, and closed when idle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from contract.etcd.relay import Relay, relaying
from fakes import etcds
from fakes.etcds import Etcd, Release, Security
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Endpoint, Trust


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    folder = tmp_path_factory.mktemp("kept")
    release: Release = etcds.releases()[-1]
    with etcds.running(release, folder, "a", Security(folder, ask_clients=True)) as found:
        yield found["a"]


@asynccontextmanager
async def watched(etcd: Etcd, kept: float = 60.0) -> AsyncIterator[tuple[Connections, Relay]]:
    async with relaying(etcd) as relay:
        connections = Connections(kept=kept)
        try:
            yield connections, relay
        finally:
            await connections.close()


def through(relay: Relay, trust: Trust, **terms: bool) -> Endpoint:
    return Endpoint("127.0.0.1", relay.port, trust, Security.server_name, **terms)


async def soon(holds: Callable[[], bool]) -> bool:
    """Tell whether something comes true within two seconds."""
    for _ in range(100):
        if holds():
            return True
        await asyncio.sleep(0.02)
    return False


async def test_many_calls_share_one_connection(guarded):
    async with watched(guarded) as (connections, relay):
        endpoint = through(relay, guarded.security.trust())
        await connections.dial(endpoint).status()
        await asyncio.gather(*(connections.dial(endpoint).members() for _ in range(20)))
        assert relay.open == 1


async def test_other_certificates_replace_the_connection(guarded):
    async with watched(guarded) as (connections, relay):
        old, new = (through(relay, guarded.security.trust(name)) for name in ("one", "two"))
        await connections.dial(old).status()
        await connections.dial(new).status()
        assert await soon(lambda: relay.open == 1)
        await connections.dial(new).status()
        assert relay.open == 1


async def test_a_replaced_connection_ends_after_the_calls_on_it(guarded):
    async with watched(guarded) as (connections, relay):
        old, new = (through(relay, guarded.security.trust(name)) for name in ("one", "two"))
        pieces = connections.dial(old).snapshot()
        first = await anext(pieces)
        await connections.dial(new).status()
        rest = [it async for it in pieces]
        assert first
        assert rest
        assert await soon(lambda: relay.open == 1)


async def test_an_idle_connection_is_closed_and_made_again(guarded):
    async with watched(guarded, kept=0.05) as (connections, relay):
        member = connections.dial(through(relay, guarded.security.trust()))
        await member.status()
        assert await soon(lambda: relay.open == 0)
        assert (await member.status()).member_id


async def test_closing_ends_every_connection(guarded):
    async with watched(guarded) as (connections, relay):
        await connections.dial(through(relay, guarded.security.trust())).status()
        assert relay.open == 1
        await connections.close()
        assert await soon(lambda: relay.open == 0)


async def test_the_key_is_on_no_disk_and_in_no_text(guarded, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    trust = guarded.security.trust("root")
    async with watched(guarded) as (connections, relay):
        endpoint = through(relay, trust)
        await connections.dial(endpoint).status()
    assert list(tmp_path.iterdir()) == []
    assert "KEY" not in repr(endpoint)
    assert "CERTIFICATE" not in repr(endpoint)
