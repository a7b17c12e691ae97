"""TLS contexts: made from files or text, made again when the files change, and no key left behind."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from fakes.hand_clock import HandClock
from stateward.core.errors import UsageError
from stateward.kube.http.access import Pem, PemFile, PemText, TlsMaterial
from stateward.kube.http.credentials import ClientCertificate
from stateward.kube.http.tls import TlsContexts


class Files:
    """An authority and a client certificate on disk."""

    def __init__(self, folder: Path) -> None:
        self.authority = folder / "ca.crt"
        self.certificate = folder / "client.crt"
        self.key = folder / "client.key"
        self.rotate()

    def rotate(self) -> None:
        self.issuer = trustme.CA()
        leaf = self.issuer.issue_cert("ann@example.com")
        self.authority.write_bytes(self.issuer.cert_pem.bytes())
        self.certificate.write_bytes(leaf.cert_chain_pems[0].bytes())
        self.key.write_bytes(leaf.private_key_pem.bytes())

    @property
    def material(self) -> TlsMaterial:
        return TlsMaterial(PemFile(self.authority), PemFile(self.certificate), PemFile(self.key))

    @property
    def inline(self) -> TlsMaterial:
        paths = (self.authority, self.certificate, self.key)
        authority, certificate, key = (PemText(path.read_bytes()) for path in paths)
        return TlsMaterial(authority, certificate, key)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def trusted(context: ssl.SSLContext) -> list[Any]:
    return [found["serialNumber"] for found in context.get_ca_certs()]


def test_only_the_given_authority_is_trusted(files: Files) -> None:
    for material in (files.material, files.inline):
        context = TlsContexts(material, HandClock()).current()

        assert len(trusted(context)) == 1
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_verification_is_off_only_when_asked() -> None:
    context = TlsContexts(TlsMaterial(verify=False), HandClock()).current()

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)
    assert TlsContexts(TlsMaterial(), HandClock()).current().verify_mode is ssl.CERT_REQUIRED


def test_files_that_stay_the_same_give_the_same_context(files: Files) -> None:
    clock = HandClock()
    contexts = TlsContexts(files.material, clock)

    first = contexts.current()
    clock.advance(3600)
    contexts.recheck()

    assert contexts.current() is first


def test_files_are_looked_at_once_a_second(files: Files) -> None:
    clock = HandClock()
    contexts = TlsContexts(files.material, clock)
    first = contexts.current()

    files.rotate()
    clock.advance(0.9)
    assert contexts.current() is first
    clock.advance(0.2)
    second = contexts.current()

    assert second is not first
    assert trusted(second) != trusted(first)


def test_a_refusal_makes_us_look_at_once(files: Files) -> None:
    contexts = TlsContexts(files.material, HandClock())
    first = contexts.current()

    contexts.recheck()
    assert contexts.current() is first
    files.rotate()
    contexts.recheck()

    assert trusted(contexts.current()) != trusted(first)


def test_a_failed_handshake_makes_a_new_context(files: Files) -> None:
    contexts = TlsContexts(files.material, HandClock())
    first = contexts.current()

    contexts.doubt()
    second = contexts.current()

    assert second is not first
    assert contexts.current() is second


def test_a_rotation_that_is_half_done_is_waited_for(files: Files) -> None:
    clock = HandClock()
    contexts = TlsContexts(files.material, clock)
    first = contexts.current()
    old_key = files.key.read_bytes()

    files.rotate()
    new_key = files.key.read_bytes()
    files.key.write_bytes(old_key)
    clock.advance(1)
    assert contexts.current() is first
    files.key.unlink()
    clock.advance(1)
    assert contexts.current() is first
    files.key.write_bytes(new_key)
    clock.advance(1)

    assert contexts.current() is not first


def test_a_certificate_of_the_moment_is_shown_instead(files: Files) -> None:
    leaf = files.issuer.issue_cert("plugin@example.com")
    given = ClientCertificate(leaf.cert_chain_pems[0].bytes(), leaf.private_key_pem.bytes())
    contexts = TlsContexts(TlsMaterial(PemFile(files.authority)), HandClock())

    first = contexts.current()
    second = contexts.current(given)

    assert second is not first
    assert contexts.current(given) is second


def test_no_key_is_left_on_disk(
    files: Files, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def looked_at(self: ssl.SSLContext, certfile: str, keyfile: str, **more: Any) -> None:
        modes.extend(Path(path).stat().st_mode & 0o777 for path in (certfile, keyfile))
        assert list(scratch.iterdir()) == []
        load(self, certfile, keyfile, **more)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", looked_at)
    TlsContexts(files.inline, HandClock()).current()

    assert modes == [0o600, 0o600]
    assert list(scratch.iterdir()) == []


def test_not_even_of_a_broken_one(files: Files, scratch: Path) -> None:
    material = TlsMaterial(None, PemText(b"no"), PemText(b"s3cret"))

    with pytest.raises(UsageError) as caught:
        TlsContexts(material, HandClock()).current()

    assert "client-certificate-data and client-key-data must be" in caught.value.message
    assert "s3cret" not in caught.value.sentence() + repr(material)
    assert list(scratch.iterdir()) == []


def test_an_encrypted_key_is_refused_without_asking(files: Files) -> None:
    key = serialization.load_pem_private_key(files.key.read_bytes(), None)
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.BestAvailableEncryption(b"s3cret"),
        )
    )

    with pytest.raises(UsageError, match="not encrypted"):
        TlsContexts(files.material, HandClock()).current()


@pytest.mark.parametrize("text", [b"", b" \n", b"no certificate", b"\xff\xfe"])
def test_an_authority_that_is_none_is_never_replaced_by_the_machine_s(
    tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "ca.crt").write_bytes(text)
    sources: tuple[Pem, ...] = (PemFile(tmp_path / "ca.crt"), PemText(text))
    for pem in sources:
        with pytest.raises(UsageError, match="must hold PEM certificates"):
            TlsContexts(TlsMaterial(pem), HandClock()).current()


def test_a_bundle_with_comments(files: Files) -> None:
    text = "# Főtanúsítvány\n".encode() + files.authority.read_bytes()

    assert len(trusted(TlsContexts(TlsMaterial(PemText(text)), HandClock()).current())) == 1


@pytest.mark.parametrize("missing", ["authority", "certificate", "key"])
def test_a_file_that_is_not_there(files: Files, missing: str) -> None:
    path: Path = getattr(files, missing)
    path.unlink()

    with pytest.raises(UsageError) as caught:
        TlsContexts(files.material, HandClock()).current()

    assert f"{path} must be readable: No such file" in caught.value.message
