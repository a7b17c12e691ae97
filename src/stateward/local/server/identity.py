"""Who the server is and how it knows its users: certificates, a token, a kubeconfig.

kubectl sends a token over TLS alone, so even a server on loopback needs a certificate. It is of an
authority of our own that signs nothing else; the private keys never leave the folder.
"""

from __future__ import annotations

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

from stateward.core.errors import UsageError
from stateward.local.issuing import Term, new_authority

CONTEXT: Final = "stateward-local"

_LIFE: Final = timedelta(days=365)
#: A certificate with less left than this is made anew.
_REST: Final = timedelta(days=7)
_NAMES: Final = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_ADDRESSES: Final = ("127.0.0.1", "::1")
_TOKEN: Final = re.compile(rb"[0-9a-f]{64}")


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
    term = Term(moment, _LIFE)
    authority = new_authority("stateward local authority", term)
    made = authority.issue("stateward local server", (*_NAMES, *_ADDRESSES), term)
    return _Papers(authority.papers.certificate, made.certificate, made.key)
