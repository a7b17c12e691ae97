"""TLS as FoundationDB's programs are told of it: three files, and rules about who is believed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Final

from stateward.core.errors import UsageError
from stateward.core.peers import rules as peers

_ANYBODY: Final = "Check.Valid=0"


class Untrusted(Exception):
    """Who is on the other side is not believed."""


@dataclass(frozen=True, slots=True)
class Security:
    """The files of who asks or listens; all empty: no TLS."""

    certificate_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    verify_peers: str = ""
    password: str = ""

    @classmethod
    def told(cls, flags: Mapping[str, str], environment: Mapping[str, str]) -> Security:
        """Return what command line (``tls_...``) and environment (``FDB_TLS_...``) say."""
        names = [it.name for it in fields(cls)]
        return cls(
            **{
                it: flags.get(f"tls_{it}") or environment.get(f"FDB_TLS_{it.upper()}", "")
                for it in names
            }
        )

    @property
    def is_open(self) -> bool:
        """Whether anybody is believed, whoever gave it its certificate."""
        return _ANYBODY in self.verify_peers

    @property
    def rules(self) -> str:
        """What is asked of a certificate beyond who gave it."""
        kept = (it for it in self.verify_peers.split(",") if it.strip() != _ANYBODY)
        return ",".join(kept)

    @property
    def is_there(self) -> bool:
        """Whether one can speak with TLS at all."""
        return bool(self.certificate_file and self.key_file)


def check(security: Security) -> None:
    """Raise ValueError for rules that nobody understands, and for files that cannot be read."""
    try:
        peers.parse(security.rules, "|")
        if security.is_there:
            server_context(security)
    except (UsageError, OSError) as error:
        raise ValueError(f"TLS cannot be used: {error}") from None


def client_context(security: Security) -> ssl.SSLContext:
    """Return how to connect."""
    return _context(security, ssl.PROTOCOL_TLS_CLIENT)


def server_context(security: Security) -> ssl.SSLContext:
    """Return how to listen: who connects must show a certificate too."""
    return _context(security, ssl.PROTOCOL_TLS_SERVER)


def renewed_context(security: Security) -> ssl.SSLContext:
    """Return how to listen, by the files as they are whenever somebody comes.

    The real ones read them anew now and then, so that renewed certificates need no restart. Files
    that cannot be read just then are passed over: those that were read last do.
    """
    context = server_context(security)

    def renew(one: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _: ssl.SSLContext) -> None:
        with suppress(OSError, ValueError):
            one.context = server_context(security)

    context.sni_callback = renew
    return context


def _context(security: Security, side: ssl._SSLMethod) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.check_hostname = False  # certificates are of the cluster, not of an address
    if security.is_there:
        context.load_cert_chain(
            security.certificate_file, security.key_file, lambda: security.password
        )
    if security.is_open:
        context.verify_mode = ssl.CERT_NONE
        return context
    context.verify_mode = ssl.CERT_REQUIRED
    if security.ca_file:
        context.load_verify_locations(security.ca_file)
    else:
        context.load_default_certs()
    return context


def check_peer(security: Security, writer: asyncio.StreamWriter) -> None:
    """Raise Untrusted unless the rules allow who is on the other side."""
    rules = peers.parse(security.rules, "|")
    if rules.alternatives and not rules.allow(writer.get_extra_info("peercert")):
        raise Untrusted("no rule fits the certificate")
