"""What does the cluster controller complain of?"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status

_PATH: Final = "cluster.messages"


def complaints(status: Status) -> Fact[frozenset[str]]:
    """Return all that it complains of, by name."""
    seen = cluster(status).messages
    if seen is UNSET:
        return missing(status, _PATH)
    if wrong := status.flaw(_PATH):
        return Unknown(f"the status cannot be read: {wrong}")
    names = [it.name for it in seen]
    found = frozenset(it for it in names if it is not UNSET)
    if UNSET in names:
        return missing(status, f"{_PATH}.name")
    return known(status, found)
