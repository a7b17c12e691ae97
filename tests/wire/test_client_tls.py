"""TLS over the wire: whom we trust, what we show, and what happens when either is replaced while we run."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme

from stateward.core.chance import Chance
from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.kube.http import failures
from stateward.kube.http.access import ClusterAccess, PemFile, PemText, TlsMaterial
from stateward.kube.http.client import HttpClient
from stateward.kube.http.requests import Request
from stateward.kube.resources import PODS
from wire.scripted import EagerClock, Script, Scripted, answers, pod, refuses, tunnels
from wire.talk import KEY

CLOSING = ("Connection: close",)
A = answers(pod("a"), headers=CLOSING)


def server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("127.0.0.1",))).configure_cert(context)
    return context


def wanting_a_certificate(
    authority: trustme.CA, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
) -> ssl.SSLContext:
    context = server_context(authority)
    context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    return context


def write_authority(path: Path, authority: trustme.CA) -> PemFile:
    path.write_bytes(authority.cert_pem.bytes())
    return PemFile(path)


def write_certificate(folder: Path, authority: trustme.CA, name: str) -> tuple[PemFile, PemFile]:
    leaf = authority.issue_cert(f"{name}@example.com")
    certificate, key = folder / "client.crt", folder / "client.key"
    certificate.write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
    key.write_bytes(leaf.private_key_pem.bytes())
    return PemFile(certificate), PemFile(key)


@asynccontextmanager
async def serving(
    context: ssl.SSLContext, tls: TlsMaterial, *scripts: Script, **options: Any
) -> AsyncIterator[tuple[HttpClient, Scripted]]:
    async with Scripted(tls=context).plays(*scripts) as server:
        where = ClusterAccess(server.url, tls=tls)
        async with HttpClient(where, EagerClock(), Chance(1), **options) as client:
            yield client, server


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def other() -> trustme.CA:
    return trustme.CA()


async def test_the_authority_is_trusted(authority: trustme.CA, tmp_path: Path) -> None:
    in_file = write_authority(tmp_path / "ca.crt", authority)
    for pem in (in_file, PemText(in_file.path.read_bytes())):
        async with serving(server_context(authority), TlsMaterial(pem), A) as (client, _):
            assert (await client.get(PODS, KEY)).metadata.name == "a"


async def test_nobody_else_is(authority: trustme.CA, other: trustme.CA, tmp_path: Path) -> None:
    tls = TlsMaterial(write_authority(tmp_path / "ca.crt", other))
    async with serving(server_context(authority), tls) as (client, server):
        with pytest.raises(PeerUnreachable, match="TLS failed"):
            await client.create(PODS, pod("a"))

    assert server.seen == []


async def test_the_machine_s_authorities_do_not_help(authority: trustme.CA) -> None:
    async with serving(server_context(authority), TlsMaterial()) as (client, _):
        with pytest.raises(PeerUnreachable, match="TLS failed"):
            await client.get(PODS, KEY)


async def test_the_name_in_the_certificate_must_be_right(
    authority: trustme.CA, tmp_path: Path
) -> None:
    tls = TlsMaterial(write_authority(tmp_path / "ca.crt", authority))
    context = server_context(authority, "kubernetes.default.svc")
    async with serving(context, tls) as (client, _):
        with pytest.raises(PeerUnreachable, match=r"TLS failed: .*127\.0\.0\.1"):
            await client.get(PODS, KEY)
    async with serving(context, replace(tls, server_name="kubernetes.default.svc"), A) as (c, _):
        assert (await c.get(PODS, KEY)).metadata.name == "a"


async def test_verification_is_never_off_in_silence(authority: trustme.CA) -> None:
    warnings: list[str] = []
    tls = TlsMaterial(verify=False)
    async with serving(server_context(authority), tls, A, warn=warnings.append) as (client, server):
        await client.get(PODS, KEY)

        assert warnings == [f"the certificate of {server.url} is not verified"]


async def test_an_authority_that_is_replaced_is_picked_up_by_the_same_read(
    authority: trustme.CA, other: trustme.CA, tmp_path: Path
) -> None:
    tls = TlsMaterial(write_authority(tmp_path / "ca.crt", authority))
    context = server_context(authority)
    async with serving(context, tls, A, A) as (client, _):
        await client.get(PODS, KEY)
        other.issue_cert("127.0.0.1").configure_cert(context)
        write_authority(tmp_path / "ca.crt", other)
        assert (await client.get(PODS, KEY)).metadata.name == "a"


async def test_an_authority_that_is_replaced_is_picked_up_by_the_next_write(
    authority: trustme.CA, other: trustme.CA, tmp_path: Path
) -> None:
    tls = TlsMaterial(write_authority(tmp_path / "ca.crt", authority))
    context = server_context(authority)
    async with serving(context, tls, A, A) as (client, server):
        await client.get(PODS, KEY)
        other.issue_cert("127.0.0.1").configure_cert(context)
        write_authority(tmp_path / "ca.crt", other)
        with pytest.raises(PeerUnreachable, match="TLS failed"):
            await client.create(PODS, pod("a"))
        assert len(server.seen) == 1
        assert (await client.create(PODS, pod("a"))).metadata.name == "a"


async def test_a_certificate_of_ours_that_is_replaced(
    authority: trustme.CA, other: trustme.CA, tmp_path: Path
) -> None:
    tls = TlsMaterial(
        write_authority(tmp_path / "ca.crt", authority), *write_certificate(tmp_path, other, "ann")
    )
    async with serving(wanting_a_certificate(authority), tls) as (client, server):
        with pytest.raises(PeerUnreachable):
            await client.create(PODS, pod("a"))
        assert server.seen == []
        write_certificate(tmp_path, authority, "ann")
        server.plays(A)
        assert (await client.create(PODS, pod("a"))).metadata.name == "a"


async def test_a_certificate_that_the_server_calls_expired(
    authority: trustme.CA, tmp_path: Path
) -> None:
    """Kubernetes judges certificates after the handshake, and says 401."""
    tls = TlsMaterial(
        write_authority(tmp_path / "ca.crt", authority),
        *write_certificate(tmp_path, authority, "ann"),
    )
    scripts = (answers(pod("a")), refuses(401, "Unauthorized"), answers(pod("a")))
    async with serving(server_context(authority), tls, *scripts) as (client, server):
        await client.get(PODS, KEY)
        write_certificate(tmp_path, authority, "ann")
        assert (await client.create(PODS, pod("a"))).metadata.name == "a"

    assert [seen.connection for seen in server.seen] == [1, 1, 2]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_server_that_wants_a_certificate_and_gets_none(
    authority: trustme.CA, tmp_path: Path, version: ssl.TLSVersion
) -> None:
    """In TLS 1.3 the request has left when the refusal comes, and a reset may overtake the refusal."""
    tls = TlsMaterial(write_authority(tmp_path / "ca.crt", authority))
    async with serving(wanting_a_certificate(authority, version), tls) as (client, server):
        with pytest.raises((PeerUnreachable, OutcomeUnknown)) as caught:
            await client.create(PODS, pod("a"))

    assert server.seen == []
    assert version is ssl.TLSVersion.TLSv1_3 or caught.type is PeerUnreachable


def test_a_refused_certificate_means_that_nothing_was_read() -> None:
    alert = ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] certificate required")
    alert.reason = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    error = aiohttp.ClientOSError()
    error.__cause__ = alert

    found = failures.meaning_of(error, Request("POST", "/x"), "https://api", sent=True)

    assert type(found) is PeerUnreachable
    assert failures.is_about_tls(error)


async def test_through_a_proxy(authority: trustme.CA, tmp_path: Path) -> None:
    tls = TlsMaterial(write_authority(tmp_path / "ca.crt", authority), server_name="api.example")
    context = server_context(authority, "api.example")
    async with Scripted(tls=context).plays(A) as server, Scripted() as proxy:
        proxy.plays(tunnels(server.port))
        where = ClusterAccess(
            "https://api.invalid:6443", tls=tls, proxy=f"http://127.0.0.1:{proxy.port}"
        )
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            assert (await client.get(PODS, KEY)).metadata.name == "a"

    assert str(proxy.seen[0]).startswith("CONNECT ")


async def test_a_watch_that_is_left_says_no_long_farewell(
    authority: trustme.CA, tmp_path: Path
) -> None:
    """TLS has one that waits for the peer's, and would outlive a client whose peer is slow."""
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    door = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        plain, _ = door.accept()
        with server_context(authority).wrap_socket(plain, server_side=True) as talk:
            talk.recv(65536)
            talk.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            talk.sendall(b"Transfer-Encoding: chunked\r\n\r\n")
            talk.recv(1)  # the client's farewell, which is not answered
            with socket.socket(fileno=os.dup(talk.fileno())) as below:
                below.settimeout(3)
                said = below.recv(1)  # nothing, at once, from a connection that is closed
            heard.get_loop().call_soon_threadsafe(heard.set_result, said)

    tls = TlsMaterial(authority=write_authority(tmp_path / "ca.crt", authority))
    where = ClusterAccess(f"https://127.0.0.1:{door.getsockname()[1]}", tls=tls)
    with door:
        serving_it = asyncio.create_task(asyncio.to_thread(serve))
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            watching = asyncio.ensure_future(anext(client.watch(PODS, since="1")))
            await asyncio.sleep(0.2)
            watching.cancel()
            await asyncio.wait({heard, serving_it}, return_when=asyncio.FIRST_COMPLETED)
        await serving_it
    assert await heard == b""
