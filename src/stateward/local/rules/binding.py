"""Binding: the verb that gives a pod its node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, ServerFailed
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.rules import metadata
from stateward.local.rules.writes import Writes
from stateward.local.store import Stored

_SCHEDULED = "PodScheduled"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a pod shall be, and what is insisted on."""

    node: str
    uid: str = ""
    resource_version: str = ""
    #: What the pod is told on the way.
    annotations: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False


class Binding:
    """Gives pods their nodes."""

    def __init__(self, writes: Writes, *, now: Callable[[], float]) -> None:
        self._writes = writes
        self._now = now

    def bind(self, key: ObjectKey, target: Target) -> Stored:
        """Put a pod on a node, for good; raise Conflict when that cannot be."""
        if not target.node:
            raise ServerFailed("target.name: Required value")
        stored = self._writes.existing(PODS, key)
        old, pod = stored.document(), stored.document()
        metadata.check_insisted(PODS, old, target.uid, target.resource_version)
        if why := _obstacle(pod):
            raise Conflict(f'Operation cannot be fulfilled on pods/binding "{key.name}": {why}')
        pod.setdefault("spec", {})["nodeName"] = target.node
        if target.annotations:
            told = pod["metadata"].get("annotations") or {}
            pod["metadata"]["annotations"] = told | dict(target.annotations)
        self._tell(pod.setdefault("status", {}))
        return self._writes.finish(PODS, old, pod, dry_run=target.dry_run)

    def _tell(self, status: Json) -> None:
        """Say that the pod has its place, in the place of what was said of that before."""
        since = {"lastProbeTime": None, "lastTransitionTime": to_rfc3339(self._now())}
        fresh = {"type": _SCHEDULED, "status": "True", **since}
        old = status.get("conditions") or []
        if any(it["type"] == _SCHEDULED for it in old):
            status["conditions"] = [fresh if it["type"] == _SCHEDULED else it for it in old]
        else:
            status["conditions"] = [*old, fresh]


def _obstacle(pod: Json) -> str:
    """Say what keeps a pod from getting a node."""
    name, spec = pod["metadata"]["name"], pod.get("spec") or {}
    if "deletionTimestamp" in pod["metadata"]:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if taken := spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{taken}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""
