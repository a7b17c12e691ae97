"""What is said of processes and machines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from stateward.emulate.fdb import data
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.telling import numbers
from stateward.fdb.model import locality


def processes(database: Database) -> dict[str, Any]:
    """Return an entry for everybody who reports; who was just lost still has most of one."""
    found = {disk: _entry(database, it) for disk, it in database.servers.items() if it.heard}
    for disk, (it, _) in database.fallen.items():
        found[disk] = _remembered(database, it)
    return dict(sorted(found.items()))


def machines(database: Database) -> dict[str, Any]:
    """Return an entry for every machine."""
    found: dict[str, Any] = {}
    barred = database.excluded | database.failed
    for it in database.servers.values():
        mine = found.setdefault(
            it.machine,
            {
                "address": it.address.host,
                "contributing_workers": 0,
                "datacenter_id": it.localities.get(locality.DATA_CENTER, ""),
                "excluded": True,
                "locality": _localities(it),
                "machine_id": it.machine,
                **numbers.of_machine(),
            },
        )
        mine["contributing_workers"] += 1
        mine["excluded"] = mine["excluded"] and it.is_meant(barred)
    return dict(sorted(found.items()))


def _remembered(database: Database, server: Server) -> dict[str, Any]:
    """Return what is known of a process without its help: neither where it is, nor what it does."""
    found: dict[str, Any] = {
        "address": str(server.address),
        "class_source": server.class_source,
        "class_type": str(server.process_class),
        "memory": {},
        "messages": [],
        "roles": [],
    }
    if database.settings is not None and database.recovery.serves:
        barred = database.excluded | database.failed
        found["excluded"] = server.is_meant(barred)
    return found


def _entry(database: Database, server: Server) -> dict[str, Any]:
    found = _remembered(database, server) | numbers.of_process()
    found |= {
        "command_line": server.command_line,
        "fault_domain": server.zone,
        "locality": _localities(server),
        "machine_id": server.machine,
        "version": str(server.version),
    }
    found["roles"] = list(_roles(database, server))
    found["uptime_seconds"] = round(database.now - server.started, 3)
    if server.degraded:
        found["degraded"] = True
    if database.maintenance is not None and server.zone == database.maintenance[0]:
        found["under_maintenance"] = True
    return found


def _localities(server: Server) -> dict[str, str]:
    own = {"processid": server.disk.process_id, locality.ZONE: server.zone}
    return dict(sorted({**own, locality.MACHINE: server.machine, **server.localities}.items()))


def _roles(database: Database, server: Server) -> Iterator[dict[str, Any]]:
    disk = server.disk.process_id
    if any(it.plain == server.address.plain for it in database.string.coordinators):
        yield {"role": "coordinator"}
    if disk in data.storage_disks(database):
        yield _storage(database, disk)
    for role in database.roles.get(disk, ()):
        yield _log(database, disk) if role == "log" else {"id": _id(disk, role), "role": role}


def _storage(database: Database, disk: str) -> dict[str, Any]:
    version = int(database.now * A_SECOND)
    created = datetime.fromtimestamp(database.born, UTC)
    config = database.settings
    return {
        **numbers.of_storage(),
        "data_version": version,
        "durable_version": max(0, version - 5 * A_SECOND),
        "id": _id(disk, "storage"),
        "role": "storage",
        "storage_metadata": {
            "created_time_datetime": created.strftime("%Y-%m-%d %H:%M:%S.000 +0000"),
            "created_time_timestamp": database.born,
            "storage_engine": config.values["storage_engine"] if config else "",
        },
        "stored_bytes": database.shards.stored_on(disk),
    }


def _log(database: Database, disk: str) -> dict[str, Any]:
    version = int(database.now * A_SECOND)
    about = {"data_version": version, "id": _id(disk, "log"), "role": "log"}
    return {**numbers.of_log(), **about}


def _id(disk: str, role: str) -> str:
    """Return a number of sixteen digits that is always the same for a role of a process."""
    return f"{sum((n + 1) * 257**2 * it for n, it in enumerate(f'{disk}{role}'.encode())):016x}"
