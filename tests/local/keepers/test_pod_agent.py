"""The sidecar as an operator asks it, over a loopback: the stand-in, and some who are none."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from local.keepers.runs import fdbserver, running
from stateward.core import pems
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerUnreachable
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.pod_agent import AgentRefused, http
from stateward.fdb.admin.pod_agent.http import HttpAgent, HttpAgents
from stateward.fdb.admin.session import Tls
from stateward.fdb.groups.syncing import shows


@dataclass(frozen=True)
class Pod:
    """What comes from a config map, and what the main container sees."""

    source: Path
    target: Path
    agents: HttpAgents
    agent: HttpAgent


@asynccontextmanager
async def pod(
    folder: Path, tls: Tls | None = None, *, server: Tls | None = None, checks_hosts: bool = True
) -> AsyncIterator[Pod]:
    """Run a sidecar, with TLS if it has papers."""
    source, target = folder / "in", folder / "out"
    source.mkdir()
    target.mkdir()
    (source / "fdb.cluster").write_text("a:b@127.0.0.1:4500")
    (source / "fdbmonitor.conf").write_text("zone = $FDB_ZONE_ID")
    env = {"STATEWARD_FDB_PROGRAMS": str(fdbserver(folder / "programs").parent)}
    env |= {"FDB_POD_IP": "127.0.0.1", "FDB_ZONE_ID": "z1"}
    words = (
        *("--input-dir", source, "--output-dir", target, "--copy-file", "fdb.cluster"),
        *("--input-monitor-conf", "fdbmonitor.conf", "--bind-address", "127.0.0.1:0"),
        *(("--tls",) if server else ()),
    )
    async with running("sidecar", *words, env=env | (server.environment() if server else {})) as it:
        line = await it.said("Listening on 127.0.0.1:")
        agents = HttpAgents(tls, int(line.rpartition(":")[2]), checks_hosts=checks_hosts)
        try:
            yield Pod(source, target, agents, agents.reach("127.0.0.1", tls=server is not None))
        finally:
            await agents.close()


async def test_it_tells_what_it_gave_out_and_gives_out_anew(tmp_path: Path) -> None:
    async with pod(tmp_path) as it:
        assert (await it.agent.substitutions())["FDB_ZONE_ID"] == "z1"
        written = hashlib.sha256(b"zone = z1").hexdigest()
        assert await it.agent.check_hash("fdbmonitor.conf") == written
        (it.source / "fdbmonitor.conf").write_text("machine = $FDB_ZONE_ID")
        (it.source / "fdb.cluster").write_text("a:c@127.0.0.1:4500")
        await it.agent.copy()
        await it.agent.copy()
        assert (it.target / "fdbmonitor.conf").read_text() == "machine = z1"
        now = hashlib.sha256(b"a:c@127.0.0.1:4500").hexdigest()
        assert await it.agent.check_hash("fdb.cluster") == now


async def test_what_it_refuses(tmp_path: Path) -> None:
    async with pod(tmp_path) as it:
        with pytest.raises(AgentRefused) as refused:
            await it.agent.check_hash("nothing")
        assert refused.value.is_missing
        (it.source / "fdb.cluster").unlink()
        with pytest.raises(AgentRefused) as refused:
            await it.agent.copy()
        assert not refused.value.is_missing
        for path in ("../secret", "/etc/passwd", "", "a b"):
            with pytest.raises(ValueError, match="below its folder"):
                await it.agent.check_hash(path)


# -------------------------------------------------------------------------- who is none


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[HttpAgent]:
    """Listen, and answer everything with some bytes; None: not at all."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    agents = HttpAgents(port=server.sockets[0].getsockname()[1])
    try:
        yield agents.reach("127.0.0.1")
    finally:
        await agents.close()
        server.close()


