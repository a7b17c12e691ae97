"""Who the server is and how it knows its users: certificates, a token, a kubeconfig.

kubectl sends a token over TLS alone, so even a server on loopback needs a certificate. It is of an
authority of our own that signs nothing else; the private keys never leave the folder.
"""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
import tempfile
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from stateward.core.errors import UsageError

CONTEXT: Final = "stateward-local"

_LIFE: Final = timedelta(days=365)
#: A certificate with less left than this is made anew.
_REST: Final = timedelta(days=7)
#: Clocks of two programs on one machine agree, but for a restored snapshot of it.
_BEFORE: Final = timedelta(hours=1)
_NAMES: Final = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_ADDRESSES: Final = ("127.0.0.1", "::1")
_TOKEN: Final = re.compile(rb"[0-9a-f]{64}")
#: A real API server shows the same certificate to its etcd and to the nodes.
_USES: Final = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server shows, and what it wants to be shown."""

    authority: bytes
    token: str = field(repr=False)
    #: For the listening socket.
    tls: ssl.SSLContext = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Papers:
    """Certificates and the key of the server, as PEM."""

    authority: bytes
    certificate: bytes
    key: bytes = field(repr=False)


def identity(now: float, folder: Path | None = None) -> Identity:
    """Return who the server is: as the folder says, or somebody new, written there if there is one.

    Raise UsageError when the folder cannot be used.
    """
    moment = datetime.fromtimestamp(now, UTC)
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return _kept(Path(temporary), moment)
    try:
        return _kept(folder, moment)
    except OSError as error:
        raise UsageError(
            f"the folder for certificates and the token must be readable and writable: {error}",
            hint=f"check the rights of {folder}",
        ) from error


def kubeconfig_text(url: str, token: str, authority: bytes, name: str = CONTEXT) -> str:
    """Return a kubeconfig with one context, which is the current one."""
    cluster = {"server": url, "certificate-authority-data": b64encode(authority).decode()}
    context = {"cluster": name, "user": name, "namespace": "default"}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": cluster}],
            "contexts": [{"name": name, "context": context}],
            "users": [{"name": name, "user": {"token": token}}],
        },
        sort_keys=False,
    )


def write_secret(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)


def _kept(folder: Path, moment: datetime) -> Identity:
    paths = [folder / name for name in ("ca.crt", "server.crt", "server.key")]
    if not _is_usable(paths, moment):
        papers = _issued(moment)
        for path, content in zip(
            paths, (papers.authority, papers.certificate, papers.key), strict=True
        ):
            write_secret(path, content)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # whatever the machine allows
    context.load_cert_chain(paths[1], paths[2])
    return Identity(paths[0].read_bytes(), _token(folder / "token"), context)


def _token(path: Path) -> str:
    """Return the token that was kept; one that is not of our making is made anew."""
    kept = path.read_bytes().strip() if path.exists() else b""
    if not _TOKEN.fullmatch(kept):
        kept = os.urandom(32).hex().encode()
        write_secret(path, kept)
    return kept.decode()


def _is_usable(paths: list[Path], moment: datetime) -> bool:
    """Tell whether what was kept is whole, fits together and lasts for a while."""
    if not all(path.exists() for path in paths):
        return False
    try:
        authority, certificate = (
            x509.load_pem_x509_certificate(path.read_bytes()) for path in paths[:2]
        )
        certificate.verify_directly_issued_by(authority)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(paths[1], paths[2])
    except (ValueError, TypeError, ssl.SSLError):
        return False
    until = min(authority.not_valid_after_utc, certificate.not_valid_after_utc)
    begins = max(authority.not_valid_before_utc, certificate.not_valid_before_utc)
    return begins <= moment < until - _REST


def _issued(moment: datetime) -> _Papers:
    """Make an authority and a certificate by it; the authority's key is forgotten at once."""
    above, below = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = (
        _begun("stateward local authority", "stateward local authority", moment)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(above.public_key()), critical=False
        )
        .public_key(above.public_key())
        .sign(above, hashes.SHA256())
    )
    names: list[x509.GeneralName] = [x509.DNSName(it) for it in _NAMES]
    names += [x509.IPAddress(ipaddress.ip_address(it)) for it in _ADDRESSES]
    certificate = (
        _begun("stateward local server", "stateward local authority", moment)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_USES), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(above.public_key()), critical=False
        )
        .public_key(below.public_key())
        .sign(above, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key = below.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return _Papers(authority.public_bytes(pem), certificate.public_bytes(pem), key)


def _begun(subject: str, issuer: str, moment: datetime) -> x509.CertificateBuilder:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    return (
        x509.CertificateBuilder()
        .subject_name(named(subject))
        .issuer_name(named(issuer))
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - _BEFORE)
        .not_valid_after(moment + _LIFE)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
