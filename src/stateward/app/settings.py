"""What the operator process is told: read from words, and refused before anything is started."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward import __version__
from stateward.core.errors import UsageError
from stateward.core.naming import dns_label_problem, dns_subdomain_problem
from stateward.kube.meta import ObjectKey
from stateward.kube.selector import LabelSelector

#: What is said instead of an address to serve nothing, as other operators have it.
NOWHERE: Final = "0"
#: What is said instead of a folder when members find each other by the names of the cluster.
DNS: Final = "dns"
#: Where an image has FoundationDB's programs unless told otherwise.
FDB_BINARIES: Final = "/usr/bin/fdb"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server of ours listens; an empty host is every address of the machine."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it, sound."""

    #: Which operators run, by name.
    products: tuple[str, ...]
    #: Where clusters are looked after; none named means everywhere.
    namespaces: tuple[str, ...] = ()
    #: Which clusters are looked after there, by their labels; empty: all of them.
    selector: str = ""
    metrics: Address | None = None
    probes: Address | None = None
    #: Where the leases are, and how their names begin; no namespace: there is no election.
    lease_namespace: str = ""
    lease_name: str = "stateward"
    #: Where snapshots go that are taken before a quorum is recovered.
    rescue: Path | None = None
    #: The folder of the local cluster whose pods have loopback addresses; else cluster DNS is used.
    local_cluster: Path | None = None
    #: Where FoundationDB's programs are, unless on a local cluster, which has its own.
    fdb_binaries: tuple[Path, ...] = (Path(FDB_BINARIES),)

    #: Our own image and account, with which jobs run that look after clusters; empty: not known.
    image: str = ""
    service_account: str = ""
    #: Seconds for which operators of one database must have said nothing new before they act.
    synchronization_window: float = 30.0

    def lease(self, product: str) -> ObjectKey | None:
        """Return the lease of one operator, or None when this instance is to be alone."""
        if not self.lease_namespace:
            return None
        return ObjectKey(self.lease_namespace, f"{self.lease_name}-{product}")


def address(option: str, text: str) -> Address | None:
    """Read ``HOST:PORT``, ``:PORT`` or ``[IPv6]:PORT``; "0" is nowhere.

    >>> address("--metrics-address", ":8080")
    Address(host='', port=8080)
    >>> address("--metrics-address", "0")
    """
    if text == NOWHERE:
        return None
    host, colon, port = text.rpartition(":")
    host, bare = (
        (host[1:-1], True) if host.startswith("[") and host.endswith("]") else (host, False)
    )
    sound = colon and port.isascii() and port.isdecimal() and (bare or ":" not in host)
    if not sound or int(port) > 65535 or any(it.isspace() or it in "/[]" for it in host):
        raise UsageError(
            f"{option} must be HOST:PORT, :PORT or 0, got {text!r}",
            hint="for example 127.0.0.1:8080; 0 serves nothing",
        )
    return Address(host, int(port))


def namespaces(option: str, words: Iterable[str]) -> tuple[str, ...]:
    """Read namespaces, said one by one or with commas; each once.

    >>> namespaces("--namespace", ["shop,bank", "shop"])
    ('shop', 'bank')
    """
    found = [name.strip() for word in words for name in word.split(",")]
    for name in found:
        if (problem := dns_label_problem(name)) is not None:
            raise UsageError(f"{option} {problem}", hint="name namespaces, or none for all of them")
    return tuple(dict.fromkeys(found))


def selector(option: str, text: str) -> str:
    """Read which clusters are ours, in kubectl's notation.

    >>> selector("--selector", "fleet in (blue, green)")
    'fleet in (blue,green)'
    """
    try:
        return str(LabelSelector.parse(text))
    except ValueError as error:
        raise UsageError(f"{option} must be a label selector: {error}") from None


def lease_namespace(option: str, name: str) -> str:
    """Read the namespace of the leases."""
    if (problem := dns_label_problem(name)) is not None:
        raise UsageError(f"{option} {problem}", hint="name a namespace")
    return name


def lease_name(option: str, name: str) -> str:
    """Read how the names of leases begin; what each operator adds must fit too."""
    if (problem := dns_subdomain_problem(f"{name}-foundationdb")) is not None:
        raise UsageError(f"{option} {problem}", hint="name what a Kubernetes object can be called")
    return name


def image(option: str, name: str, *, local: bool = False) -> str:
    """Read our own image; empty: nobody knows it. On a local cluster our own name is enough.

    >>> image("--image", ""), image("--image", "example.org/stateward:1")
    ('', 'example.org/stateward:1')
    """
    if local and not name:
        return f"stateward:{__version__}"
    if any(it.isspace() for it in name) or name.startswith(("/", ":", "@")):
        raise UsageError(
            f"{option} must be the name of an image, got {name!r}",
            hint="for example registry.example.org/stateward:0.1.0",
        )
    return name


def service_account(option: str, name: str) -> str:
    """Read as whom we run; empty: nobody knows it."""
    if name and (problem := dns_subdomain_problem(name)) is not None:
        raise UsageError(f"{option} {problem}", hint="name the service account of our pod")
    return name


def rescue_folder(option: str, path: Path | None) -> Path | None:
    """Read the folder for snapshots: it must be there and writable before the day it is needed."""
    if path is not None and not (path.is_dir() and os.access(path, os.W_OK | os.X_OK)):
        raise UsageError(
            f"{option} must be a folder that can be written to, got {path}",
            hint="mount a volume there, or make the folder",
        )
    return path


def local_cluster(option: str, text: str) -> Path | None:
    """Read where members find each other: by cluster DNS, or on a local cluster by its folder."""
    if text == DNS:
        return None
    folder = Path(text)
    if not folder.is_dir():
        raise UsageError(
            f"{option} must be {DNS} or the folder of a local cluster, got {text!r}",
            hint="the folder is the one with the cluster's kubeconfig",
        )
    return folder


def folders(option: str, text: str) -> tuple[Path, ...]:
    """Read folders as PATH has them; they may be filled later, so they need not be there yet.

    >>> folders("--fdb-binaries", "/usr/bin/fdb:/opt/fdb")
    (PosixPath('/usr/bin/fdb'), PosixPath('/opt/fdb'))
    """
    found = tuple(Path(word) for word in text.split(os.pathsep) if word)
    if not found or not all(it.is_absolute() for it in found):
        raise UsageError(
            f"{option} must be folders that begin with /, with {os.pathsep} between, got {text!r}",
            hint=f"for example {FDB_BINARIES}",
        )
    return found
