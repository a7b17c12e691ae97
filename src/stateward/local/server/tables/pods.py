"""Lines of pods and nodes: what is going on, in one word. Pure."""

from __future__ import annotations

from typing import Any

from stateward.kube.codec import Json
from stateward.local.server.tables.ages import age
from stateward.local.server.tables.cells import (
    NONE,
    UNKNOWN,
    age_of,
    count,
    items,
    layout,
    name_of,
    part,
)

_ROLE = "node-role.kubernetes.io/"
_NODE_LOST = "NodeLost"


def _pod(document: Json, now: float) -> list[Any]:
    statuses = items(document, "status", "containerStatuses")
    sidecars = _sidecars(document)
    total = len(items(document, "spec", "containers")) + len(sidecars)
    ready = sum(1 for it in (*statuses, *sidecars) if it.get("ready"))
    return [
        name_of(document),
        f"{ready}/{total}",
        status_word(document),
        _restarts(_restarting(document), now),
        age_of(document, now),
        part(document, "status", "podIP") or NONE,
        part(document, "spec", "nodeName") or NONE,
        part(document, "status", "nominatedNodeName") or NONE,
        _gates(document),
    ]


def status_word(pod: Json) -> str:
    """Return what a pod is doing, as kubectl's STATUS column says it."""
    phase = str(part(pod, "status", "phase") or "Unknown")
    word = str(part(pod, "status", "reason") or phase)
    gated = any(it.get("reason") == "SchedulingGated" for it in _conditions(pod))
    initializing = _initializing(pod)
    if gated and phase == "Pending":
        word = "SchedulingGated"
    elif initializing:
        word = initializing
    else:
        word = _main_word(pod, word)
    if pod["metadata"].get("deletionTimestamp"):
        lost = part(pod, "status", "reason") == _NODE_LOST
        finished = phase in {"Succeeded", "Failed"}
        word = "Unknown" if lost else word if finished else "Terminating"
    return word


def _initializing(pod: Json) -> str:
    """Return what the init containers are at, or nothing once they are done."""
    wanted = items(pod, "spec", "initContainers")
    always = {it.get("name") for it in wanted if it.get("restartPolicy") == "Always"}
    for number, it in enumerate(items(pod, "status", "initContainerStatuses")):
        ended = part(it, "state", "terminated")
        if isinstance(ended, dict) and not ended.get("exitCode"):
            continue
        if it.get("name") in always and it.get("started"):
            continue
        return _init_word(it, ended, number, len(wanted))
    return ""


def _init_word(it: Json, ended: Any, number: int, total: int) -> str:
    if isinstance(ended, dict):
        return f"Init:{_ending(ended)}"
    waiting = part(it, "state", "waiting", "reason")
    if waiting and waiting != "PodInitializing":
        return f"Init:{waiting}"
    return f"Init:{number}/{total}"


def _main_word(pod: Json, word: str) -> str:
    running = False
    for it in reversed(items(pod, "status", "containerStatuses")):
        waiting = part(it, "state", "waiting", "reason")
        ended = part(it, "state", "terminated")
        if waiting:
            word = str(waiting)
        elif isinstance(ended, dict):
            word = _ending(ended)
        elif it.get("ready") and part(it, "state", "running") is not None:
            running = True
    if word == "Completed" and running:
        ready = any(
            it.get("type") == "Ready" and it.get("status") == "True" for it in _conditions(pod)
        )
        return "Running" if ready else "NotReady"
    return word


def _ending(ended: Json) -> str:
    if reason := ended.get("reason"):
        return str(reason)
    if signal := ended.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _sidecars(pod: Json) -> list[Json]:
    specs = items(pod, "spec", "initContainers")
    always = [it.get("name") for it in specs if it.get("restartPolicy") == "Always"]
    told = {it.get("name"): it for it in items(pod, "status", "initContainerStatuses")}
    return [told.get(name, {}) for name in always]


def _restarting(pod: Json) -> list[Json]:
    """Return whose restarts are told: of the init containers while they work, then of the rest."""
    if _initializing(pod):
        return items(pod, "status", "initContainerStatuses")
    return [*items(pod, "status", "containerStatuses"), *_sidecars(pod)]


def _restarts(statuses: list[Json], now: float) -> str:
    total = sum(count(it, "restartCount") for it in statuses)
    ends = [part(it, "lastState", "terminated", "finishedAt") for it in statuses]
    last = max((it for it in ends if isinstance(it, str)), default="")
    return f"{total} ({age(last, now)} ago)" if total and last else str(total)


def _gates(pod: Json) -> str:
    wanted = [it.get("conditionType") for it in items(pod, "spec", "readinessGates")]
    if not wanted:
        return NONE
    true = {it.get("type") for it in _conditions(pod) if it.get("status") == "True"}
    return f"{sum(1 for it in wanted if it in true)}/{len(wanted)}"


def _conditions(document: Json) -> list[Json]:
    return items(document, "status", "conditions")


def _node(document: Json, now: float) -> list[Any]:
    info = part(document, "status", "nodeInfo") or {}
    return [
        name_of(document),
        _node_status(document),
        _roles(document["metadata"].get("labels") or {}),
        age_of(document, now),
        info.get("kubeletVersion") or "",
        _address(document, "InternalIP"),
        _address(document, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        info.get("kernelVersion") or UNKNOWN,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _node_status(node: Json) -> str:
    ready = next((it for it in _conditions(node) if it.get("type") == "Ready"), None)
    words = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{words},SchedulingDisabled" if part(node, "spec", "unschedulable") else words


def _roles(labels: Json) -> str:
    found = {name.removeprefix(_ROLE) for name in labels if name.startswith(_ROLE)}
    if role := labels.get("kubernetes.io/role"):
        found.add(role)
    return ",".join(sorted(it for it in found if it)) or NONE


def _address(node: Json, kind: str) -> str:
    found = items(node, "status", "addresses")
    return next((str(it.get("address")) for it in found if it.get("type") == kind), NONE)


LAYOUTS = {
    "pods": layout(
        _pod, "Name|Ready|Status|Restarts|Age", "IP|Node|Nominated Node|Readiness Gates"
    ),
    "nodes": layout(
        _node,
        "Name|Status|Roles|Age|Version",
        "Internal-IP|External-IP|OS-Image|Kernel-Version|Container-Runtime",
    ),
}
