"""What the cluster controller complains of: whom it cannot reach, what it could not find out."""

from __future__ import annotations

from typing import Any, Final

from stateward.emulate.fdb.asking import clients
from stateward.emulate.fdb.database import Database

#: Roles without which a controller complains, and how it calls them.
_WORKERS: Final = {
    "data_distributor": ("dataDistributor", "data distributor"),
    "ratekeeper": ("ratekeeper", "ratekeeper"),
    "consistency_scan": ("consistencyScan", "consistencyScan"),
}


def of_cluster(database: Database) -> list[dict[str, Any]]:
    """Return all messages; one of them is enough to be called unhealthy."""
    reasons: list[str] = []
    found = [*_client_issues(database), *_unreachable(database, reasons)]
    if not database.recovery.serves:
        found += _unserved(database, reasons)
    reasons += database.clog.reasons()
    if reasons:
        found.append(
            {
                "description": "Unable to retrieve all status information.",
                "name": "status_incomplete",
                "reasons": [{"description": it} for it in reasons],
            }
        )
    return found


def _client_issues(database: Database) -> list[dict[str, Any]]:
    wrong = clients.issues(database.clients.counted(database.now))
    text = "Some clients of this cluster have issues."
    return [{"description": text, "issues": wrong, "name": "client_issues"}] if wrong else []


def _unreachable(database: Database, reasons: list[str]) -> list[dict[str, Any]]:
    if not database.fallen:
        return []
    reasons.append("Cannot retrieve all process status information.")
    lost = [{"address": it.address.plain} for it, _ in database.fallen.values()]
    return [
        {
            "description": "The cluster has some unreachable processes.",
            "name": "unreachable_processes",
            "unreachable_processes": lost,
        }
    ]


def _unserved(database: Database, reasons: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "description": f"Unable to locate the {words} worker.",
            "name": f"unreachable_{name}_worker",
        }
        for role, (name, words) in _WORKERS.items()
        if database.holder(role) is None
    ]
    reasons.append("Unable to retrieve idempotency ID status.")
    reasons.append("Unable to retrieve version epoch information (Operation timed out).")
    return [
        *found,
        {
            "description": "Unable to read database configuration.",
            "name": "unreadable_configuration",
        },
        {
            "description": "Fetching consistency scan information timed out.",
            "name": "fetch_consistency_scan_info_timeout",
        },
    ]
