"""What a StatefulSet says about itself."""

from __future__ import annotations

from stateward.kube.codec import Json
from stateward.local.controllers.workloads.pods import Seen
from stateward.local.controllers.workloads.stateful.plan import View, revision_of


def status(view: View, generation: int, collisions: int) -> Json:
    """Return the status of a set; a field that is None is left out."""
    pods = list(view.pods.values())
    rules = view.rules
    ready = [pod for pod in pods if pod.serves]
    available = [pod for pod in ready if pod.available(rules.min_ready, view.now)]
    updated = _count(pods, view.update)
    said: Json = {
        "observedGeneration": generation,
        "replicas": len(pods),
        "readyReplicas": len(ready) or None,
        "availableReplicas": len(available),
        "currentReplicas": _count(pods, view.current) or None,
        "updatedReplicas": updated or None,
        "currentRevision": view.current,
        "updateRevision": view.update,
        "collisionCount": collisions,
    }
    if rules.rolling and {updated, len(pods), len(ready)} == {rules.replicas}:
        said["currentReplicas"] = updated or None
        said["currentRevision"] = view.update
    return said


def _count(pods: list[Seen], revision: str) -> int:
    return sum(1 for pod in pods if not pod.leaving and revision_of(pod) == revision)
