"""Where data and logs are, how well they are copied, and what is on its way."""

from __future__ import annotations

from typing import Any, Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.state import SILENT, LogSet
from stateward.emulate.fdb.telling.identity import role_id

#: How urgent the most urgent move is, by what lacks.
_LOST, _ONE_LEFT, _UNHEALTHY, _CUT, _WIGGLE = 999, 800, 700, 950, 141
#: What a disk keeps free for itself.
_RESERVED: Final = 5_470_203_978


def data_section(database: Database) -> dict[str, Any]:
    """Return how well data is copied, as far as anybody has looked."""
    found: dict[str, Any] = {
        "least_operating_space_bytes_log_server": _least_space(database),
        "least_operating_space_bytes_storage_server": _least_space(database),
        "total_disk_used_bytes": 734_065_224 + 2 * database.shards.size,
    }
    if database.has_looked:
        found |= _looked_at(database)
    elif database.now < database.looks + SILENT and database.looks > database.born:
        found["team_trackers"] = []
    else:
        text = "(Re)initializing automatic data distribution"
        found["state"] = {"description": text, "name": "initializing"}
    return {"data": dict(sorted(found.items()))}


def _looked_at(database: Database) -> dict[str, Any]:
    shards, config = database.shards, database.settings
    assert config is not None  # noqa: S101 - asked before
    regional = data.centers(database, config)
    regions = regional if len(regional) > 1 else [""]
    states = [_state(database, data.fewest_copies(database, it)) for it in regions]
    cut = shards.pieces[0].size if database.now < database.cuts else 0
    flying = max(shards.moving, cut)
    return {
        "average_partition_size_bytes": 20_000_000,
        "moving_data": {
            "highest_priority": max(urgency for _, urgency in states),
            "in_flight_bytes": flying,
            "in_queue_bytes": 0,
            "total_written_bytes": 0,
        },
        "partitions_count": len(shards.pieces),
        "state": states[0][0],
        "system_kv_size_bytes": 0,
        "team_trackers": [
            {
                "in_flight_bytes": flying,
                "primary": place == 0,
                "state": dict(state),
                "unhealthy_servers": data.unhealthy_disks(database),
            }
            for place, (state, _) in enumerate(states)
        ],
        "total_kv_size_bytes": shards.size,
    }


def _state(database: Database, fewest: int) -> tuple[dict[str, Any], int]:
    """Return how well data is copied, and how urgent it is to do something about it."""
    assert database.settings is not None  # noqa: S101 - asked before
    copies = database.settings.copies
    if fewest == 0:
        name, text, urgency = "missing_data", "No replicas remain of some data", _LOST
    elif fewest == 1 < copies:
        name, text, urgency = "healing", "Only one replica remains of some data", _ONE_LEFT
    elif fewest < copies:
        text = f"Only {_NUMBERS.get(fewest, str(fewest))} replicas remain of some data"
        name, urgency = "healing", _UNHEALTHY + 9
    elif database.now < database.cuts:
        name, text, urgency = "healthy_repartitioning", "Repartitioning", _CUT
    elif database.wiggled and database.wiggled in database.shards.holders():
        name, text, urgency = "healthy_perpetual_wiggle", "Wiggling storage server", _WIGGLE
    elif database.shards.is_moving():
        name, text, urgency = "healing", "Restoring replication factor", _UNHEALTHY
    else:
        name, text, urgency = "healthy", "", 0
    found: dict[str, Any] = {
        "healthy": name.startswith("healthy"),
        "min_replicas_remaining": fewest,
        "name": name,
    }
    return found | ({"description": text} if text else {}), urgency


_NUMBERS: Final = {2: "two", 3: "three", 4: "four", 5: "five"}


def _least_space(database: Database) -> int:
    return min((it.disk.free for it in database.servers.values()), default=0) - _RESERVED


def logs_section(database: Database) -> dict[str, Any]:
    """Return the logs of all generations that are still needed, the current one first."""
    return {"logs": [_logs(database, it) for it in reversed(database.logs)]}


def _logs(database: Database, logs: LogSet) -> dict[str, Any]:
    found: dict[str, Any] = {
        "begin_version": logs.begin,
        "current": logs is database.logs[-1],
        "epoch": logs.epoch,
        "log_fault_tolerance": data.spare_logs(database, logs),
        "log_interfaces": [_interface(database, disk, logs.epoch) for disk in logs.every],
        "log_replication_factor": logs.copies,
        "log_write_anti_quorum": 0,
        "possibly_losing_data": not any(disk in database.servers for disk in logs.disks),
    }
    if logs.end is not None:
        found["end_version"] = logs.end
    if logs.satellite_copies:
        left = data.spare(database, logs.satellites, logs.satellite_copies)
        found["satellite_log_fault_tolerance"] = left
        found["satellite_log_replication_factor"] = logs.satellite_copies
        found["satellite_log_write_anti_quorum"] = 0
    if logs.remote:
        found["remote_log_fault_tolerance"] = data.spare(database, logs.remote, logs.copies)
        found["remote_log_replication_factor"] = logs.copies
    return found


def _interface(database: Database, disk: str, epoch: int) -> dict[str, Any]:
    """Return one log; of one that is gone nobody says where it was."""
    found: dict[str, Any] = {"healthy": False, "id": role_id(disk, f"log{epoch}")}
    if (at := database.servers.get(disk)) is not None:
        found |= {"address": str(at.address), "healthy": True}
    return found
