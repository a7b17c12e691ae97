"""What the database is configured as, in the words of a status."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling.identity import role_id
from stateward.fdb.model.exclusions import ByLocality, Exclusion

#: Engines that are shown by another name than they are asked for.
_SHOWN: Final = {
    "memory-1": "memory",
    "memory-2": "memory",
    "memory-radixtree-beta": "memory-radixtree",
}
#: What logs use where data is in memory: that alone could not be read again.
_LOGS_OF: Final = {"memory-2": "ssd-2"}


def section(database: Database) -> dict[str, Any]:
    """Return the configuration, with counts that are in effect whether anybody set them or not."""
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
        "log_engine": shown_engine(_LOGS_OF.get(value("log_engine", ""), value("log_engine", ""))),
        "log_spill": int(value("log_spill", 2)),
        "logs": wanted.logs,
        "perpetual_storage_wiggle": value("perpetual_storage_wiggle", 0),
        "perpetual_storage_wiggle_engine": value("perpetual_storage_wiggle_engine", "none"),
        "perpetual_storage_wiggle_locality": value("perpetual_storage_wiggle_locality", "0"),
        "proxies": wanted.commit_proxies + wanted.grv_proxies,
        "redundancy_mode": config.redundancy,
        "resolvers": wanted.resolvers,
        "storage_engine": shown_engine(value("storage_engine", "")),
        "storage_migration_type": value("storage_migration_type", "disabled"),
        "tenant_mode": value("tenant_mode", "disabled"),
        "usable_regions": value("usable_regions", 1),
    }
    if regions := config.values.get("regions"):
        found["regions"] = regions
    for name in ("remote_logs", "log_routers"):
        if value(name) is not None:
            found[name] = value(name)
    return {"configuration": found} | _wiggler(database)


def shown_engine(name: str) -> str:
    """Return an engine as a status names it."""
    return _SHOWN.get(name, name)


def _excluded(it: Exclusion) -> dict[str, str]:
    return {"locality" if isinstance(it, ByLocality) else "address": str(it)}


def _wiggler(database: Database) -> dict[str, Any]:
    """Return how far the wiggle is, where it is turned on: when it began, nobody here knows."""
    config = database.settings
    if config is None or not config.value("perpetual_storage_wiggle", 0):
        return {}
    never = datetime.fromtimestamp(0, UTC).strftime("%Y-%m-%d %H:%M:%S.000 +0000")
    times = ("round_finish", "round_start", "state_change", "wiggle_finish", "wiggle_start")
    counts = ("finished_round", "finished_wiggle", "smoothed_round_seconds")
    it = database.servers.get(database.wiggled)
    return {
        "storage_wiggler": {
            "primary": {
                **{f"last_{it}_datetime": never for it in times},
                **{f"last_{it}_timestamp": 0 for it in times},
                **dict.fromkeys((*counts, "smoothed_wiggle_seconds"), 0),
                "state": "unknown" if it is None else "running",
            },
            "wiggle_server_addresses": [] if it is None else [str(it.address)],
            "wiggle_server_ids": [] if it is None else [role_id(it.disk.process_id, "storage")],
        }
    }