def page(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


@pytest.mark.parametrize(
    ("answer", "asked", "ordered"),
    [
        (b"nonsense\r\n\r\n", PeerConfused, OutcomeUnknown),
        (b"", PeerUnreachable, OutcomeUnknown),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", PeerConfused, OutcomeUnknown),
        (page(b"x" * (300 * 1024)), PeerConfused, OutcomeUnknown),
        (page(b"", "302 Found"), AgentRefused, AgentRefused),
        (page(b"no", "503 Unavailable"), AgentRefused, AgentRefused),
        (None, PeerUnreachable, OutcomeUnknown),
    ],
)
async def test_answers_that_are_none(
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes | None,
    asked: type[Exception],
    ordered: type[Exception],
) -> None:
    monkeypatch.setattr(http, "ASKING", 1.0)
    monkeypatch.setattr(http, "ORDERING", 1.0)
    async with answering(answer) as agent:
        with pytest.raises(asked):
            await agent.substitutions()
        with pytest.raises(ordered):
            await agent.copy()


@pytest.mark.parametrize("body", [b"[1]", b"{", b'{"a": 1}'])
async def test_variables_that_are_none(body: bytes) -> None:
    async with answering(page(body)) as agent:
        with pytest.raises(PeerConfused):
            await agent.substitutions()
        with pytest.raises(PeerConfused):
            await agent.check_hash("a")


async def test_nobody_is_there() -> None:
    agents = HttpAgents(port=1)
    with pytest.raises(PeerUnreachable):
        await agents.reach("127.0.0.1").copy()
    await agents.close()


# -------------------------------------------------------------------------- TLS


def papers(folder: Path, authority: trustme.CA, host: str) -> Tls:
    """Write a certificate, its key and an authority."""
    folder.mkdir()
    leaf = authority.issue_cert(host)
    (folder / "ca").write_bytes(authority.cert_pem.bytes())
    (folder / "cert").write_bytes(b"".join(it.bytes() for it in leaf.cert_chain_pems))
    (folder / "key").write_bytes(leaf.private_key_pem.bytes())
    return Tls(folder / "cert", folder / "key", folder / "ca")


@pytest.mark.parametrize(
    ("host", "same", "checks_hosts", "works"),
    [
        ("127.0.0.1", True, True, True),
        ("pod.example", True, False, True),
        ("pod.example", True, True, False),
        ("127.0.0.1", False, False, False),
    ],
)
async def test_each_believes_the_other_by_its_papers(
    tmp_path: Path, host: str, same: bool, checks_hosts: bool, works: bool
) -> None:
    authority = trustme.CA()
    server = papers(tmp_path / "server", authority, host)
    ours = papers(tmp_path / "ours", authority if same else trustme.CA(), "operator.example")
    async with pod(tmp_path, ours, server=server, checks_hosts=checks_hosts) as it:
        if works:
            await it.agent.copy()
            return
        with pytest.raises(PeerUnreachable):
            await it.agent.copy()


async def test_a_renewed_certificate_is_shown_when_it_was_asked_to_read_it(tmp_path: Path) -> None:
    authority = trustme.CA()
    server = papers(tmp_path / "server", authority, "127.0.0.1")
    ours = papers(tmp_path / "ours", authority, "operator.example")
    before = pems.fingerprint(server.certificate.read_bytes())
    async with pod(tmp_path, ours, server=server) as it:
        assert await it.agent.certificate() == before
        renewed = papers(tmp_path / "renewed", authority, "127.0.0.1")
        for name in ("cert", "key"):
            (tmp_path / "server" / name).write_bytes((tmp_path / "renewed" / name).read_bytes())
        assert await it.agent.certificate() == before, "nobody has asked it yet"
        assert await shows(it.agent, pems.fingerprint(renewed.certificate.read_bytes()))
        assert not await shows(it.agent, before), "what is gone cannot be had again"


async def test_who_shows_what_we_do_not_believe_is_not_looked_at(tmp_path: Path) -> None:
    server = papers(tmp_path / "server", trustme.CA(), "127.0.0.1")
    ours = papers(tmp_path / "ours", trustme.CA(), "operator.example")
    async with pod(tmp_path, ours, server=server) as it:
        with pytest.raises(PeerUnreachable):
            await it.agent.certificate()
        with pytest.raises(PeerUnreachable):
            await it.agent.refresh()


async def test_without_tls_no_certificate_is_shown_and_none_can_be_read(tmp_path: Path) -> None:
    async with pod(tmp_path) as it:
        assert await it.agent.certificate() == ""
        with pytest.raises(AgentRefused):
            await it.agent.refresh()


async def test_papers_that_are_not_there(tmp_path: Path) -> None:
    nowhere = Tls(tmp_path / "cert", tmp_path / "key", tmp_path / "ca")
    for agents in (HttpAgents(), HttpAgents(nowhere)):
        with pytest.raises(ProgramUnusable):
            await agents.reach("127.0.0.1", tls=True).copy()
        await agents.close()
