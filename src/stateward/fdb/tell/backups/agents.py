"""How the agents of a backup are, by their Deployment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.fdb.build.backup_agents import WholeDeployment


@dataclass(frozen=True, slots=True)
class Agents:
    """How many there shall be, how many work as asked, and whether their deployment is so."""

    wanted: int
    ready: int = 0
    #: As asked, and seen by whoever makes pods of it; None: nobody can tell.
    configured: bool | None = None
    #: Why pods do not come, in the words of Kubernetes.
    trouble: str = ""


def agents_of(
    deployment: WholeDeployment | None, wanted: int, *, settled: bool, unseen: bool
) -> Agents:
    """Return how they are."""
    if unseen:
        return Agents(wanted)
    if deployment is None:
        return Agents(wanted, configured=settled)
    status = deployment.status
    is_seen = _number(status, "observedGeneration") >= deployment.metadata.generation
    ready = min(_number(status, "readyReplicas"), _number(status, "updatedReplicas"))
    return Agents(wanted, ready, settled and is_seen, _trouble(status))


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
