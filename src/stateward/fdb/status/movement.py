"""Is data on its way, and how much?"""

from __future__ import annotations

from msgspec import UNSET

from stateward.core.facts import Fact, Known
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status


def moving_bytes(status: Status) -> Fact[int]:
    """Return how many bytes are on their way or wait for it."""
    data = cluster(status).data
    if data is UNSET or data.moving_data is UNSET:
        return missing(status, "cluster.data.moving_data")
    flying, queued = data.moving_data.in_flight_bytes, data.moving_data.in_queue_bytes
    if flying is UNSET or queued is UNSET:
        return missing(status, "cluster.data.moving_data")
    return known(status, flying + queued)


def is_moving(status: Status) -> Fact[bool]:
    """Tell whether any data is on its way."""
    found = moving_bytes(status)
    return known(status, found.value > 0) if isinstance(found, Known) else found


def highest_priority(status: Status) -> Fact[int]:
    """Return how urgent it is to move data; 0: nothing has to."""
    data = cluster(status).data
    if data is UNSET or data.moving_data is UNSET or data.moving_data.highest_priority is UNSET:
        return missing(status, "cluster.data.moving_data.highest_priority")
    return known(status, data.moving_data.highest_priority)
