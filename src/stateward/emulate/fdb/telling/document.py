"""The whole document: what whoever asks finds out by itself, and what the controller says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import numbers, processes
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import ByLocality, Exclusion

_PROTOCOL, _LOWEST = "fdb00b073000000", "fdb00b072000000"
_SERVING: Final = {"all_logs_recruited", "fully_recovered"}
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
    "all_logs_recruited": "All logs recruited.",
    "fully_recovered": "Recovery complete.",
}
_NO_QUORUM: Final = {
    "description": "Unable to reach a quorum of coordinators.",
    "name": "quorum_not_reachable",
}


def status(database: Database, string: ConnectionString, path: str) -> dict[str, Any]:
    """Return what somebody with a cluster file sees now."""
    cluster = _cluster(database) if database.has_quorum else {"layers": {"_valid": False}}
    serves = database.has_quorum and database.recovery.serves
    serves = serves and database.recovery.name in _SERVING
    up_to_date = str(string) == str(database.string)
    return {
        "client": {
            "cluster_file": {"path": path, "up_to_date": up_to_date},
            "coordinators": _coordinators(database, string),
            "database_status": {
                "available": serves,
                "healthy": serves and up_to_date and _is_healthy(cluster),
            },
            "messages": [] if database.has_quorum else [dict(_NO_QUORUM)],
            "timestamp": int(database.now),
        },
        "cluster": cluster,
    }


def _is_healthy(cluster: dict[str, Any]) -> bool:
    """Tell it as the real one does: also while nobody has looked at the data."""
    state = cluster.get("data", {}).get("state")
    return not cluster.get("messages") and state is not None and state.get("healthy", True)


def _coordinators(database: Database, string: ConnectionString) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for it in string.coordinators:
        answers = database.reachable(it)
        found.append(
            {"address": str(it)}
            | ({"protocol": f"0{_PROTOCOL}"} if answers else {})
            | {"reachable": answers}
        )
    answering = sum(it["reachable"] for it in found)
    return {"coordinators": found, "quorum_reachable": answering >= string.quorum}


def _cluster(database: Database) -> dict[str, Any]:
    found = _always(database)
    if database.settings is not None and database.recovery.serves:
        for part in _PARTS:
            found |= part(database)
    return dict(sorted(found.items()))


def _always(database: Database) -> dict[str, Any]:
    """What is said whether transactions are served or not."""
    recovery = database.recovery
    return {
        "active_tss_count": 0,
        "bounce_impact": {"can_clean_bounce": recovery.name == "fully_recovered"},
        "clients": {"count": 0, "supported_versions": []},
        "cluster_controller_timestamp": int(database.now),
        "connection_string": str(database.string),
        "datacenter_lag": {"seconds": 0, "versions": 0},
        "degraded_processes": sum(it.degraded for it in database.servers.values()),
        "generation": recovery.generation,
        "idempotency_ids": {"size_bytes": 0},
        "incompatible_connections": [],
        "layers": {"_valid": True},
        "lowest_compatible_protocol_version": _LOWEST,
        "machines": processes.machines(database),
        "messages": _messages(database),
        "newest_protocol_version": _PROTOCOL,
        "processes": processes.processes(database),
        "protocol_version": _PROTOCOL,
        "recovery_state": _recovery(database),
        "version_epoch": {"enabled": False},
    }


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
        found["active_generations"] = max(1, len(database.logs))
    return found


def _messages(database: Database) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    reasons: list[dict[str, str]] = []
    if database.fallen:
        lost = [{"address": it.address.plain} for it, _ in database.fallen.values()]
        text = "The cluster has some unreachable processes."
        found.append(
            {"description": text, "name": "unreachable_processes", "unreachable_processes": lost}
        )
        reasons.append({"description": "Cannot retrieve all process status information."})
    if not database.recovery.serves:
        text = "Unable to read database configuration."
        found.append({"description": text, "name": "unreadable_configuration"})
        reasons.append({"description": "Unable to retrieve idempotency ID status."})
    if reasons:
        text = "Unable to retrieve all status information."
        found.append({"description": text, "name": "status_incomplete", "reasons": reasons})
    return found


# -------------------------------------------------------------------------- of one that serves


def _configuration(database: Database) -> dict[str, Any]:
    config = database.settings
    assert config is not None  # noqa: S101 - asked before
    wanted, value = config.wanted(), config.value
    excluded = sorted(database.excluded | database.failed, key=str)
    found: dict[str, Any] = {
        "backup_worker_enabled": 0,
        "blob_granules_enabled": int(value("blob_granules_enabled", 0)),
        "commit_proxies": wanted.commit_proxies,
        "coordinators_count": len(database.string.coordinators),
        "encryption_at_rest_mode": value("encryption_at_rest_mode", "disabled"),
        "excluded_servers": list(map(_excluded, excluded)),
        "grv_proxies": wanted.grv_proxies,
        "log_engine": value("log_engine", ""),
        "log_spill": int(value("log_spill", 2)),
        "logs": wanted.logs,
        "perpetual_storage_wiggle": value("perpetual_storage_wiggle", 0),
        "perpetual_storage_wiggle_engine": value("perpetual_storage_wiggle_engine", "none"),
        "perpetual_storage_wiggle_locality": value("perpetual_storage_wiggle_locality", "0"),
        "proxies": wanted.commit_proxies + wanted.grv_proxies,
        "redundancy_mode": config.redundancy,
        "resolvers": wanted.resolvers,
        "storage_engine": value("storage_engine", ""),
        "storage_migration_type": value("storage_migration_type", "disabled"),
        "tenant_mode": value("tenant_mode", "disabled"),
        "usable_regions": value("usable_regions", 1),
    }
    if regions := config.values.get("regions"):
        found["regions"] = regions
    return {"configuration": found}


def _excluded(it: Exclusion) -> dict[str, str]:
    return {"locality" if isinstance(it, ByLocality) else "address": str(it)}


def _data(database: Database) -> dict[str, Any]:
    config, shards = database.settings, database.shards
    assert config is not None  # noqa: S101 - asked before
    if not database.has_looked:
        return {"data": {"state": {"name": "initializing"}}}
    state = _data_state(database, config.copies)
    flying = shards.moving
    return {
        "data": {
            "average_partition_size_bytes": 20_000_000,
            "least_operating_space_bytes_log_server": 69_632_736_671,
            "least_operating_space_bytes_storage_server": 69_632_737_206,
            "moving_data": {
                "highest_priority": 0 if state["name"] == "healthy" else 700,
                "in_flight_bytes": flying,
                "in_queue_bytes": 0,
                "total_written_bytes": 0,
            },
            "partitions_count": len(shards.pieces),
            "state": state,
            "system_kv_size_bytes": 0,
            "team_trackers": [
                {
                    "in_flight_bytes": flying,
                    "primary": True,
                    "state": dict(state),
                    "unhealthy_servers": data.unhealthy_disks(database),
                }
            ],
            "total_disk_used_bytes": 734_065_224,
            "total_kv_size_bytes": shards.size,
        }
    }


def _data_state(database: Database, copies: int) -> dict[str, Any]:
    fewest = data.fewest_copies(database)
    if fewest == 0:
        name, healthy, text = "missing_data", False, "No replicas remain of some data"
    elif fewest < copies:
        name, healthy, text = "healing", False, "Only one replica remains of some data"
    elif database.shards.is_moving():
        name, healthy, text = "healing", False, "Restoring replication factor"
    else:
        name, healthy, text = "healthy", True, ""
    found: dict[str, Any] = {"healthy": healthy, "min_replicas_remaining": fewest, "name": name}
    return found | ({"description": text} if text else {})


def _logs(database: Database) -> dict[str, Any]:
    config = database.settings
    assert config is not None  # noqa: S101 - asked before
    sets = []
    for place, it in enumerate(reversed(database.logs)):
        there = [disk for disk in it.disks if disk in database.servers]
        sets.append(
            {
                "begin_version": 0,
                "current": place == 0,
                "epoch": it.epoch,
                "log_fault_tolerance": config.log_copies - 1 - (len(it.disks) - len(there)),
                "log_interfaces": [
                    {"address": str(at.address), "healthy": disk in there, "id": disk[:16]}
                    for disk in it.disks
                    if (at := database.known(disk)) is not None
                ],
                "log_replication_factor": config.log_copies,
                "log_write_anti_quorum": 0,
                "possibly_losing_data": not there,
            }
        )
    return {"logs": sets}


def _rest(database: Database) -> dict[str, Any]:
    left = data.tolerance(database)
    found: dict[str, Any] = {
        "active_primary_dc": next(
            (it.localities.get("dcid", "") for it in database.servers.values()), ""
        ),
        "database_available": True,
        "database_lock_state": {"locked": bool(database.store.locked_by)},
        "fault_tolerance": {
            "max_zone_failures_without_losing_availability": left,
            "max_zone_failures_without_losing_data": left,
        },
        "full_replication": True,
        **numbers.of_database(),
    }
    if database.store.locked_by:
        found["database_lock_state"]["lock_uid"] = database.store.locked_by
    if (zone := database.maintained()) is not None:
        found["maintenance_zone"] = zone.zone
        found["maintenance_seconds_remaining"] = round(zone.seconds, 3)
    return found


_PARTS: Final[tuple[Callable[[Database], dict[str, Any]], ...]] = (
    _configuration,
    _data,
    _logs,
    _rest,
)
