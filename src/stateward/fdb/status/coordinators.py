"""Who coordinates, and who of them answers?"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status.facts import client, cluster, known, missing
from stateward.fdb.status.reading import Status

_PATH = "client.coordinators.coordinators"


@dataclass(frozen=True, slots=True)
class Coordinator:
    """A coordinator, and whether it answered the one who asked."""

    address: Address
    reachable: bool


def coordinators(status: Status) -> Fact[tuple[Coordinator, ...]]:
    """Return all coordinators, as the one who asked sees them."""
    seen = client(status).coordinators
    if seen is UNSET or seen.coordinators is UNSET:
        return missing(status, _PATH)
    if wrong := status.flaw(_PATH):
        return Unknown(f"the status cannot be read: {wrong}")
    found = []
    for it in seen.coordinators:
        if it.address is UNSET or it.reachable is UNSET:
            return missing(status, _PATH)
        try:
            found.append(Coordinator(Address.parse(it.address).canonical, it.reachable))
        except ValueError as error:
            return Unknown(f"the status names a coordinator that is none: {error}")
    return known(status, tuple(found))


def quorum_is_reachable(status: Status) -> Fact[bool]:
    """Tell whether a majority of the coordinators answered."""
    seen = client(status).coordinators
    if seen is UNSET or seen.quorum_reachable is UNSET:
        return missing(status, "client.coordinators.quorum_reachable")
    return known(status, seen.quorum_reachable)


def connection_string(status: Status) -> Fact[ConnectionString]:
    """Return how to find the database, by the word of the cluster controller."""
    text = cluster(status).connection_string
    if text is UNSET:
        return missing(status, "cluster.connection_string")
    try:
        return known(status, ConnectionString.parse(text))
    except ValueError as error:
        return Unknown(f"the status has a connection string that is none: {error}")
