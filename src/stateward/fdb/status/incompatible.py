"""Who knocks and speaks another protocol, so that it cannot join?"""

from __future__ import annotations

from msgspec import UNSET

from stateward.core.facts import Fact
from stateward.fdb.model.addresses import Address
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status

_PATH = "cluster.incompatible_connections"


def hosts(status: Status) -> Fact[frozenset[str]]:
    """Return where they are; what is no address is nobody of ours."""
    told = cluster(status).incompatible_connections
    if told is UNSET or status.flaw(_PATH):
        return missing(status, _PATH)
    found = set()
    for text in told:
        try:
            found.add(Address.parse(text).host)
        except ValueError:
            continue
    return known(status, frozenset(found))
