"""What makes no sense in the state that somebody tells of an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes

#: Of which kinds pods are counted, and which of them.
_COUNTED: Final = {
    "deployments.apps": ("updatedReplicas", "readyReplicas", "availableReplicas"),
    "replicasets.apps": ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "statefulsets.apps": (
        *("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    ),
}


def status_problems(resource: str, new: Json, old: Json | None) -> Iterator[Cause]:
    """Yield which numbers of pods cannot be."""
    if (counted := _COUNTED.get(resource)) is None:
        return
    status, was = (((it or {}).get("status") or {}) for it in (new, old))
    for name in ("replicas", *counted, "observedGeneration", "collisionCount"):
        if status.get(name, 0) < 0:
            why = "must be greater than or equal to 0"
            yield causes.invalid(f"status.{name}", status[name], why)
    for name in counted:
        if (value := status.get(name, 0)) > status.get("replicas", 0):
            yield causes.invalid(f"status.{name}", value, "cannot be greater than status.replicas")
    if (available := status.get("availableReplicas", 0)) > status.get("readyReplicas", 0):
        why = "cannot be greater than readyReplicas"
        yield causes.invalid("status.availableReplicas", available, why)
    if (count := status.get("collisionCount", 0)) < was.get("collisionCount", 0):
        yield causes.invalid("status.collisionCount", count, "cannot be decremented")
