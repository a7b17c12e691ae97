"""Is it there, is everything copied, how much may go, how much work waits?

``healthy`` of the document answers none of these: it is true while nobody has looked at the data
yet, and false as soon as any client anywhere has an issue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.status.document import LogSet
from stateward.fdb.status.facts import client, cluster, known, missing
from stateward.fdb.status.reading import Status
from stateward.fdb.status.regions import Beside, logs_beside

#: Nobody has looked at the data since the last recovery.
_NOT_LOOKED: Final = "initializing"


def is_available(status: Status) -> Fact[bool]:
    """Tell whether transactions are served."""
    mine, theirs = client(status).database_status, cluster(status).database_available
    if mine is UNSET or mine.available is UNSET:
        return missing(status, "client.database_status.available")
    if mine.available and theirs is UNSET:
        return missing(status, "cluster.database_available")
    return known(status, mine.available and theirs is True)


def is_configured(status: Status) -> Fact[bool]:
    """Tell whether the database was ever created."""
    state = cluster(status).recovery_state
    if state is UNSET or state.name is UNSET:
        return missing(status, "cluster.recovery_state.name")
    return known(status, state.name != "configuration_never_created")


def is_locked(status: Status) -> Fact[bool]:
    """Tell whether only those who know of the lock may write."""
    state = cluster(status).database_lock_state
    if state is UNSET or state.locked is UNSET:
        return missing(status, "cluster.database_lock_state.locked")
    return known(status, state.locked)


def is_fully_replicated(status: Status) -> Fact[bool]:
    """Tell whether all data has all its copies where they belong."""
    seen, data = cluster(status), cluster(status).data
    if data is UNSET or data.state is UNSET:
        return missing(status, "cluster.data.state")
    if data.state.healthy is False or seen.full_replication is False:
        return known(status, value=False)
    if data.state.name == _NOT_LOOKED:
        return Unknown("nobody has looked at the data since the last recovery (initializing)")
    if data.state.healthy is UNSET:
        return missing(status, "cluster.data.state.healthy")
    if seen.full_replication is UNSET:
        return missing(status, "cluster.full_replication")
    return known(status, value=True)


def fewest_replicas(status: Status) -> Fact[int]:
    """Return how many copies the data has that has fewest; a planned exclusion keeps it whole."""
    data = cluster(status).data
    if data is UNSET or data.state is UNSET or data.team_trackers is UNSET:
        return missing(status, "cluster.data.state", "cluster.data.team_trackers")
    if wrong := status.flaw("cluster.data.state", "cluster.data.team_trackers"):
        return Unknown(f"the status cannot be read: {wrong}")
    states = [data.state, *(it.state for it in data.team_trackers if it.state is not UNSET)]
    counts = [it.min_replicas_remaining for it in states]
    if len(states) <= len(data.team_trackers) or not data.team_trackers:
        return missing(status, "cluster.data.team_trackers")
    found = [it for it in counts if it is not UNSET]
    if len(found) < len(counts):
        return missing(status, "cluster.data.state.min_replicas_remaining")
    return known(status, min(found))


# -------------------------------------------------------------------------- how much may go


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many fault domains may go before data, or availability, is lost; can be below 0."""

    data: int
    availability: int

    @property
    def spare(self) -> int:
        """How many may go with nothing lost."""
        return min(self.data, self.availability)


def tolerance(status: Status) -> Fact[Tolerance]:
    """Return how many fault domains may go."""
    found = cluster(status).fault_tolerance
    if found is UNSET:
        return missing(status, "cluster.fault_tolerance")
    data = found.max_zone_failures_without_losing_data
    availability = found.max_zone_failures_without_losing_availability
    if data is UNSET or availability is UNSET:
        return missing(status, "cluster.fault_tolerance")
    return known(status, Tolerance(data, availability))


def log_shortage(status: Status) -> Fact[int]:
    """Return how many copies of what was just written lack, in the set of logs that lacks most.

    Unknown where a set does not speak of logs that it has by the configuration: those of another
    region, or of satellites.
    """
    sets, beside = cluster(status).logs, logs_beside(status)
    if sets is UNSET:
        return missing(status, "cluster.logs")
    if wrong := status.flaw("cluster.logs"):
        return Unknown(f"the status cannot be read: {wrong}")
    if not isinstance(beside, Known):
        return beside
    found = [_lack(it, beside.value) for it in sets]
    lacks = [it for it in found if it is not None]
    if not lacks or len(lacks) < len(found):
        return missing(status, "cluster.logs.log_fault_tolerance")
    return known(status, max(lacks))


def _lack(logs: LogSet, beside: Beside) -> int | None:
    """Return how many copies a set of logs lacks; None: it does not say of all its kinds."""
    has_satellites = beside.satellites if logs.current is True else beside.any_satellites
    kinds = (
        (logs.log_replication_factor, logs.log_fault_tolerance, True),
        (logs.remote_log_replication_factor, logs.remote_log_fault_tolerance, beside.remote),
        (
            logs.satellite_log_replication_factor,
            logs.satellite_log_fault_tolerance,
            has_satellites,
        ),
    )
    lacks = []
    for factor, left, is_needed in kinds:
        if factor is not UNSET and left is not UNSET:
            lacks.append(factor - 1 - left)
        elif is_needed or factor is not left:
            return None
    return max(lacks)


# -------------------------------------------------------------------------- how much work waits


@dataclass(frozen=True, slots=True)
class Load:
    """The worst of all processes: seconds behind, and bytes that wait."""

    data_lag: float
    durability_lag: float
    log_queue: float
    storage_queue: float


def load(status: Status) -> Fact[Load]:
    """Return how much work waits."""
    qos = cluster(status).qos
    if qos is UNSET:
        return missing(status, "cluster.qos")
    data, durability = qos.worst_data_lag_storage_server, qos.worst_durability_lag_storage_server
    if data is UNSET or durability is UNSET:
        return missing(status, "cluster.qos")
    found = (
        data.seconds,
        durability.seconds,
        qos.worst_queue_bytes_log_server,
        qos.worst_queue_bytes_storage_server,
    )
    numbers = [it for it in found if it is not UNSET]
    if len(numbers) < len(found):
        return missing(status, "cluster.qos")
    return known(status, Load(*numbers))
