"""Secrets for members that speak TLS: one certificate for everything, which protects nothing."""

from __future__ import annotations

from typing import Final

from stateward.kube.codec import Json
from stateward.sim.kube.papers import CERTIFICATE, KEY, encoded

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
    files = {"ca.crt": encoded(CERTIFICATE)}
    if not name.removesuffix(OTHER).endswith("-ca"):
        files["tls.crt"] = files["ca.crt"]
        files["tls.key"] = encoded(KEY)
    return {"metadata": {"namespace": _NAMESPACE, "name": name}, "data": files}
