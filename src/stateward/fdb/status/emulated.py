"""Does a stand-in answer, in place of a FoundationDB? It says so itself, and no real one does."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact
from stateward.fdb.status.facts import client, known, missing
from stateward.fdb.status.reading import Status

#: What a stand-in calls the message by which it tells of itself.
_NAME: Final = "emulated"


def is_emulated(status: Status) -> Fact[bool]:
    """Tell whether whoever was asked is a stand-in."""
    said = client(status).messages
    if said is UNSET:
        return missing(status, "client.messages")
    return known(status, any(it.name == _NAME for it in said))
