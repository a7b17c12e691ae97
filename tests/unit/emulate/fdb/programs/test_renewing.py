"""A program that listens with TLS goes by its files as they are, not as they were when it began."""

from __future__ import annotations

import asyncio
import socket
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes import fdb_tls
from stateward.emulate.fdb.talk import messages, wire
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.addresses import Address
from stateward.local.issuing import Authority

PROTOCOL = "0fdb00b073000000"
NOW = datetime.now(UTC)


def written(folder: Path, signer: Authority, **over: bytes) -> Security:
    for name, held in (fdb_tls.files(signer, NOW) | over).items():
        (folder / name).write_bytes(held)
    return Security(str(folder / "tls.crt"), str(folder / "tls.key"), str(folder / "ca.crt"))


def free_address() -> Address:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return Address("127.0.0.1", found.getsockname()[1], tls=True)


async def _served(_wire: wire.Wire, _said: messages.Any) -> None:
    return


def shown(address: Address, security: Security) -> bytes:
    """Return the certificate that is shown to who comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(security.ca_file)
    context.load_cert_chain(security.certificate_file, security.key_file)
    with (
        socket.create_connection((address.host, address.port), 10) as plain,
        context.wrap_socket(plain) as found,
    ):
        return found.getpeercert(binary_form=True) or b""


async def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    signer, address = fdb_tls.authority(NOW), free_address()
    security = written(tmp_path, signer)
    server = await wire.listen(address, security, PROTOCOL, _served, lambda _one, _other: None)
    try:
        first = await asyncio.to_thread(shown, address, security)
        again = await asyncio.to_thread(shown, address, security)
        written(tmp_path, signer)
        renewed = await asyncio.to_thread(shown, address, security)
        written(tmp_path, fdb_tls.authority(NOW))  # other files, from another authority
        other = await asyncio.to_thread(shown, address, security)
    finally:
        server.close()
    assert first == again
    assert len({first, renewed, other}) == 3


async def test_who_is_not_believed_any_more_is_not_let_in(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    signer, address = fdb_tls.authority(NOW), free_address()
    client, security = written(theirs, signer), written(ours, signer)
    server = await wire.listen(address, security, PROTOCOL, _served, lambda _one, _other: None)
    try:
        assert await asyncio.to_thread(shown, address, client)
        written(ours, fdb_tls.authority(NOW))
        with pytest.raises(ssl.SSLError):
            await asyncio.to_thread(shown, address, client)
    finally:
        server.close()
