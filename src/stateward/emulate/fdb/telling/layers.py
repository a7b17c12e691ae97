"""What those say of themselves who do the work of backups, as a status has it."""

from __future__ import annotations

from typing import Any, Final

from stateward.emulate.fdb.backups.cli.telling import DESCRIBED
from stateward.emulate.fdb.backups.state import AgentSeen, Backup
from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.state import State

_WORKERS: Final = 10
_NO_LAYERS: Final = "configurationMissing"
_IO: Final = {
    "bytes_per_second": 0,
    "bytes_sent": 0,
    "requests_failed": 0,
    "requests_successful": 0,
}
_TOTAL: Final = {"bytes_sent": 0, "requests_failed": 0, "requests_successful": 0}


def layers(state: State) -> dict[str, Any]:
    """Return that section: there is nothing of backups where nobody does them, or did lately."""
    if not state.recovery.serves:
        return {"_error": _NO_LAYERS, "_valid": False}
    agents = state.agents.remembered(state.now)
    return {"_valid": True} | ({"backup": _backup(state, agents)} if agents else {})


def _backup(state: State, agents: list[AgentSeen]) -> dict[str, Any]:
    return {
        "blob_recent_io": dict(_IO),
        "instances": {it.name: _instance(it) for it in agents},
        "instances_running": len(agents),
        "last_updated": max(it.seen for it in agents),
        "paused": state.backups.paused,
        "tags": {tag: _tag(state, it) for tag, it in sorted(state.backups.backups.items())},
        "total_workers": _WORKERS * len(agents),
    }


def _instance(agent: AgentSeen) -> dict[str, Any]:
    return {
        "blob_stats": {"recent": dict(_IO), "total": dict(_TOTAL)},
        "configured_workers": _WORKERS,
        "encryption_keys": [],
        "id": agent.name,
        "last_updated": agent.seen,
        "locality": {},
        "main_thread_cpu_seconds": 1.0,
        "memory_usage": 510_210_048,
        "networkAddress": agent.address.rpartition(":")[0],
        "processID": 1,
        "process_cpu_seconds": 1.0,
        "resident_size": 43_810_816,
        "version": agent.version,
    }


def _tag(state: State, backup: Backup) -> dict[str, Any]:
    latest, is_active = backup.restorable, backup.stage.is_active
    found: dict[str, Any] = {
        "current_container": backup.url,
        "current_status": DESCRIBED[backup.stage],
        "file_level_encryption": False,
        "mutation_log_bytes_written": backup.log_bytes,
        "mutation_stream_id": backup.uid,
        "range_bytes_written": backup.range_bytes,
        "running_backup": is_active,
        "running_backup_is_restorable": is_active and latest is not None,
    }
    if latest is not None:
        behind = (state.store.at(state.now) - latest) / A_SECOND
        found["last_restorable_seconds_behind"] = behind
        found["last_restorable_version"] = latest
    return found
