"""What is said of processes and machines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.configuration import engines
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.servers import LAGGING, Server
from stateward.emulate.fdb.state import LogSet
from stateward.emulate.fdb.telling import numbers
from stateward.emulate.fdb.telling.configuration import shown_engine
from stateward.emulate.fdb.telling.identity import role_id
from stateward.fdb.model import locality

#: Seconds after which there are statistics of how long things take.
_MEASURED: Final = 60.0


def processes(database: Database) -> dict[str, Any]:
    """Return an entry for everybody who reports; who was just lost still has most of one."""
    storing = data.storage_disks(database)
    found = {
        disk: (_unasked if disk in database.clog.unasked else _entry)(database, it, storing)
        for disk, it in database.servers.items()
    }
    for disk, (it, _) in database.fallen.items():
        found[disk] = _remembered(database, it)
    return dict(sorted(found.items()))


def machines(database: Database) -> dict[str, Any]:
    """Return an entry for every machine."""
    found: dict[str, Any] = {}
    barred = database.barred
    for it in database.servers.values():
        mine = found.setdefault(
            it.machine,
            {
                "address": it.address.host,
                "contributing_workers": 0,
                "excluded": True,
                "locality": _localities(it),
                "machine_id": it.machine,
                **numbers.of_machine(),
            },
        )
        if (center := it.localities.get(locality.DATA_CENTER)) is not None:
            mine["datacenter_id"] = center
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
    if _is_served(database):
        found["excluded"] = server.is_meant(database.barred)
    return found


def _unasked(database: Database, server: Server, storing: set[str]) -> dict[str, Any]:
    """Return what others know of a process that did not answer in time."""
    few = ("id", "role", "storage_metadata", "tss")
    roles = [{key: it[key] for key in few if key in it} for it in _roles(database, server, storing)]
    return _remembered(database, server) | {
        "command_line": server.command_line,
        "memory": {"limit_bytes": numbers.of_process(server)["memory"]["limit_bytes"]},
        "roles": [it for it in roles if it["role"] != "coordinator"],
        "version": str(server.version),
    }


def _entry(database: Database, server: Server, storing: set[str]) -> dict[str, Any]:
    found = _remembered(database, server) | numbers.of_process(server)
    found |= {
        "command_line": server.command_line,
        "fault_domain": server.zone,
        "locality": _localities(server),
        "machine_id": server.machine,
        "version": str(server.version),
    }
    found["roles"] = list(_roles(database, server, storing))
    found["messages"] = list(_messages(server, found["roles"]))
    found["uptime_seconds"] = round((database.now - server.started) / database.times, 3)
    if server.degraded:
        found["degraded"] = True
    if database.maintenance is not None and server.zone == database.maintenance[0]:
        found["under_maintenance"] = True
    return found


def _messages(server: Server, roles: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what a process complains of; a copy that is far behind is told by itself."""
    for name, text in server.complaints.items():
        yield {"description": text, "name": name}
    if server.lag >= LAGGING and any(it["role"] == "storage" for it in roles):
        text = f"Storage server lagging by {int(server.lag)} seconds."
        yield {"description": text, "name": "storage_server_lagging"}


def _localities(server: Server) -> dict[str, str]:
    own = {"processid": server.disk.process_id, locality.ZONE: server.zone}
    return dict(sorted({**own, locality.MACHINE: server.machine, **server.localities}.items()))


# -------------------------------------------------------------------------- roles


def _roles(database: Database, server: Server, storing: set[str]) -> Iterator[dict[str, Any]]:
    disk, serves = server.disk.process_id, _is_served(database)
    if serves and any(map(server.listens_at, database.string.coordinators)):
        yield {"role": "coordinator"}
    if disk in storing:
        yield _storage(database, server)
    for role in database.roles.get(disk, ()):
        if role != "log":
            yield _plain(database, disk, role)
    for it in database.logs:
        if disk in it.every and (serves or not server.is_meant(database.barred)):
            yield _log(database, server, it)


def _plain(database: Database, disk: str, role: str) -> dict[str, Any]:
    found: dict[str, Any] = {"id": role_id(disk, role), "role": role}
    served = database.recovery.served
    if served is None or database.now < served + _MEASURED:
        return found
    if role == "commit_proxy":
        names = ("commit_batching_window_size", "commit_latency_statistics")
        return found | {it: numbers.latencies() for it in names}
    if role == "grv_proxy":
        priorities = {it: numbers.latencies() for it in ("batch", "default")}
        return found | {"grv_latency_statistics": priorities}
    return found


def _storage(database: Database, server: Server) -> dict[str, Any]:
    disk = server.disk.process_id
    version = int(max(0.0, database.now - server.lag) * A_SECOND)
    created = datetime.fromtimestamp(database.born, UTC)
    stored = database.shards.stored_on(disk)
    found = {
        **numbers.of_storage(server, stored),
        "data_version": version,
        "durable_version": max(0, version - 5 * A_SECOND),
        "id": role_id(disk, "storage"),
        "role": "storage",
        "storage_metadata": {
            "created_time_datetime": created.strftime("%Y-%m-%d %H:%M:%S.000 +0000"),
            "created_time_timestamp": database.born,
            "storage_engine": shown_engine(engines.engine_on(database, disk)),
        },
        "stored_bytes": stored,
    }
    if database.now >= max(server.started, database.born) + _MEASURED:
        found["read_latency_statistics"] = numbers.latencies()
    return found


def _log(database: Database, server: Server, logs: LogSet) -> dict[str, Any]:
    """Return a log; one of an older generation, or that nobody uses, says nothing of itself."""
    about = {"id": role_id(server.disk.process_id, f"log{logs.epoch}"), "role": "log"}
    if logs is not database.logs[-1] or not database.recovery.serves:
        return about
    return {**numbers.of_log(server), **about, "data_version": int(database.now * A_SECOND)}


def _is_served(database: Database) -> bool:
    return database.settings is not None and database.recovery.serves
