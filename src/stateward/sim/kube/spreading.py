"""Pods keep away from each other: how unwelcome one is on a node, by what it says of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stateward.kube.codec import Json
from stateward.kube.resources import PODS
from stateward.kube.selector import LabelSelector, Operator, Requirement
from stateward.local.api import Api
from stateward.sim.kube.lodgers import Lodger, Node

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
#: What a term weighs that is a must: more than all that are not.
_MUST: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Term:
    """Whom a pod keeps away from, in which sense of nearness, and how much it wants that."""

    weight: int
    topology: str
    selector: LabelSelector

    def means(self, pod: Json) -> bool:
        """Tell whether another pod is one of those."""
        return self.selector.matches(pod["metadata"].get("labels") or {})


def labels_of(node: Node) -> dict[str, str]:
    """Return the labels by which nodes are near to each other."""
    return {HOSTNAME: node.name, **({ZONE: node.zone} if node.zone else {})}


def crowding(api: Api, lodgers: Iterable[Lodger], pod: Json, node: Node) -> int:
    """Return how much a pod would rather not be on a node, by its anti-affinity."""
    terms = list(_terms(pod))
    if not terms:
        return 0
    here, found = labels_of(node), 0
    for it in lodgers:
        stored = api.store.get(PODS.name, it.key)
        if stored is None or stored.uid != it.uid:
            continue
        other, there = stored.document(), labels_of(it.node)
        found += sum(
            term.weight
            for term in terms
            if term.topology in here
            and here[term.topology] == there.get(term.topology)
            and term.means(other)
        )
    return found


def spread(pod: Json) -> list[Json]:
    """Return over what a pod wants to be spread evenly, with others."""
    return list(pod["spec"].get("topologySpreadConstraints") or ())


def _terms(pod: Json) -> Iterator[_Term]:
    own: Json = pod["metadata"].get("labels") or {}
    for it in spread(pod):  # as few as possible of them together is even, too
        yield _term(_MUST, it, own)
    away = ((pod["spec"].get("affinity") or {}).get("podAntiAffinity")) or {}
    for it in away.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        yield _term(_MUST, it, own)
    for it in away.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
        yield _term(int(it.get("weight", 1)), it["podAffinityTerm"], own)


def _term(weight: int, said: Json, own: Json) -> _Term:
    selector = LabelSelector.from_document(said.get("labelSelector"))
    alike = tuple(
        Requirement(key, Operator.IN, frozenset({own[key]}))
        for key in said.get("matchLabelKeys") or ()
        if key in own
    )
    return _Term(weight, said["topologyKey"], LabelSelector((*selector.requirements, *alike)))
