"""ReplicaSets: so many pods of a template, whichever they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stateward.core.outcome import DONE, Outcome, Retry, Wait
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, Conflict
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local import conditions
from stateward.local.catalog import REPLICA_SETS
from stateward.local.controllers.desk import Workplace
from stateward.local.controllers.workloads import custody
from stateward.local.controllers.workloads.hands import Hands
from stateward.local.controllers.workloads.pods import (
    Seen,
    from_template,
    labels_of,
    moment,
    name_prefix,
    next_available,
    number,
    owner_reference,
    selector_of,
    template_of,
)
from stateward.local.controllers.workloads.waking import owner_or_adopter
from stateward.local.documents import Document
from stateward.runtime import triggers

_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
#: How many pods are made or ended in one pass: others shall have their turn, too.
BURST = 50
_FAILURE = "ReplicaFailure"


@dataclass(frozen=True, slots=True)
class Plan:
    """How many pods to make, and which to end."""

    make: int = 0
    end: tuple[Seen, ...] = ()


def plan(replicas: int, pods: Sequence[Seen]) -> Plan:
    """Decide what brings the number of active pods to what is asked for."""
    active = [pod for pod in pods if pod.active]
    missing = replicas - len(active)
    if missing >= 0:
        return Plan(make=min(missing, BURST))
    return Plan(end=tuple(dispensable_first(active)[: min(-missing, BURST)]))


def dispensable_first(pods: Sequence[Seen]) -> list[Seen]:
    """Return pods in the order in which they are given up.

    First what runs nowhere, then what does not run, is not ready, is cheap, shares its node with
    most others, was ready last, restarted most, and is youngest.
    """
    crowd = Counter(pod.node for pod in pods)

    def rank(pod: Seen) -> tuple[bool | float | str, ...]:
        return (
            bool(pod.node),
            _PHASES.get(pod.phase, 1),
            pod.ready,
            _cost(pod),
            -crowd[pod.node],
            -(pod.ready_since or 0.0),
            -pod.restarts,
            -(moment(pod.metadata.creation_timestamp) or 0.0),
            pod.name,
        )

    return sorted(pods, key=rank)


def status(owner: Document, pods: Sequence[Seen], now: float, problem: str = "") -> Json:
    """Return what a set says about itself; a field that is None is left out."""
    spec = owner.spec
    wanted = labels_of(template_of(spec)).items()
    min_ready = number(spec, "minReadySeconds", 0)
    active = [pod for pod in pods if pod.active]
    return {
        "observedGeneration": owner.metadata.generation,
        "replicas": len(active),
        "fullyLabeledReplicas": _count(wanted <= pod.metadata.labels.items() for pod in active),
        "readyReplicas": _count(pod.ready for pod in active),
        "availableReplicas": _count(pod.available(min_ready, now) for pod in active),
        "terminatingReplicas": sum(1 for pod in pods if pod.ending),
        "conditions": _conditions(owner.status, now, problem) or None,
    }


def _conditions(old: Json, now: float, problem: str) -> list[Json]:
    past: list[Json] = old.get("conditions") or []
    if not problem:
        return conditions.without(past, _FAILURE)
    said = conditions.condition(_FAILURE, "True", "FailedCreate", problem)
    return conditions.merged(past, said, now)


def _count(held: Iterable[bool]) -> int | None:
    return sum(held) or None


def _cost(pod: Seen) -> int:
    text = pod.metadata.annotations.get(_COST_ANNOTATION, "0")
    return int(text) if text.removeprefix("-").isdecimal() else 0


class ReplicaSets:
    """Brings ReplicaSets closer to what they ask for."""

    def __init__(self, desk: Workplace) -> None:
        self._desk = desk
        self._hands = Hands(desk, REPLICA_SETS)
        self._chance = desk.ports.chance.stream("pods of replica sets")

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Give one set a pass."""
        owner = self._desk.cache(REPLICA_SETS).get(key)
        if owner is None:
            return DONE
        cache, meta, spec = self._desk.cache(PODS), owner.metadata, owner.spec
        belonging = custody.judge(
            meta,
            selector_of(spec),
            cache.find("owner", meta.uid),
            cache.find("orphans", meta.namespace),
        )
        if await self._hands.take_care(PODS, owner, belonging):
            return Wait("Adopting", "pods changed hands")
        pods = [Seen.of(pod) for pod in belonging.kept]
        now = self._desk.ports.clock.now()
        decided = Plan() if meta.deleting else plan(number(spec, "replicas", 1), pods)
        try:
            await self._carry_out(owner, decided)
        except Conflict:
            raise
        except ApiError as error:
            await self._hands.report(owner, status(owner, pods, now, str(error)))
            raise
        await self._hands.report(owner, status(owner, pods, now))
        wait = next_available(pods, number(spec, "minReadySeconds", 0), now)
        if wait is None:
            return DONE
        return Retry(wait, "MinReadySeconds", "waits for pods to stay ready")

    async def _carry_out(self, owner: Document, decided: Plan) -> None:
        for _ in range(decided.make):
            await self._make(owner)
        for pod in decided.end:
            await self._hands.delete(PODS, pod.metadata)
            await self._hands.tell(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    async def _make(self, owner: Document) -> None:
        # We draw the name, so that a pod whose creation got no answer can be looked up.
        prefix = name_prefix(owner.metadata.name)
        metadata = {
            "name": f"{prefix}{self._chance.suffix()}",
            "generateName": prefix,
            "namespace": owner.metadata.namespace,
            "ownerReferences": [owner_reference(REPLICA_SETS, owner.metadata)],
        }
        body = from_template(template_of(owner.spec), metadata)
        try:
            made = await self._hands.create(PODS, body)
        except Conflict:
            raise
        except ApiError as error:
            await self._hands.tell(owner, "FailedCreate", f"Error creating: {error}", warning=True)
            raise
        await self._hands.tell(owner, "SuccessfulCreate", f"Created pod: {made.metadata.name}")


def employ(desk: Workplace) -> None:
    """Have the ReplicaSets of a cluster looked after."""
    desk.add(
        "replicaset",
        ReplicaSets(desk),
        ((REPLICA_SETS, triggers.itself), (PODS, owner_or_adopter(desk, REPLICA_SETS))),
    )
