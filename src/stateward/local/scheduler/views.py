"""Pods and nodes as the scheduler sees them: read once per version, compared as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.selector import LabelSelector, Operator, Requirement
from stateward.local.controllers.cluster.claims import claims_of
from stateward.local.documents import Document

#: Amounts by resource, in billionths: ``cpu``, ``memory`` and whatever a node says it has.
Amounts = Mapping[str, int]

DEFAULT_SCHEDULER = "default-scheduler"
_FINISHED = {"Succeeded", "Failed"}


@dataclass(frozen=True, slots=True)
class Term:
    """Pods that somebody wants near or far: which ones, in which namespaces, by which label."""

    topology_key: str
    selector: LabelSelector
    namespaces: frozenset[str]
    #: Selects more namespaces by their labels; None selects none.
    namespace_selector: LabelSelector | None = None
    #: How much it is wished for; 0: it is required.
    weight: int = 0

    def means(self, pod: PodView, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        """Tell whether a pod is one of those."""
        if not self.selector.matches(pod.labels):
            return False
        where = pod.key.namespace
        if where in self.namespaces:
            return True
        chosen = self.namespace_selector
        return chosen is not None and chosen.matches(namespaces.get(where, {}))


@dataclass(frozen=True, slots=True)
class Spread:
    """How evenly pods are to lie over the values of a node label."""

    topology_key: str
    max_skew: int
    selector: LabelSelector
    required: bool
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


@dataclass(frozen=True, slots=True)
class PodView:
    """All of a pod that decides where it may run, and who may run beside it."""

    key: ObjectKey
    uid: str
    labels: Mapping[str, str]
    node: str
    owner: str
    requests: Amounts
    ports: tuple[tuple[str, str, int], ...]
    tolerations: tuple[Json, ...]
    node_selector: Mapping[str, str]
    node_affinity: Json
    near: tuple[Term, ...]
    far: tuple[Term, ...]
    spreads: tuple[Spread, ...]
    claims: tuple[str, ...]
    gated: bool
    scheduler: str
    deleting: bool
    finished: bool

    @property
    def pending(self) -> bool:
        """True while it is ours to place."""
        ours = self.scheduler == DEFAULT_SCHEDULER
        return ours and not self.node and not self.deleting and not self.finished


@dataclass(frozen=True, slots=True)
class NodeView:
    """All of a node that decides who may run on it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Json, ...]
    unschedulable: bool
    allocatable: Amounts


def pod_view(pod: Document) -> PodView:
    """Read a pod."""
    spec, meta = pod.spec, pod.metadata
    affinity = spec.get("affinity") or {}
    own = _Reader(meta.namespace, meta.labels)
    return PodView(
        key=meta.key,
        uid=meta.uid,
        labels=meta.labels,
        node=spec.get("nodeName") or "",
        owner=meta.controller.uid if meta.controller else "",
        requests=requests_of(spec),
        ports=tuple(_host_ports(spec)),
        tolerations=tuple(spec.get("tolerations") or ()),
        node_selector=spec.get("nodeSelector") or {},
        node_affinity=affinity.get("nodeAffinity") or {},
        near=tuple(own.terms(affinity.get("podAffinity"))),
        far=tuple(own.terms(affinity.get("podAntiAffinity"))),
        spreads=tuple(own.spreads(spec.get("topologySpreadConstraints"))),
        claims=tuple(claims_of(meta.name, spec)),
        gated=bool(spec.get("schedulingGates")),
        scheduler=spec.get("schedulerName") or DEFAULT_SCHEDULER,
        deleting=meta.deleting,
        finished=pod.status.get("phase") in _FINISHED,
    )


def node_view(node: Document) -> NodeView:
    """Read a node; one that does not say what it has, has no end of it."""
    spec, status = node.spec, node.status
    has = status.get("allocatable") or status.get("capacity") or {}
    return NodeView(
        name=node.metadata.name,
        labels=node.metadata.labels,
        taints=tuple(spec.get("taints") or ()),
        unschedulable=bool(spec.get("unschedulable")),
        allocatable={name: nano(amount) for name, amount in has.items()},
    )


def requests_of(spec: Json) -> Amounts:
    """Return what a pod asks for: its containers together, or the largest step of its start."""
    total: dict[str, int] = {}
    for container in spec.get("containers") or ():
        _add(total, _requests(container))
    sidecars: dict[str, int] = {}
    start: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        wants = dict(_requests(container))
        if container.get("restartPolicy") == "Always":
            _add(sidecars, wants)
            _add(total, wants)
            wants = {}
        _add(wants, sidecars)
        start = {name: max(start.get(name, 0), wants.get(name, 0)) for name in start | wants}
    largest = {name: max(total.get(name, 0), start.get(name, 0)) for name in total | start}
    _add(largest, {name: nano(it) for name, it in (spec.get("overhead") or {}).items()})
    return largest


@lru_cache(maxsize=1024)
def nano(amount: str | int | float) -> int:
    """Return a quantity in billionths; one that cannot be read asks for nothing."""
    try:
        return Quantity.parse(str(amount)).nano
    except ValueError:
        return 0


def _requests(container: Json) -> Amounts:
    resources = container.get("resources") or {}
    said = (resources.get("limits") or {}) | (resources.get("requests") or {})
    return {name: nano(amount) for name, amount in said.items()}


def _add(total: dict[str, int], more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _host_ports(spec: Json) -> Iterator[tuple[str, str, int]]:
    for container in spec.get("containers") or ():
        for port in container.get("ports") or ():
            number = port.get("hostPort") or (spec.get("hostNetwork") and port["containerPort"])
            if number:
                yield port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", number  # noqa: S104 - the address in a manifest that means any


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads what a pod says about other pods; by default it means those of its namespace."""

    namespace: str
    labels: Mapping[str, str]

    def terms(self, affinity: Json | None) -> Iterator[Term]:
        said = affinity or {}
        for term in said.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            yield self._term(term, 0)
        for wish in said.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield self._term(wish["podAffinityTerm"], wish["weight"])

    def spreads(self, constraints: Iterable[Json] | None) -> Iterator[Spread]:
        for it in constraints or ():
            yield Spread(
                it["topologyKey"],
                it["maxSkew"],
                self._selector(it),
                it.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
                it.get("minDomains") or 1,
                it.get("nodeAffinityPolicy", "Honor") == "Honor",
                it.get("nodeTaintsPolicy") == "Honor",
            )

    def _term(self, term: Json, weight: int) -> Term:
        chosen = term.get("namespaceSelector")
        named = frozenset(term.get("namespaces") or ())
        return Term(
            term["topologyKey"],
            self._selector(term),
            named if named or chosen is not None else frozenset({self.namespace}),
            LabelSelector.from_document(chosen) if chosen is not None else None,
            weight,
        )

    def _selector(self, said: Mapping[str, Any]) -> LabelSelector:
        selector = LabelSelector.from_document(said.get("labelSelector"))
        same = tuple(
            Requirement(key, Operator.IN, frozenset({self.labels[key]}))
            for key in said.get("matchLabelKeys") or ()
            if key in self.labels
        )
        return LabelSelector((*selector.requirements, *same))
