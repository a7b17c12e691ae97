"""What the cluster controller says: always a little, and the rest while transactions are served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stateward.emulate.fdb import data, regional
from stateward.emulate.fdb.asking import clients
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import (
    configuration,
    layers,
    messages,
    numbers,
    processes,
    replication,
)
from stateward.fdb.model import versions

_DESCRIPTIONS: Final = {
    "configuration_never_created": (
        "The coordinator(s) have no record of this database. Either the coordinator addresses are"
        " incorrect, the coordination state on those machines is missing, or no database has been"
        " created."
    ),
    "reading_coordinated_state": "Requesting information from coordination servers.",
    "locking_coordinated_state": (
        "Locking coordination state. Verify that a majority of coordination server processes are"
        " active."
    ),
    "recruiting_transaction_servers": "Recruiting new transaction servers.",
    "accepting_commits": "Accepting commits.",
    "all_logs_recruited": "Accepting commits. All logs recruited.",
    "fully_recovered": "Recovery complete.",
}


def section(database: Database) -> dict[str, Any]:
    """Return the cluster controller's half of the document."""
    found = _always(database) | _generation(database)
    if database.settings is not None and database.recovery.serves:
        for part in _PARTS:
            found |= part(database)
    return {name: it for name, it in sorted(found.items()) if name not in database.clog.missing}


def _always(database: Database) -> dict[str, Any]:
    """What is said whether transactions are served or not."""
    serves, protocol = database.recovery.serves, versions.protocol_of(database.line)
    major, minor = database.line
    return {
        "active_tss_count": 0,
        "bounce_impact": _bounce(database),
        "clients": clients.section(database.clients.counted(database.now)),
        "cluster_controller_timestamp": int(database.now),
        "connection_string": str(database.string),
        "datacenter_lag": numbers.lagging(regional.lag(database)),
        "degraded_processes": sum(it.degraded for it in database.servers.values()),
        "idempotency_ids": {"size_bytes": 0} if serves else {},
        "incompatible_connections": sorted(
            {*database.met, *(str(it.address) for it in database.strangers.values())}
        ),
        "layers": layers.layers(database),
        "lowest_compatible_protocol_version": versions.protocol_of((major, minor - 1)),
        "machines": processes.machines(database),
        "messages": messages.of_cluster(database),
        "newest_protocol_version": protocol,
        "processes": processes.processes(database),
        "protocol_version": protocol,
        "recovery_state": _recovery(database),
        "version_epoch": {"enabled": False} if serves else {},
    }


def _bounce(database: Database) -> dict[str, Any]:
    if database.recovery.name == "fully_recovered":
        return {"can_clean_bounce": True}
    return {"can_clean_bounce": False, "reason": "cluster hasn't fully recovered yet"}


def _generation(database: Database) -> dict[str, Any]:
    """Return how many recoveries there were; one that is not over has counted half of itself."""
    recovery = database.recovery
    if database.settings is None:
        return {"generation": 1}
    if recovery.name in ("reading_coordinated_state", "locking_coordinated_state"):
        return {}
    return {"generation": recovery.generation - (0 if recovery.serves else 1)}


def _recovery(database: Database) -> dict[str, Any]:
    recovery = database.recovery
    found: dict[str, Any] = {
        "description": _DESCRIPTIONS[recovery.name],
        "name": recovery.name,
        "seconds_since_last_recovered": -1,
    }
    if recovery.served is not None:
        found["seconds_since_last_recovered"] = round(max(0.0, database.now - recovery.served), 3)
    if recovery.name != "recruiting_transaction_servers":
        found["active_generations"] = max(1, len(database.logs) - 1)
    return found


# -------------------------------------------------------------------------- of one that serves


def _rest(database: Database) -> dict[str, Any]:
    kept, available = data.tolerance(database)
    somewhere = next((it.localities.get("dcid", "") for it in database.servers.values()), "")
    found: dict[str, Any] = {
        "active_primary_dc": database.primary or somewhere,
        "database_available": True,
        "database_lock_state": {"locked": bool(database.store.locked_by)},
        "fault_tolerance": {
            "max_zone_failures_without_losing_availability": available,
            "max_zone_failures_without_losing_data": kept,
        },
        "full_replication": not data.lacks_copies(database),
        **numbers.of_database(max((it.lag for it in database.servers.values()), default=0.0)),
    }
    if database.store.locked_by:
        found["database_lock_state"]["lock_uid"] = database.store.locked_by
    if database.stays:
        found["data_distribution_disabled"] = True
    if (zone := database.maintained()) is not None:
        found["maintenance_zone"] = zone.zone
        found["maintenance_seconds_remaining"] = round(zone.seconds, 3)
    return found


_PARTS: Final[tuple[Callable[[Database], dict[str, Any]], ...]] = (
    configuration.section,
    replication.data_section,
    replication.logs_section,
    _rest,
)
