"""The whole document: what whoever asks finds out by itself, and what the controller says."""

from __future__ import annotations

from typing import Any, Final

from stateward.emulate.fdb.asking import clogs
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import cluster
from stateward.emulate.fdb.telling.prose import EMULATED
from stateward.fdb.model import versions
from stateward.fdb.model.connection import ConnectionString

_HERE: Final = Viewpoint()
_OLD_FILE: Final = "incorrect_cluster_file_contents"
_SERVING: Final = {"accepting_commits", "all_logs_recruited", "fully_recovered"}
_NOTHING: Final = {"layers": {"_valid": False}}
#: Where people look, and nobody is called unhealthy for it.
_EMULATED: Final = {"description": EMULATED, "name": "emulated"}
_NO_QUORUM: Final = {
    "description": "Unable to reach a quorum of coordinators.",
    "name": "quorum_not_reachable",
}


def status(
    database: Database, string: ConnectionString, path: str, view: Viewpoint = _HERE
) -> dict[str, Any]:
    """Return what somebody with a cluster file sees now, from where it is."""
    learned = database.string if view.is_let_in(database, string) else string
    wrong = _messages(database, string, learned, view)
    is_silent = bool(wrong) and wrong[0]["name"] != _OLD_FILE
    theirs = dict(_NOTHING) if is_silent else cluster.section(database)
    serves = not is_silent and database.recovery.serves and database.recovery.name in _SERVING
    up_to_date = string == learned
    return {
        "client": {
            "cluster_file": {"path": path, "up_to_date": up_to_date},
            "coordinators": _coordinators(database, learned, view),
            "database_status": {
                "available": serves,
                "healthy": serves and up_to_date and _is_healthy(theirs),
            },
            "messages": [*wrong, dict(_EMULATED)],
            "timestamp": int(database.now),
        },
        "cluster": theirs,
    }


def _messages(
    database: Database, string: ConnectionString, learned: ConnectionString, view: Viewpoint
) -> list[dict[str, str]]:
    """Return what the asker has to complain of; all but an old file mean that it heard nothing."""
    if not view.sees_quorum(database, learned):
        return [dict(_NO_QUORUM)]
    if (silence := _silence(database, view)) is not None:
        return [{"description": clogs.WORDS[silence], "name": str(silence)}]
    if string == learned:
        return []
    text = (
        "Cluster file contents do not match current cluster connection string.\n"
        f"The file contains the connection string: {string}\n"
        f"The current connection string is: {learned}\n{_WRITABLE}"
    )
    return [{"description": text, "name": _OLD_FILE}]


def _silence(database: Database, view: Viewpoint) -> clogs.Silence | None:
    if database.clog.silence is not None:
        return database.clog.silence
    controller = database.holder("cluster_controller")
    if controller is None:
        return clogs.Silence.NO_CONTROLLER
    return None if view.reaches(controller) else clogs.Silence.UNREACHABLE


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


def _coordinators(database: Database, string: ConnectionString, view: Viewpoint) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for it in string.coordinators:
        answers = view.answers(database, it)
        protocol = {"protocol": f"0{versions.protocol_of(view.line)}"} if answers else {}
        found.append({"address": str(it), **protocol, "reachable": answers})
    return {"coordinators": found, "quorum_reachable": view.sees_quorum(database, string)}
