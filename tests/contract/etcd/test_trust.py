"""Certificates and logins: who is believed, by whom, and over which way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trustme

from contract.etcd.stage import spoken
from fakes import etcds
from fakes.etcds import Etcd, Release, Security
from stateward.core.errors import PeerError, PeerUnreachable, SpecInvalid
from stateward.etcd.members import gateway, tls
from stateward.etcd.members.asking import AskedMember
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.dialing import Connections
from stateward.etcd.members.errors import LoginNeeded
from stateward.etcd.members.port import Endpoint, MemberApi, Trust


@pytest.fixture(scope="session")
def encrypted(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    """A member that shows a certificate and wants none."""
    folder = tmp_path_factory.mktemp("encrypted")
    with etcds.running(release, folder, "a", Security(folder)) as found:
        yield found["a"]


@pytest.fixture(scope="session")
def guarded(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    """A member that also wants a certificate of its clients."""
    folder = tmp_path_factory.mktemp("guarded")
    with etcds.running(release, folder, "a", Security(folder, ask_clients=True)) as found:
        yield found["a"]


@asynccontextmanager
async def asked(endpoint: Endpoint) -> AsyncIterator[MemberApi]:
    connections = Connections()
    try:
        yield connections.dial(endpoint)
    finally:
        await connections.close()


@asynccontextmanager
async def asked_over_gateway(endpoint: Endpoint) -> AsyncIterator[MemberApi]:
    """The gateway, also where the dialer would not take it."""
    assert endpoint.trust is not None
    async with gateway.new_session(1.0) as session:
        context = tls.context(endpoint.trust, "http/1.1")
        yield AskedMember(gateway.Gateway(session, endpoint, context, Deadlines()))


def trusting(etcd: Etcd, wire: str) -> Endpoint:
    security = etcd.security
    assert security is not None
    trust = security.trust(shown=False)
    return replace(spoken(etcd, wire), trust=trust, server_name=security.server_name)


async def test_a_known_server_is_asked(encrypted, wire):
    async with asked(trusting(encrypted, wire)) as member:
        assert (await member.status()).version == encrypted.release.version
        assert await member.put(b"k", b"v") > 0


WRONG = {
    "another authority": {"trust": Trust(trustme.CA().cert_pem.bytes())},
    "another name": {"server_name": "elsewhere.test"},
    "its address, which is not in the certificate": {"server_name": ""},
    "no TLS at all": {"trust": None},
}


@pytest.mark.parametrize("terms", WRONG.values(), ids=WRONG)
async def test_nothing_is_asked_of_a_server_that_is_not_the_known_one(encrypted, wire, terms):
    async with asked(replace(trusting(encrypted, wire), **terms)) as member:
        with pytest.raises(PeerUnreachable):
            await member.status()
        with pytest.raises(PeerUnreachable if fails_before(terms) else PeerError):
            await member.put(b"never", b"sent")


def fails_before(terms: dict[str, object]) -> bool:
    """In clear text a request is sent and nothing comes back; TLS fails before."""
    return terms.get("trust", "as it must be") is not None


async def test_tls_is_not_given_up_for_a_server_without_it(trio, wire):
    trust = Security(trio.folder).trust(shown=False)
    async with asked(replace(spoken(trio["a"], wire), trust=trust)) as member:
        with pytest.raises(PeerUnreachable):
            await member.status()


async def test_a_server_that_wants_a_certificate_refuses_who_has_none(guarded, wire):
    async with asked(trusting(guarded, wire)) as member:
        with pytest.raises(PeerUnreachable):
            await member.status()
        with pytest.raises(PeerUnreachable):
            await member.put(b"never", b"read")


async def test_who_has_a_certificate_is_asked_over_grpc_and_may_use_the_gateway(guarded):
    endpoint = replace(trusting(guarded, "gateway"), trust=guarded.security.trust())
    async with asked(endpoint) as member, asked_over_gateway(endpoint) as other:
        assert await member.members() == await other.members()
        assert await member.auth_enabled() is False


async def test_root_logs_in_by_certificate_over_grpc_alone(guarded):
    root = replace(trusting(guarded, "grpc"), trust=guarded.security.trust("root"))
    stranger = replace(root, trust=guarded.security.trust("stranger"))
    nobody = replace(root, trust=guarded.security.trust())
    async with asked(root) as member:
        for _ in "twice":
            await member.add_root()
        await member.disable_auth()  # fine if it is off
        await member.enable_auth()
        try:
            await member.enable_auth()  # fine if it is on
            assert await member.auth_enabled() is True
            await member.put(b"as", b"root")
            assert len((await member.members()).members) == 1
            assert (await member.status()).member_id
            await refused(stranger, over_gateway=False)
            await refused(nobody, over_gateway=False)
            await refused(root, over_gateway=True)
            await refused(nobody, over_gateway=True)
        finally:
            await member.disable_auth()
        assert await member.auth_enabled() is False
    async with asked(nobody) as member:
        assert await member.get(b"as") == b"root"


async def refused(endpoint: Endpoint, *, over_gateway: bool) -> None:
    async with (asked_over_gateway if over_gateway else asked)(endpoint) as member:
        with pytest.raises(LoginNeeded):
            await member.put(b"as", b"somebody else")
        with pytest.raises(LoginNeeded):
            await member.defragment()
        with pytest.raises(LoginNeeded):
            await anext(member.snapshot())
        assert await member.auth_enabled() is True


@pytest.mark.parametrize(
    "trust",
    [
        Trust(),
        Trust(b"nonsense"),
        Trust(trustme.CA().cert_pem.bytes(), b"no certificate", b"no key"),
        Trust(trustme.CA().cert_pem.bytes(), trustme.CA().cert_pem.bytes(), b""),
    ],
    ids=["empty", "no authority", "no certificate", "no key"],
)
async def test_certificates_that_cannot_be_used_are_refused_before_anything_is_sent(trust):
    connections = Connections()
    with pytest.raises(SpecInvalid, match=r"security\.tls"):
        connections.dial(Endpoint("127.0.0.1", 1, trust=trust))
    await connections.close()
