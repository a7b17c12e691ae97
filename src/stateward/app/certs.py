"""Certificates for an etcd cluster, as secrets that its spec names: enough for a quick start.

One authority signs for all: members among themselves, members to clients, and root, as whom the
operator logs in. Kept in a folder, it signs again what runs out; otherwise its key is forgotten,
and the next ones come from another authority, whom members that run do not believe.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography.x509.oid import NameOID

from stateward.core.errors import UsageError
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.local.issuing import Authority, Papers, Term, kept_authority, new_authority
from stateward.local.server.identity import write_secret

#: The authority outlives what it signs.
_LIFE: Final = timedelta(days=3650)
#: Who must not be able to read a key: everybody but its owner.
_OTHERS: Final = 0o077
#: What a certificate can be called, at most.
_LONGEST_NAME: Final = 64
#: By the field of security.tls: what follows the cluster's name in the name of the secret.
SECRETS: Final = {
    "peerSecret": "peer",
    "peerTrustedCASecret": "ca",
    "serverSecret": "server",
    "serverTrustedCASecret": "ca",
    "clientSecret": "root",
    "clientTrustedCASecret": "ca",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """For whom, for how long, and by which names beside the usual ones."""

    cluster: ObjectKey
    days: int
    hosts: Sequence[str] = ()
    #: Where the authority is kept, if it is.
    folder: Path | None = None


def secrets(wish: Wish, now: float) -> list[Json]:
    """Return the secrets of a cluster."""
    since = datetime.fromtimestamp(now, UTC)
    authority = _authority(wish, since)
    term = Term(since, timedelta(days=wish.days))
    name = wish.cluster.name
    among, to_clients = _peer_names(wish.cluster), _server_names(wish.cluster)
    made = {
        "peer": authority.issue(name, [*among, *wish.hosts], term),
        "server": authority.issue(name, [*among, *to_clients, *wish.hosts], term),
        "root": authority.issue("root", (), term),
    }
    believed = authority.papers.certificate
    return [
        _secret(wish.cluster, "ca", "Opaque", {"ca.crt": believed}),
        *(_pair(wish.cluster, part, papers, believed) for part, papers in made.items()),
    ]


def settings(cluster: str) -> dict[str, str]:
    """Return what security.tls must say, so that a cluster finds its secrets."""
    return {field: f"{cluster}-{part}" for field, part in SECRETS.items()}


def _peer_names(cluster: ObjectKey) -> list[str]:
    """Members know each other by the names that the headless service gives them."""
    service = f"{cluster.name}-headless.{cluster.namespace}.svc"
    return [service, f"*.{service}", f"*.{service}.cluster.local"]


def _server_names(cluster: ObjectKey) -> list[str]:
    within = f"{cluster.name}.{cluster.namespace}"
    names = [cluster.name, within, f"{within}.svc", f"{within}.svc.cluster.local"]
    return [*names, "localhost", "127.0.0.1", "::1"]


def _pair(cluster: ObjectKey, part: str, papers: Papers, authority: bytes) -> Json:
    data = {"tls.crt": papers.certificate, "tls.key": papers.key, "ca.crt": authority}
    return _secret(cluster, part, "kubernetes.io/tls", data)


def _secret(cluster: ObjectKey, part: str, kind: str, data: dict[str, bytes]) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{cluster.name}-{part}", "namespace": cluster.namespace},
        "type": kind,
        "data": {name: b64encode(it).decode() for name, it in data.items()},
    }


# -------------------------------------------------------------------------- the authority


def _authority(wish: Wish, since: datetime) -> Authority:
    if wish.folder is None:
        return _new(wish, since)
    paths = wish.folder / "ca.crt", wish.folder / "ca.key"
    try:
        if not any(it.exists() for it in paths):
            made = _new(wish, since)
            write_secret(paths[0], made.papers.certificate)
            write_secret(paths[1], made.papers.key)
            return made
        kept = kept_authority(Papers(*(it.read_bytes() for it in paths)))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{wish.folder} must hold an authority, ca.crt and ca.key, or neither: {error}",
            hint="name another folder, or none",
        ) from None
    _check_whose(wish, kept)
    if paths[1].stat().st_mode & _OTHERS:
        raise UsageError(f"{paths[1]} must be readable by you alone", hint=f"chmod 600 {paths[1]}")
    if kept.certificate.not_valid_after_utc < since + timedelta(days=wish.days):
        raise UsageError(
            f"the authority in {wish.folder} ends before {wish.days} days are over",
            hint="ask for fewer --days, or let members believe a new one too: name another folder",
        )
    return kept


def _check_whose(wish: Wish, kept: Authority) -> None:
    """Refuse an authority that was made for another cluster: root of one would be root of both."""
    names = [
        str(it.value) for it in kept.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    ]
    if names and "/" in names[0] and names[0] != _name(wish):
        raise UsageError(
            f"the authority in {wish.folder} must be that of {_name(wish)}, and is of {names[0]}:"
            " who is root by it would be root in both",
            hint="name another folder for each cluster",
        )


def _new(wish: Wish, since: datetime) -> Authority:
    return new_authority(_name(wish), Term(since, _LIFE))


def _name(wish: Wish) -> str:
    return f"{wish.cluster.namespace}/{wish.cluster.name}"[:_LONGEST_NAME]
