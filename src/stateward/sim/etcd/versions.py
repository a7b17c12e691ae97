"""What other versions of the operator leave behind: a status with less or more than ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from stateward.core.errors import UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.codec import Json
from stateward.local.rules.writes import Author
from stateward.sim.faults import Fault
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.etcd.world import EtcdWorld

_OPERATOR = Author("stateward")


def upgrade(it: EtcdWorld, fault: Fault, slot: Slot) -> None:
    """Start the operator again after one of another version wrote the status."""
    written = _WRITERS.get(fault.detail(0))
    if written is None:
        raise UsageError(f"an upgrade must be one of {', '.join(_WRITERS)}; got {fault}")
    if slot.process is not None:
        slot.process.crash(rest=1.0)
    api = it.world.api
    for cluster in api.store.all(ETCD_CLUSTERS.name):
        document = cluster.document()
        document["status"] = written(document.get("status") or {})
        api.update(ETCD_CLUSTERS, cluster.key, document, _OPERATOR, subresource="status")


def _older(status: Json) -> Json:
    """Return a status with what the first version could tell.

    Whoever turned logins on told so, in any version.
    """
    kept = ("observedGeneration", "replicas", "clusterId", "conditions", "members", "authEnabled")
    told: Json = {name: status[name] for name in kept if name in status}
    told["conditions"] = [
        it for it in told.get("conditions") or () if it["type"] in {"Ready", "Available"}
    ]
    members = ("name", "id", "healthy", "unhealthySince")
    told["members"] = [
        {name: it[name] for name in members if name in it} for it in told.get("members") or ()
    ]
    return told


def _newer(status: Json) -> Json:
    """Return a status with more than this version knows."""
    balanced = {
        "type": "Balanced",
        "status": "Unknown",
        "reason": "New",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    members = [it | {"zone": "a", "role": "witness"} for it in status.get("members") or ()]
    return status | {
        "members": members,
        "conditions": [*(status.get("conditions") or ()), balanced],
        "schedule": {"next": "2026-01-01T00:00:00Z", "kept": [1, 2]},
    }


_WRITERS: Final[dict[str, Callable[[Json], Json]]] = {"older": _older, "newer": _newer}
