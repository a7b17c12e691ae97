"""Members that hang, are gone, are cut off, or are not etcd at all."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

import pytest

from contract.etcd.relay import relaying
from contract.etcd.stage import SHORT, hung, speaking, spoken, there
from stateward.core.errors import (
    HouseError,
    OutcomeUnknown,
    PeerConfused,
    PeerError,
    PeerUnreachable,
)
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.port import Endpoint, MemberApi

READS = {
    "status": lambda member: member.status(),
    "members": lambda member: member.members(),
    "alarms": lambda member: member.alarms(),
    "auth_enabled": lambda member: member.auth_enabled(),
    "get": lambda member: member.get(b"k"),
    "snapshot": lambda member: anext(member.snapshot()),
}
WRITES = {
    "add_learner": lambda member: member.add_learner("http://127.0.0.1:1"),
    "promote": lambda member: member.promote(1),
    "remove": lambda member: member.remove(1),
    "move_leader": lambda member: member.move_leader(1),
    "compact": lambda member: member.compact(1),
    "defragment": lambda member: member.defragment(),
    "add_root": lambda member: member.add_root(),
    "put": lambda member: member.put(b"k", b"v"),
}


async def outcome(ask: Callable[[MemberApi], object], member: MemberApi) -> type[PeerError]:
    begun = asyncio.get_running_loop().time()
    with pytest.raises(PeerError) as caught:
        await ask(member)  # type: ignore[misc]
    assert asyncio.get_running_loop().time() - begun < 1.5
    return caught.type


async def test_a_member_that_hangs_is_left_in_time(trio, way):
    async with speaking(trio, way, SHORT) as voice:
        await voice["c"].status()  # connected before it hangs
        member = voice["c"]
        async with hung(trio["c"]):
            seen = await asyncio.gather(
                *(outcome(it, member) for it in (*READS.values(), *WRITES.values()))
            )
        again = await voice["c"].status()

    assert dict(zip((*READS, *WRITES), seen, strict=True)) == {
        **dict.fromkeys(READS, PeerUnreachable),
        **dict.fromkeys(WRITES, OutcomeUnknown),
    }
    assert again.member_id


async def test_a_member_that_hung_while_we_connected_is_asked_later(trio, way):
    async with speaking(trio, way, SHORT) as voice:
        async with hung(trio["c"]):
            down = await outcome(READS["status"], voice["c"])
            unsent = await outcome(WRITES["put"], voice["c"])
        again = await voice["c"].status()

    assert down is PeerUnreachable
    # gRPC hears a greeting before it says anything.
    assert unsent is (PeerUnreachable if way == "grpc" else OutcomeUnknown)
    assert again.member_id


async def test_a_port_where_nobody_listens_means_that_nothing_was_sent(wire):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, and not listened on: nobody else can be there
        connections = Connections(SHORT)
        endpoint = Endpoint("127.0.0.1", free.getsockname()[1], login_by_certificate=wire == "grpc")
        member = connections.dial(endpoint)
        seen = [await outcome(it, member) for it in (*READS.values(), *WRITES.values())]
        await connections.close()

    assert set(seen) == {PeerUnreachable}


async def test_a_write_whose_answer_is_cut_off_may_have_been_made(trio, wire):
    key = f"cut/{wire}".encode()
    async with relaying(trio["a"]) as relay, speaking(trio, wire) as voice:
        connections = Connections(SHORT)
        endpoint = Endpoint("127.0.0.1", relay.port, login_by_certificate=wire == "grpc")
        through = connections.dial(endpoint)
        await through.status()
        relay.swallows = True
        with pytest.raises(OutcomeUnknown):
            await through.put(key, b"made")
        made = [await voice["a"].get(key)]
        relay.swallows = False
        made.append(await through.get(key))  # on a new connection
        await connections.close()

    assert made == [b"made", b"made"]


async def test_a_read_whose_answer_is_cut_off_did_nothing(trio, wire):
    async with relaying(trio["a"]) as relay:
        connections = Connections(SHORT)
        endpoint = Endpoint("127.0.0.1", relay.port, login_by_certificate=wire == "grpc")
        relay.swallows = True
        with pytest.raises(PeerUnreachable):
            await connections.dial(endpoint).members()
        await connections.close()


async def test_a_member_that_came_back_is_asked_over_a_new_connection(trio, way):
    async with speaking(trio, way, SHORT) as voice:
        member = voice["b"]
        before = await member.status()
        trio["b"].kill()
        down = await outcome(READS["status"], member)
        trio["b"].start(trio.initial())
        await there(trio["b"])
        after = await member.status()

    assert down is PeerUnreachable
    assert after.member_id == before.member_id


async def test_closed_connections_are_not_used(trio, wire):
    connections = Connections()
    member = connections.dial(spoken(trio["a"], wire))
    await member.status()
    await connections.close()
    with pytest.raises(HouseError):
        await member.status()
    with pytest.raises(HouseError):
        connections.dial(spoken(trio["a"], wire))


HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
LIARS = {
    "silence": b"",
    "not HTTP": b"SSH-2.0-OpenSSH\r\n" * 50,
    "not JSON": HTTP + b"Content-Length: 5\r\n\r\nhello",
    "an empty object": HTTP + b"Content-Length: 2\r\n\r\n{}",
    "a list": HTTP + b"Content-Length: 2\r\n\r\n[]",
    "deep": HTTP + b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
    "elsewhere": b"HTTP/1.1 307 Gone\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "cut": HTTP + b"Content-Length: 500\r\n\r\n{",
    "endless": HTTP
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 200,
    "endless header": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000_000,
    "an odd frame": b"\0\0\x12\x04\0\0\0\0\x01" + b"\xff" * 18,
    "a beginning": (GREETING := b"\0\0\0\x04\0\0\0\0\0"),
}


@pytest.mark.parametrize("said", LIARS.values(), ids=LIARS)
async def test_whoever_is_not_etcd_confuses_nobody(wire, said):
    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.read(65536)
            writer.write(said)
            await writer.drain()
            await reader.read(65536)
        writer.close()

    server = await asyncio.start_server(lie, "127.0.0.1")
    async with server:
        endpoint = Endpoint(
            "127.0.0.1", server.sockets[0].getsockname()[1], login_by_certificate=wire == "grpc"
        )
        connections = Connections(SHORT)
        asks = (READS["members"], READS["snapshot"], WRITES["add_learner"])
        read, piece, write = await asyncio.gather(
            *(outcome(it, connections.dial(endpoint)) for it in asks)
        )
        await connections.close()

    assert {read, piece} <= {PeerUnreachable, PeerConfused}
    # gRPC hears a greeting before it says anything.
    unsent = wire == "grpc" and said != GREETING
    assert write is (PeerUnreachable if unsent else OutcomeUnknown)
