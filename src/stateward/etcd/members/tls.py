"""TLS to a member: whom we believe, and who we are, from PEM texts in memory."""

from __future__ import annotations

import ssl
from typing import Literal

from stateward.core.errors import SpecInvalid
from stateward.core.unwritten import as_file
from stateward.etcd.members.port import Trust


def context(trust: Trust, protocol: Literal["http/1.1", "h2"]) -> ssl.SSLContext:
    """Return a context that believes the given authority alone.

    Raise SpecInvalid when what the secrets hold cannot be used.
    """
    made = _believing(trust.authority)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    # Private authorities often lack an extension that the strict check of newer Pythons asks for,
    # and what is named is to be believed, also when it is not the root of its chain.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.set_alpn_protocols([protocol])
    if trust.certificate or trust.key:
        _show(made, trust)
    return made


def _believing(authority: bytes) -> ssl.SSLContext:
    # Comments in a bundle may be in any language; the certificates themselves are ASCII.
    text = authority.decode("ascii", errors="ignore")
    try:
        # Given nothing, Python would believe whom the machine believes: nobody meant that here.
        if text.strip():
            return ssl.create_default_context(cadata=text)
    except (ssl.SSLError, ValueError):
        pass
    raise SpecInvalid(
        "security.tls",
        "the authority of etcd's server certificate must be PEM certificates",
        hint="put it as ca.crt into the secret that is named there",
    )


def _show(made: ssl.SSLContext, trust: Trust) -> None:
    """Load who we are."""
    with as_file(trust.certificate + b"\n" + trust.key) as path:
        try:
            made.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError):
            raise SpecInvalid(
                "security.tls",
                "the client certificate must be PEM with its own key, not encrypted",
                hint="put both as tls.crt and tls.key into the secret that is named there",
            ) from None


def _no_password() -> str:
    # Without this, OpenSSL would ask on the terminal and wait.
    return ""
