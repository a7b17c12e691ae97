"""TLS contexts that follow their files: a rotated authority or client certificate is picked up
while we run.

A new context means new connections, since the pool keeps connections by context: requests already
under way finish on the old one. A rotation that is caught half-way (new certificate, old key)
leaves the old context in use until the files agree.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from stateward.core.clock import Clock
from stateward.core.errors import UsageError
from stateward.core.unwritten import as_file
from stateward.kube.http.access import Pem, PemFile, PemText, TlsMaterial
from stateward.kube.http.credentials import ClientCertificate

#: How often the files are looked at.
LOOK_INTERVAL = 1.0

#: What tells one version of a file from the next, without reading it.
_Stamp: TypeAlias = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class _Made:
    """A context and what it was made from."""

    context: ssl.SSLContext
    certificate: ClientCertificate | None
    stamps: tuple[_Stamp, ...]


class TlsContexts:
    """The context to use now, made again when its files have changed."""

    def __init__(self, material: TlsMaterial, clock: Clock) -> None:
        self._material = material
        self._clock = clock
        self._made: _Made | None = None
        self._look_at = 0.0
        self._doubted = False

    def current(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
        """Return the context to use now.

        A certificate given here is shown instead of the configured one.
        """
        now = self._clock.monotonic()
        if self._made is None or self._made.certificate != certificate:
            self._made = self._make(certificate, self._stamps())
        elif now >= self._look_at:
            self._made = self._looked_again(self._made)
        else:
            return self._made.context
        self._look_at = now + LOOK_INTERVAL
        self._doubted = False
        return self._made.context

    def recheck(self) -> None:
        """Look at the files before the next use: the server did not accept who we are."""
        self._look_at = self._clock.monotonic()

    def doubt(self) -> None:
        """Make the context again before the next use, whatever the files look like: a handshake
        failed.
        """
        self._doubted = True
        self.recheck()

    def _looked_again(self, made: _Made) -> _Made:
        stamps = self._stamps()
        if stamps == made.stamps and not self._doubted:
            return made
        try:
            return self._make(made.certificate, stamps)
        except UsageError:
            return made

    def _stamps(self) -> tuple[_Stamp, ...]:
        material = self._material
        return tuple(
            _stamp(pem.path)
            for pem in (material.authority, material.certificate, material.key)
            if isinstance(pem, PemFile)
        )

    def _make(self, certificate: ClientCertificate | None, stamps: tuple[_Stamp, ...]) -> _Made:
        context = _trusting(self._material)
        context.set_alpn_protocols(("http/1.1",))
        if certificate is not None:
            shown: tuple[Pem | None, Pem | None] = (
                PemText(certificate.certificate),
                PemText(certificate.key),
            )
        else:
            shown = (self._material.certificate, self._material.key)
        if shown[0] is not None and shown[1] is not None:
            _show(context, shown[0], shown[1])
        return _Made(context, certificate, stamps)


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _trusting(material: TlsMaterial) -> ssl.SSLContext:
    """Return a context that trusts the authority alone, or what the machine trusts if there is
    none.
    """
    context = _trusting_anybody() if not material.verify else _trusting_somebody(material)
    # A machine's own settings may allow older ones, which nobody should speak any more.
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _trusting_somebody(material: TlsMaterial) -> ssl.SSLContext:
    match material.authority:
        case None:
            context = ssl.create_default_context()
        case PemFile(path):
            context = _trusting_pem(_text_of(path, "certificate-authority"), str(path))
        case PemText(text):
            context = _trusting_pem(text, "certificate-authority-data")
    # Kubernetes' own authorities often lack an extension that the strict check of newer Pythons
    # asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    # What the kubeconfig names is to be trusted, also when it is not the root of its chain (as in
    # kubectl).
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _trusting_anybody() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _trusting_pem(pem: bytes, place: str) -> ssl.SSLContext:
    # Comments in a bundle may be in any language; the certificates themselves are ASCII.
    text = pem.decode("ascii", errors="ignore")
    try:
        # Given nothing, Python would trust what the machine trusts: never what somebody meant here.
        if text.strip():
            return ssl.create_default_context(cadata=text)
    except ssl.SSLError:
        pass
    raise UsageError(
        f"{place} must hold PEM certificates",
        hint="copy the cluster's authority again, from '-----BEGIN CERTIFICATE-----' on",
    )


def _show(context: ssl.SSLContext, certificate: Pem, key: Pem) -> None:
    with (
        _on_disk(certificate, "client-certificate") as certificate_path,
        _on_disk(key, "client-key") as key_path,
    ):
        try:
            context.load_cert_chain(certificate_path, key_path, password=_no_password)
        except (ssl.SSLError, ValueError):
            raise UsageError(
                f"{_name(certificate, 'client-certificate')} and {_name(key, 'client-key')}"
                " must be a PEM certificate and its own key, not encrypted",
                hint="write both anew, or log in by another way",
            ) from None


@contextmanager
def _on_disk(pem: Pem, field: str) -> Iterator[str]:
    """Give a path to the PEM text: OpenSSL takes no other form."""
    if isinstance(pem, PemFile):
        _text_of(pem.path, field)  # for the better message
        yield str(pem.path)
        return
    with as_file(pem.text) as path:
        yield path


def _text_of(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{field} {path} must be readable: {error.strerror}",
            hint="correct the path in the kubeconfig or the file's permissions",
        ) from None


def _no_password() -> str:
    # Without this, OpenSSL would ask on the terminal and wait.
    return ""


def _name(pem: Pem, field: str) -> str:
    return f"{field} {pem.path}" if isinstance(pem, PemFile) else f"{field}-data"
