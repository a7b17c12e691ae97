"""Secrets for members that speak TLS: one certificate for everything, which protects nothing."""

from __future__ import annotations

import base64
from textwrap import fill
from typing import Final

from stateward.kube.codec import Json

#: A certificate for 100 years that signed itself, and its key. They protect nothing.
_CERTIFICATE: Final = (
    "MIIBczCCARmgAwIBAgIUVSuAfGje7a5Q0YZ46k7V4sQq0wIwCgYIKoZIzj0EAwIwDjEMMAoGA1UEAwwDc2ltMCAXDTI2"
    "MTExNTIxNDY0N1oYDzIxMjYxMDIyMjE0NjQ3WjAOMQwwCgYDVQQDDANzaW0wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC"
    "AAQ0CUb9BJnhQLine3aPqWeDdZr/vnHXHyDMoZxUPDvxmCRrOTKLP8QW1GUPyJa//kW0evmR/+tMnh6/6qLDcKOIo1Mw"
    "UTAdBgNVHQ4EFgQUyNWQwt+CUS33wudkEwCU20voEbQwHwYDVR0jBBgwFoAUyNWQwt+CUS33wudkEwCU20voEbQwDwYD"
    "VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBGsZj1VJ533MBYqq3gXaJv8IV93DkDhC+UIYljygP48QIhAJD0"
    "v/0sB1OUVPQ/P3RMUP2cnufP2b7e3NT05CYrJ275"
)
_KEY: Final = (
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrcNhbS0aMr73g3Z8cLU7NtkWfD/PpV1scQ47oYFFkdqh"
    "RANCAAQ0CUb9BJnhQLine3aPqWeDdZr/vnHXHyDMoZxUPDvxmCRrOTKLP8QW1GUPyJa//kW0evmR/+tMnh6/6qLDcKOI"
)

#: The fields of `spec.security.tls`, and the secret that each names.
TLS: Final = {
    "peerSecret": "peer",
    "peerTrustedCASecret": "peer-ca",
    "serverSecret": "server",
    "serverTrustedCASecret": "server-ca",
    "clientSecret": "root",
    "clientTrustedCASecret": "client-ca",
}
#: Beside each of them lies another one of this ending, as good as it.
OTHER: Final = "-too"
#: Where all clusters are.
_NAMESPACE: Final = "ns"


def secrets() -> list[Json]:
    """Return every secret that a case may name and find."""
    names = [f"{name}{ending}" for name in TLS.values() for ending in ("", OTHER)]
    return [_secret(name) for name in names]


def _secret(name: str) -> Json:
    files = {"ca.crt": _pem("CERTIFICATE", _CERTIFICATE)}
    if not name.removesuffix(OTHER).endswith("-ca"):
        files["tls.crt"] = files["ca.crt"]
        files["tls.key"] = _pem("PRIVATE KEY", _KEY)
    return {"metadata": {"namespace": _NAMESPACE, "name": name}, "data": files}


def _pem(label: str, der: str) -> str:
    text = f"-----BEGIN {label}-----\n{fill(der, 64)}\n-----END {label}-----\n"
    return base64.b64encode(text.encode()).decode()
