"""How questions to a status answer: Known, or Unknown with what is missing."""

from __future__ import annotations

from typing import Final, TypeVar

from msgspec import UNSET, UnsetType

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.status.document import Client, Cluster
from stateward.fdb.status.reading import Status

T = TypeVar("T")
SOURCE: Final = "status json"


def known(status: Status, value: T) -> Known[T]:
    """Return what a status says."""
    return Known(value, status.at, SOURCE)


def missing(status: Status, *paths: str) -> Unknown:
    """Return that a status does not say it: what it lacks, or what is there and cannot be read."""
    if found := status.flaw(*paths):
        return Unknown(f"the status cannot be read: {found}")
    return Unknown(f"the status has no {paths[0]}" + _because(status))


def told(status: Status, value: T | UnsetType, path: str) -> Fact[T]:
    """Return a value at a path, if it is there."""
    return missing(status, path) if value is UNSET else known(status, value)


def client(status: Status) -> Client:
    """Return the client's half, empty where there is none."""
    found = status.document.client
    return Client() if found is UNSET else found


def cluster(status: Status) -> Cluster:
    """Return the cluster controller's half, empty where there is none."""
    found = status.document.cluster
    return Cluster() if found is UNSET else found


def _because(status: Status) -> str:
    """Return why, if the document itself says so."""
    messages = client(status).messages
    if messages is UNSET:
        return ""
    names = [it.name for it in messages if it.name is not UNSET]
    return f" ({', '.join(names)})" if names else ""
