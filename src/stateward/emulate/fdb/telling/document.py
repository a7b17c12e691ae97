"""The whole document: what whoever asks finds out by itself, and what the controller says."""

from __future__ import annotations

from typing import Any, Final

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import cluster
from stateward.fdb.model import versions
from stateward.fdb.model.connection import ConnectionString

_SERVING: Final = {"all_logs_recruited", "fully_recovered"}
_NOTHING: Final = {"layers": {"_valid": False}}
_NO_QUORUM: Final = {
    "description": "Unable to reach a quorum of coordinators.",
    "name": "quorum_not_reachable",
}


def status(database: Database, string: ConnectionString, path: str) -> dict[str, Any]:
    """Return what somebody with a cluster file sees now."""
    theirs = cluster.section(database) if database.has_quorum else dict(_NOTHING)
    serves = database.has_quorum and database.recovery.serves
    serves = serves and database.recovery.name in _SERVING
    up_to_date = str(string) == str(database.string)
    learned = database.string if any(map(database.reachable, string.coordinators)) else string
    return {
        "client": {
            "cluster_file": {"path": path, "up_to_date": up_to_date},
            "coordinators": _coordinators(database, learned),
            "database_status": {
                "available": serves,
                "healthy": serves and up_to_date and _is_healthy(theirs),
            },
            "messages": [*_messages(database, string)],
            "timestamp": int(database.now),
        },
        "cluster": theirs,
    }


def _messages(database: Database, string: ConnectionString) -> list[dict[str, str]]:
    if not database.has_quorum:
        return [dict(_NO_QUORUM)]
    if str(string) == str(database.string):
        return []
    return [
        {
            "description": (
                "Cluster file contents do not match current cluster connection string.\n"
                f"The file contains the connection string: {string}\n"
                f"The current connection string is: {database.string}\n{_WRITABLE}"
            ),
            "name": "incorrect_cluster_file_contents",
        }
    ]


_WRITABLE: Final = (
    "Verify the cluster file and its parent directory are writable and that the cluster file has"
    " not been overwritten externally. To change coordinators without manual intervention, the"
    " cluster file and its containing folder must be writable by all servers and clients. If a"
    " majority of the coordinators referenced by the old connection string are lost, the database"
    " will stop working until the correct cluster file is distributed to all processes."
)


def _is_healthy(theirs: dict[str, Any]) -> bool:
    """Tell it as the real one does: also while nobody has looked at the data."""
    state = theirs.get("data", {}).get("state")
    complaints = [it for one in theirs.get("processes", {}).values() for it in one["messages"]]
    is_quiet = not theirs.get("messages") and not complaints
    return is_quiet and state is not None and state.get("healthy", True)


def _coordinators(database: Database, string: ConnectionString) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for it in string.coordinators:
        answers = database.reachable(it)
        protocol = {"protocol": f"0{versions.protocol_of(database.line)}"} if answers else {}
        found.append({"address": str(it), **protocol, "reachable": answers})
    answering = sum(it["reachable"] for it in found)
    return {"coordinators": found, "quorum_reachable": answering >= string.quorum}
