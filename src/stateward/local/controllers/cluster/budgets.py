"""The status of disruption budgets: how many pods must stay, how many do, and how many may go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stateward.core.moments import from_rfc3339
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import Object, ObjectKey, OwnerReference
from stateward.kube.resources import DEPLOYMENTS, DISRUPTION_BUDGETS, PODS, STATEFUL_SETS
from stateward.kube.selector import LabelSelector
from stateward.local.catalog import REPLICA_SETS
from stateward.local.conditions import with_condition
from stateward.local.controllers.desk import Workplace
from stateward.local.documents import Document, loosely
from stateward.runtime.triggers import itself

#: Seconds in which an evicted pod must begin to go, or it counts as staying again.
PATIENCE: Final = 120.0

_BUDGETS = loosely(DISRUPTION_BUDGETS)
_SCALED = {it.kind: it for it in (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS)}


@dataclass(frozen=True, slots=True)
class Count:
    """The numbers of a budget."""

    expected: int
    desired: int
    healthy: int
    #: Pods that were evicted and have not begun to go yet, and since when.
    disrupted: dict[str, str]

    @property
    def allowed(self) -> int:
        """How many may go now."""
        return max(self.healthy - self.desired, 0) if self.expected > 0 else 0


def count(spec: Json, status: Json, pods: Sequence[Document], expected: int, now: float) -> Count:
    """Count the pods of a budget; ``expected`` is how many their owners want."""
    disrupted = _disrupted(status, pods, now)
    healthy = sum(
        1
        for pod in pods
        if not pod.metadata.deleting and pod.metadata.name not in disrupted and _is_ready(pod)
    )
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None:
        desired = max(expected - share(most, expected), 0)
    elif isinstance(least, str):
        desired = share(least, expected)
    else:
        expected, desired = len(pods), least or 0
    return Count(expected, desired, healthy, disrupted)


def share(said: int | str, whole: int) -> int:
    """Return a number, or that many of a hundred of the whole, rounded up.

    >>> share("50%", 3), share(2, 3)
    (2, 2)
    """
    if isinstance(said, int):
        return said
    return -(-int(said.rstrip("%")) * whole // 100)


def _disrupted(status: Json, pods: Sequence[Document], now: float) -> dict[str, str]:
    there = {pod.metadata.name: pod for pod in pods}
    return {
        name: since
        for name, since in (status.get("disruptedPods") or {}).items()
        if name in there
        and not there[name].metadata.deleting
        and from_rfc3339(since) + PATIENCE > now
    }


def _is_ready(pod: Document) -> bool:
    conditions = pod.status.get("conditions") or ()
    return any(it["type"] == "Ready" and it["status"] == "True" for it in conditions)


def new_status(counted: Count, old: Json, generation: int, now: float) -> Json:
    """Return the status that says it."""
    condition = {
        "type": "DisruptionAllowed",
        "status": "True" if counted.allowed else "False",
        "reason": "SufficientPods" if counted.allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": generation,
    }
    return {
        "expectedPods": counted.expected,
        "desiredHealthy": counted.desired,
        "currentHealthy": counted.healthy,
        "disruptionsAllowed": counted.allowed,
        "observedGeneration": generation,
        "disruptedPods": counted.disrupted,
        "conditions": with_condition(old.get("conditions") or [], condition, now),
    }


class Budgets:
    """Keeps the status of budgets."""

    def __init__(self, desk: Workplace) -> None:
        self._desk = desk

    def guarding(self, pod: Object) -> Iterable[ObjectKey]:
        """Wake the budgets that select a pod."""
        for budget in self._desk.cache(DISRUPTION_BUDGETS):
            meta = budget.metadata
            if meta.namespace == pod.metadata.namespace and _guards(budget, pod):
                yield meta.key

    def beside(self, workload: Object) -> Iterable[ObjectKey]:
        """Wake the budgets in the namespace of a workload, whose scale may have changed."""
        namespace = workload.metadata.namespace
        found = (it.metadata.key for it in self._desk.cache(DISRUPTION_BUDGETS))
        return [key for key in found if key.namespace == namespace]

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Count the pods of one budget."""
        budget = self._desk.cache(DISRUPTION_BUDGETS).get(key)
        if budget is None or budget.metadata.deleting:
            return DONE
        now, old = self._desk.ports.clock.now(), budget.status
        pods = self._pods(budget)
        counted = count(budget.spec, old, pods, self._expected(pods), now)
        new = new_status(counted, old, budget.metadata.generation, now)
        if any((old.get(name) or _empty(value)) != value for name, value in new.items()):
            await self._write(budget, old, new)
        if not counted.disrupted:
            return DONE
        first = min(from_rfc3339(since) for since in counted.disrupted.values())
        why = "an evicted pod has not begun to go"
        return Retry(max(first + PATIENCE - now, 1.0), "Disrupted", why)

    def _pods(self, budget: Document) -> list[Document]:
        namespace = budget.metadata.namespace
        pods = (it for it in self._desk.cache(PODS) if it.metadata.namespace == namespace)
        return sorted((it for it in pods if _guards(budget, it)), key=lambda it: it.metadata.key)

    def _expected(self, pods: Sequence[Document]) -> int:
        """Return how many pods the owners want; an owner without a scale wants what it has."""
        owners: dict[str, int] = {}
        for pod in pods:
            if (owner := pod.metadata.controller) is not None:
                uid, scale = self._scale(owner, pod.metadata.namespace)
                owners[uid] = scale if scale is not None else owners.get(uid, 0) + 1
        return sum(owners.values())

    def _scale(self, owner: OwnerReference, namespace: str) -> tuple[str, int | None]:
        resource = _SCALED.get(owner.kind)
        if resource is None or resource.api_version != owner.api_version:
            return owner.uid, None
        found = self._desk.cache(resource).get(ObjectKey(namespace, owner.name))
        if found is None or found.metadata.uid != owner.uid:
            return owner.uid, None
        if (above := found.metadata.controller) is not None:
            uid, scale = self._scale(above, namespace)
            if scale is not None:
                return uid, scale
        replicas: int | None = found.spec.get("replicas")
        return owner.uid, 1 if replicas is None else replicas

    async def _write(self, budget: Document, old: Json, new: Json) -> None:
        gone = dict.fromkeys(old.get("disruptedPods") or (), None)
        status: Json = new | {"disruptedPods": {**gone, **new["disruptedPods"]}}
        version = {"resourceVersion": budget.metadata.resource_version}
        patch = MergePatch({"metadata": version, "status": status})
        key = budget.metadata.key
        await self._desk.client.patch(_BUDGETS, key, patch, subresource="status")


def _empty(value: Any) -> Any:
    return type(value)()


def _guards(budget: Document, pod: Object) -> bool:
    selector = LabelSelector.from_document(budget.spec.get("selector"))
    return selector.matches(pod.metadata.labels)


def employ(desk: Workplace) -> None:
    """Have budgets say how many pods may go."""
    budgets = Budgets(desk)
    desk.add(
        "disruption-budgets",
        budgets,
        (
            (DISRUPTION_BUDGETS, itself),
            (PODS, budgets.guarding),
            *((it, budgets.beside) for it in _SCALED.values()),
        ),
    )
