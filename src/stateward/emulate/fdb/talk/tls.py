"""TLS as FoundationDB's programs are told of it: three files, and rules about who is believed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

#: How a rule names a part of a name, and how Python does.
_PARTS: Final = {
    "C": "countryName",
    "CN": "commonName",
    "L": "localityName",
    "ST": "stateOrProvinceName",
    "O": "organizationName",
    "OU": "organizationalUnitName",
    "DC": "domainComponent",
}
_WHOSE: Final = {"S": "subject", "I": "issuer"}


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
    def is_there(self) -> bool:
        """Whether one can speak with TLS at all."""
        return bool(self.certificate_file and self.key_file)


def client_context(security: Security) -> ssl.SSLContext:
    """Return how to connect."""
    return _context(security, ssl.PROTOCOL_TLS_CLIENT)


def server_context(security: Security) -> ssl.SSLContext:
    """Return how to listen: who connects must show a certificate too."""
    return _context(security, ssl.PROTOCOL_TLS_SERVER)


def _context(security: Security, side: ssl._SSLMethod) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.check_hostname = False  # certificates are of the cluster, not of an address
    if security.is_there:
        context.load_cert_chain(
            security.certificate_file, security.key_file, lambda: security.password
        )
    if "Check.Valid=0" in security.verify_peers:
        context.verify_mode = ssl.CERT_NONE
        return context
    context.verify_mode = ssl.CERT_REQUIRED
    if security.ca_file:
        context.load_verify_locations(security.ca_file)
    else:
        context.load_default_certs()
    return context


def check_peer(security: Security, writer: asyncio.StreamWriter) -> None:
    """Raise Untrusted unless a rule fits who is on the other side."""
    certificate = writer.get_extra_info("peercert") or {}
    if not is_believed(security.verify_peers, certificate):
        raise Untrusted("no rule fits the certificate")


def is_believed(rules: str, certificate: Mapping[str, Any]) -> bool:
    """Tell whether any of some rules (``A=B,C=D|E=F``) fits a certificate; no rule: all are.

    >>> shown = {"subject": ((("commonName", "db-1"),),), "issuer": ((("commonName", "ours"),),)}
    >>> [is_believed(it, shown) for it in ("", "S.CN=db-2|S.CN=db-1", "S.CN>=db-,I.CN=x")]
    [True, True, False]
    """
    return not rules or any(
        all(_fits(clause, certificate) for clause in rule.split(",")) for rule in rules.split("|")
    )


def _fits(clause: str, certificate: Mapping[str, Any]) -> bool:
    name, _, value = clause.strip().partition("=")
    if name.startswith("Check."):
        return True  # the handshake saw to it, or was told not to
    sign = name[-1:] if name[-1:] in "<>" else ""
    whose, _, part = name.removesuffix(sign).partition(".")
    names = certificate.get(_WHOSE.get(whose, ""), ())
    shown = [text for pairs in names for key, text in pairs if key == _PARTS.get(part)]
    return any(_matches(text, sign, value) for text in shown)


def _matches(text: str, sign: str, value: str) -> bool:
    if sign == ">":
        return text.startswith(value)
    return text.endswith(value) if sign == "<" else text == value
