"""The long ``status``, for people: what the document says, in fdbcli's own layout."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

EMULATED: Final = "EMULATED: a stand-in of Stateward answers here; there is no FoundationDB."
_WIDTH: Final = 80
_GIB, _GB, _MB = 2**30, 1e9, 1e6
#: Below this a process has less memory than it should.
_ENOUGH: Final = 4.0
#: How far a recovery has come, where it is said with those who coordinate.
_TOLD: Final = {
    "configuration_never_created",
    "reading_coordinated_state",
    "locking_coordinated_state",
}
#: Messages that people are not shown: what follows from them is seen anyway.
_HIDDEN: Final = {"unreadable_configuration", "status_incomplete", "unreachable_processes"}
Document = Mapping[str, Any]


def status(document: Document, *, details: bool = False) -> list[str]:
    """Return the lines."""
    client, cluster = document["client"], document["cluster"]
    head = [EMULATED, f"Using cluster file `{client['cluster_file']['path']}'.", ""]
    if not client["coordinators"]["quorum_reachable"]:
        text = "Could not communicate with a quorum of coordination servers:"
        return [*head, text, *_coordinators(client)]
    if not client["database_status"]["available"]:
        return [*head, *_unavailable(client, cluster)]
    parts = [part for section in _SECTIONS for part in ([*section(cluster), ""])]
    if details:
        parts += [*_processes(cluster), "", "Coordination servers:", *_coordinators(client), ""]
    return [*head, *_messages(client), *parts, f"Client time: {_time(client['timestamp'])}"]


# -------------------------------------------------------------------------- what is not there


def _coordinators(client: Document) -> Iterator[str]:
    for it in client["coordinators"]["coordinators"]:
        word = "reachable" if it["reachable"] else "unreachable"
        yield f"  {it['address']}  ({word})"


def _unavailable(client: Document, cluster: Document) -> Iterator[str]:
    yield from _messages(client)
    state = cluster.get("recovery_state", {})
    if state.get("name") in _TOLD:
        yield from textwrap.wrap(state["description"], _WIDTH)
        yield ""
        yield from _coordinators(client)
        yield ""
    shown = [it for it in cluster.get("messages", ()) if it["name"] not in _HIDDEN]
    for place, it in enumerate(shown):
        yield from [""] * bool(place)
        yield from textwrap.wrap(it["description"], _WIDTH)


def _messages(client: Document) -> Iterator[str]:
    for it in client["messages"]:
        if it["name"] != "emulated":
            yield from it["description"].splitlines()
            yield ""


# -------------------------------------------------------------------------- what is


def _configuration(cluster: Document) -> Iterator[str]:
    config = cluster.get("configuration", {})
    yield "Configuration:"
    for title, name in _CONFIGURED.items():
        yield _line(title, str(config.get(name, "unknown")))


_CONFIGURED: Final = {
    "Redundancy mode": "redundancy_mode",
    "Storage engine": "storage_engine",
    "Log engine": "log_engine",
    "Encryption at-rest": "encryption_at_rest_mode",
    "Coordinators": "coordinators_count",
    "Desired Commit Proxies": "commit_proxies",
    "Desired GRV Proxies": "grv_proxies",
    "Desired Resolvers": "resolvers",
    "Desired Logs": "logs",
    "Usable Regions": "usable_regions",
}


def _cluster(cluster: Document) -> Iterator[str]:
    processes = cluster.get("processes", {}).values()
    known = [it for it in processes if "fault_domain" in it]
    memory = min((it["memory"]["available_bytes"] for it in known), default=0) / _GIB
    zones = len({it["fault_domain"] for it in known})
    machines = len(cluster.get("machines", {}))
    left = cluster.get("fault_tolerance", {})
    kind = "machines" if zones == machines else "zones"
    yield "Cluster:"
    yield _line("FoundationDB processes", str(len(processes)))
    yield _line("Zones", str(zones))
    yield _line("Machines", str(machines))
    text = f"{memory:.1f} GB per process on machine with least available"
    yield _line("Memory availability", text)
    if memory < _ENOUGH:
        yield f"{'':27}>>>>> (WARNING: {_ENOUGH:.1f} GB recommended) <<<<<"
    yield _line("Fault Tolerance", f"{min(left.values(), default='unknown')} {kind}")
    yield _line("Server time", _time(cluster["cluster_controller_timestamp"]))


def _data(cluster: Document) -> Iterator[str]:
    data = cluster.get("data", {})
    moving, size = data.get("moving_data"), data.get("total_kv_size_bytes")
    yield "Data:"
    yield _line("Replication health", _health(data.get("state", {})))
    if moving is None:
        unknown = "unknown (initializing)" if "state" in data else "unknown"
        yield _line("Moving data", unknown)
    else:
        flying = moving["in_flight_bytes"] + moving["in_queue_bytes"]
        yield _line("Moving data", f"{flying / _GB:.3f} GB")
    yield _line("Sum of key-value sizes", "unknown" if size is None else _size(size))
    yield _line("Disk space used", _size(data.get("total_disk_used_bytes", 0)))


def _health(state: Document) -> str:
    name, text = state.get("name", "unknown"), state.get("description", "")
    if name.startswith("healthy"):
        return f"Healthy ({text})" if text else "Healthy"
    if name == "initializing":
        return str(text)
    return f"{'UNHEALTHY' if name == 'missing_data' else name.upper()}: {text}".removesuffix(": ")


def _space(cluster: Document) -> Iterator[str]:
    data = cluster.get("data", {})
    yield "Operating space:"
    for title, name in (("Storage server", "storage"), ("Log server", "log")):
        free = data.get(f"least_operating_space_bytes_{name}_server", 0)
        yield _line(title, f"{free / _GB:.1f} GB free on most full server")


def _workload(cluster: Document) -> Iterator[str]:
    work = cluster.get("workload", {})
    yield "Workload:"
    for title, (group, name) in _WORK.items():
        rate = work.get(group, {}).get(name, {}).get("hz", 0)
        yield _line(title, f"{round(rate)} Hz")


_WORK: Final = {
    "Read rate": ("operations", "reads"),
    "Write rate": ("operations", "writes"),
    "Transactions started": ("transactions", "started"),
    "Transactions committed": ("transactions", "committed"),
    "Conflict rate": ("transactions", "conflicted"),
}


def _backups(_cluster: Document) -> Iterator[str]:
    yield "Backup and DR:"
    yield _line("Running backups", "0")
    yield _line("Running DRs", "0")


def _processes(cluster: Document) -> Iterator[str]:
    yield "Process performance details:"
    every = sorted(cluster.get("processes", {}).values(), key=lambda it: str(it["address"]))
    for it in every:
        if "cpu" in it:
            yield f"  {it['address'].removesuffix(':tls'):<22} {_performance(cluster, it)}"
            yield from (f"    {one['description']}" for one in it["messages"])


def _performance(cluster: Document, process: Document) -> str:
    machine = cluster["machines"][process["machine_id"]]["cpu"]["logical_core_utilization"]
    memory, network = process["memory"], process["network"]
    wire = max(network[f"megabits_{it}"]["hz"] for it in ("sent", "received")) / 1000
    return (
        f"({process['cpu']['usage_cores'] * 100:3.0f}% cpu;{machine * 100:3.0f}% machine;"
        f"{wire:6.3f} Gbps;{process['disk']['busy'] * 100:3.0f}% disk IO;"
        f"{memory['rss_bytes'] / _GIB:4.1f} GB /{memory['available_bytes'] / _GIB:4.1f} GB RAM  )"
    )


_SECTIONS: Final = (_configuration, _cluster, _data, _space, _workload, _backups)


def _line(title: str, value: str) -> str:
    return f"  {title:<22} - {value}"


def _size(size: float) -> str:
    return f"{int(size / _MB)} MB" if size < _GB else f"{size / _GB:.3f} GB"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%m/%d/%y %H:%M:%S")
