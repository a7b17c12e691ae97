"""Binding: the verb that gives a pod its node."""

from __future__ import annotations

from collections.abc import Callable

from stateward.core.moments import to_rfc3339
from stateward.kube.errors import BadRequest, Conflict
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.rules import metadata
from stateward.local.rules.writes import Writes
from stateward.local.store import Stored


class Binding:
    """Gives pods their nodes."""

    def __init__(self, writes: Writes, *, now: Callable[[], float]) -> None:
        self._writes = writes
        self._now = now

    def bind(self, key: ObjectKey, node: str, uid: str = "", *, dry_run: bool = False) -> Stored:
        """Put a pod on a node, for good; raise Conflict when it is on one."""
        if not node:
            raise BadRequest("a binding must name its node in target.name")
        stored = self._writes.existing(PODS, key)
        old, pod = stored.document(), stored.document()
        metadata.check_uid(PODS, key.name, meant=uid, found=stored.uid)
        spec, status = pod.setdefault("spec", {}), pod.setdefault("status", {})
        if "deletionTimestamp" in pod["metadata"]:
            raise _refused(key, f"pod {key.name} is being deleted, cannot be assigned to a host")
        if taken := spec.get("nodeName"):
            raise _refused(key, f'pod {key.name} is already assigned to node "{taken}"')
        spec["nodeName"] = node
        others = [c for c in status.get("conditions") or () if c["type"] != "PodScheduled"]
        since = {"lastProbeTime": None, "lastTransitionTime": to_rfc3339(self._now())}
        status["conditions"] = [*others, {"type": "PodScheduled", "status": "True", **since}]
        return self._writes.finish(PODS, old, pod, dry_run=dry_run)


def _refused(key: ObjectKey, why: str) -> Conflict:
    return Conflict(f'Operation cannot be fulfilled on pods/binding "{key.name}": {why}')
