"""Which certificates a member is given: secrets as folders, and the flags that name their files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.etcd.api.settings import Settings
from stateward.kube.codec import Json

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
AUTHORITY: Final = "ca.crt"
_HOME: Final = "/etc/etcd/pki"


@dataclass(frozen=True, slots=True)
class Material:
    """A secret of which a member sees some files in a folder."""

    volume: str
    secret: str
    folder: str
    #: Each key of the secret is a file of that name. A secret of an authority may hold its key
    #: too, which no member needs.
    files: tuple[str, ...]

    def as_volume(self) -> Json:
        """Return the volume of a pod."""
        items = [{"key": name, "path": name} for name in self.files]
        return {"name": self.volume, "secret": {"secretName": self.secret, "items": items}}

    def as_mount(self) -> Json:
        """Return where a container finds it."""
        return {"name": self.volume, "mountPath": self.folder, "readOnly": True}


def materials(settings: Settings) -> tuple[Material, ...]:
    """Return the secrets that members of a cluster read."""
    return tuple(_materials(settings))


def peer_flags(settings: Settings) -> dict[str, str]:
    """Return the flags by which members know each other."""
    if not settings.peers_have_secrets:
        return {"peer-auto-tls": ""}
    return {
        "peer-trusted-ca-file": f"{_HOME}/peer/ca/{AUTHORITY}",
        "peer-cert-file": f"{_HOME}/peer/cert/{CERTIFICATE}",
        "peer-key-file": f"{_HOME}/peer/cert/{KEY}",
        "peer-client-cert-auth": "",
    }


def client_flags(settings: Settings) -> dict[str, str]:
    """Return the flags by which members and clients know each other; none: plain text."""
    if not settings.clients_use_tls:
        return {}
    server = {
        "cert-file": f"{_HOME}/server/cert/{CERTIFICATE}",
        "key-file": f"{_HOME}/server/cert/{KEY}",
    }
    if not settings.clients_show_certificates:
        return server
    authority = f"{_HOME}/client/ca/{AUTHORITY}"
    return server | {"trusted-ca-file": authority, "client-cert-auth": ""}


def _materials(settings: Settings) -> Iterator[Material]:
    tls = settings.tls
    pair, bundle = (CERTIFICATE, KEY), (AUTHORITY,)
    if settings.peers_have_secrets:
        secret = tls.peer_trusted_ca_secret
        yield Material("peer-trusted-ca-certificate", secret, f"{_HOME}/peer/ca", bundle)
        yield Material("peer-certificate", tls.peer_secret, f"{_HOME}/peer/cert", pair)
    if settings.clients_use_tls:
        yield Material("server-certificate", tls.server_secret, f"{_HOME}/server/cert", pair)
    if settings.clients_use_tls and settings.clients_show_certificates:
        secret = tls.client_trusted_ca_secret
        yield Material("client-trusted-ca-certificate", secret, f"{_HOME}/client/ca", bundle)
