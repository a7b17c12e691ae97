"""What does the cluster controller complain of, and does whoever answers say that it is none?"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.fdb.status.facts import client, cluster, known, missing
from stateward.fdb.status.reading import Status

_PATH: Final = "cluster.messages"
#: What a stand-in calls the message by which it tells of itself; no real one ever says it.
_EMULATED: Final = "emulated"


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


def is_emulated(status: Status) -> Fact[bool]:
    """Tell whether a stand-in was asked, in place of a FoundationDB."""
    said = client(status).messages
    if said is UNSET:
        return missing(status, "client.messages")
    return known(status, any(it.name == _EMULATED for it in said))
