"""How the agents of a backup are, by their Deployment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.core.version import Version
from stateward.fdb.build.backup_agents import WholeDeployment
from stateward.fdb.model.versions import are_compatible


@dataclass(frozen=True, slots=True)
class Agents:
    """How many there shall be, how many work as asked, and whether their deployment is so."""

    wanted: int
    ready: int = 0
    #: As asked, and seen by whoever makes pods of it; None: nobody can tell.
    configured: bool | None = None
    #: Why pods do not come, in the words of Kubernetes.
    trouble: str = ""
    #: Why they cannot talk to the database; empty: they can, or nobody knows.
    unfit: str = ""


def unfit(said: str, database: Version | None) -> str:
    """Return why agents of a version cannot talk to a database.

    >>> unfit("7.1.61", Version(7, 3, 63))
    'spec.version must be of the line of the database: 7.1.61 cannot talk to 7.3.63'
    """
    try:
        theirs = Version.parse(said)
    except ValueError:
        return ""
    if database is None or are_compatible(theirs, database):
        return ""
    return f"spec.version must be of the line of the database: {theirs} cannot talk to {database}"


def agents_of(
    deployment: WholeDeployment | None,
    wanted: int,
    *,
    settled: bool,
    unseen: bool,
    unfit: str = "",
) -> Agents:
    """Return how they are."""
    if unseen:
        return Agents(wanted, unfit=unfit)
    if deployment is None:
        return Agents(wanted, configured=settled, unfit=unfit)
    status = deployment.status
    is_seen = _number(status, "observedGeneration") >= deployment.metadata.generation
    ready = min(_number(status, "readyReplicas"), _number(status, "updatedReplicas"))
    return Agents(wanted, ready, settled and is_seen, _trouble(status), unfit)


def _number(status: Any, name: str) -> int:
    found = status.get(name)
    return found if isinstance(found, int) else 0


def _trouble(status: Any) -> str:
    """Return why there are too few pods, where their controller says that they cannot be made."""
    for it in status.get("conditions") or ():
        failed = it.get("type") == "ReplicaFailure" and it.get("status") == "True"
        stuck = it.get("type") == "Progressing" and it.get("status") == "False"
        if failed or stuck:
            return str(it.get("message") or it.get("reason") or "")
    return ""
