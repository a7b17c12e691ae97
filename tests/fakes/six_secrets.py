"""The six secrets that a cluster of etcd may name, as tests call them."""

from __future__ import annotations

from typing import Final

#: What `spec.security.tls` says.
TLS: Final = {
    "peerSecret": "peer",
    "peerTrustedCASecret": "peer-ca",
    "serverSecret": "server",
    "serverTrustedCASecret": "server-ca",
    "clientSecret": "root",
    "clientTrustedCASecret": "client-ca",
}
