"""Eviction: deletion that asks a pod's disruption budget first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json
from stateward.kube.errors import Cause, EvictionRefused, ServerFailed
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DISRUPTION_BUDGETS, PODS
from stateward.kube.selector import LabelSelector
from stateward.local.rules.deletion import DeleteOptions, Deletion, check_preconditions
from stateward.local.rules.writes import Author, Writes
from stateward.local.store import Store, Stored

#: Seconds after which a budget that nobody has looked at yet is worth another try.
_RETRY = 10
#: Pods in these phases disrupt nobody when they go.
_IDLE = {"Pending", "Succeeded", "Failed"}
#: What is left on an evicted pod.
_REASON = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


class Eviction:
    """The verb that asks a pod to leave."""

    def __init__(
        self, store: Store, writes: Writes, deletion: Deletion, *, now: Callable[[], float]
    ) -> None:
        self._store = store
        self._writes = writes
        self._deletion = deletion
        self._now = now

    def evict(self, key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of a pod, if its disruption budget has room; the budget pays at once."""
        stored = self._writes.existing(PODS, key)
        pod = stored.document()
        check_preconditions(PODS, pod, options)
        if not _disrupts_nobody(pod):
            self._ask_budget(stored, pod, dry_run=options.dry_run)
        if not options.dry_run:
            self._tell_why(stored, pod)
        # The revision was checked, and saying why may have made another one.
        self._deletion.delete(PODS, key, replace(options, resource_version=""))

    def _ask_budget(self, stored: Stored, pod: Json, *, dry_run: bool) -> None:
        budgets = [
            document
            for it in self._store.all(DISRUPTION_BUDGETS.name, stored.key.namespace)
            if _guards(document := it.document(), stored)
        ]
        if len(budgets) > 1:
            raise ServerFailed(
                "This pod has more than one PodDisruptionBudget,"
                " which the eviction subresource does not support."
            )
        if not budgets or _may_go_unready(pod, budgets[0]):
            return
        _check(budgets[0])
        if not dry_run:
            self._charge(budgets[0], stored.key)

    def _charge(self, budget: Json, pod: ObjectKey) -> None:
        status = budget["status"]
        status["disruptionsAllowed"] -= 1
        disrupted = status.get("disruptedPods") or {}
        status["disruptedPods"] = disrupted | {pod.name: to_rfc3339(self._now())}
        where = ObjectKey(pod.namespace, budget["metadata"]["name"])
        self._writes.update(
            DISRUPTION_BUDGETS, where, budget, Author("kube-apiserver"), subresource="status"
        )

    def _tell_why(self, stored: Stored, pod: Json) -> None:
        """Leave a condition, so that whoever looks at the leaving pod knows."""
        conditions = pod.setdefault("status", {}).get("conditions") or []
        known = [c for c in conditions if c["type"] == _REASON["type"]]
        if any(c.get("reason") == _REASON["reason"] and c["status"] == "True" for c in known):
            return
        others = [c for c in conditions if c not in known]
        since = {"lastProbeTime": None, "lastTransitionTime": to_rfc3339(self._now())}
        pod["status"]["conditions"] = [*others, _REASON | since]
        self._writes.finish(PODS, stored.document(), pod, dry_run=False)


def _guards(budget: Json, pod: Stored) -> bool:
    selector = LabelSelector.from_document((budget.get("spec") or {}).get("selector"))
    return selector.matches(pod.labels)


def _disrupts_nobody(pod: Json) -> bool:
    return (pod.get("status") or {}).get("phase") in _IDLE or "deletionTimestamp" in pod["metadata"]


def _may_go_unready(pod: Json, budget: Json) -> bool:
    """Tell whether a pod that serves nobody may go: by policy, or if enough others serve."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
        return False
    status = budget.get("status", {})
    healthy: int = status.get("currentHealthy", 0)
    desired: int = status.get("desiredHealthy", 0)
    always: bool = (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
    return always or healthy >= desired > 0


def _check(budget: Json) -> None:
    """Raise EvictionRefused when a budget has no room, or when nobody has looked at it yet."""
    meta, status = budget["metadata"], budget.get("status", {})
    if status.get("observedGeneration", 0) < meta.get("generation", 0):
        why = f"The disruption budget {meta['name']} is still being processed by the server."
        raise _refused(why, retry_after=_RETRY)
    if status.get("disruptionsAllowed", 0) <= 0:
        healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
        why = (
            f"The disruption budget {meta['name']} needs {desired} healthy pods"
            f" and has {healthy} currently"
        )
        raise _refused(why, retry_after=None)


def _refused(why: str, *, retry_after: float | None) -> EvictionRefused:
    return EvictionRefused(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        causes=(Cause(reason=EvictionRefused.reason, message=why),),
        retry_after=retry_after,
    )
