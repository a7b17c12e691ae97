"""What other versions of the operator leave behind: a status with less or more than ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from stateward.core.errors import UsageError
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.codec import Json
from stateward.local.rules.writes import Author
from stateward.sim.faults import Fault
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.fdb.world import FdbWorld

_OPERATOR: Final = Author("stateward-fdb")
#: What the first version could tell.
_FIRST: Final = (
    "observedGeneration", "generations", "health", "connectionString", "configured",
    "runningVersion", "processGroups",
)  # fmt: skip


def upgrade(it: FdbWorld, fault: Fault, slot: Slot) -> None:
    """Start the operator again after one of another version wrote the status."""
    written = _WRITERS.get(fault.detail(0))
    if written is None:
        raise UsageError(f"an upgrade must be one of {', '.join(_WRITERS)}; got {fault}")
    if slot.process is not None:
        slot.process.crash(rest=1.0)
    api = it.world.api
    for cluster in api.store.all(CLUSTERS.name):
        document = cluster.document()
        document["status"] = written(document.get("status") or {})
        api.update(CLUSTERS, cluster.key, document, _OPERATOR, subresource="status")


def _older(status: Json) -> Json:
    return {name: status[name] for name in _FIRST if name in status}


def _newer(status: Json) -> Json:
    balanced = {
        "type": "Balanced",
        "status": "Unknown",
        "reason": "New",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return status | {
        "conditions": [*(status.get("conditions") or ()), balanced],
        "schedule": {"next": "2026-01-01T00:00:00Z", "kept": [1, 2]},
    }


_WRITERS: Final[dict[str, Callable[[Json], Json]]] = {"older": _older, "newer": _newer}
