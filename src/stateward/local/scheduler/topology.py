"""Pods beside pods: near some, far from others, and evenly over zones.

All of it is about domains: the nodes that share a value of a label are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from stateward.local.scheduler.picture import Picture, Reason, Station
from stateward.local.scheduler.views import NodeView, PodView, Spread, Term

_Check = Callable[[PodView, Station], Iterable[Reason]]


class Eligible(Protocol):
    """Tells whether a node counts when pods are spread."""

    def __call__(self, pod: PodView, node: NodeView, *, affinity: bool, taints: bool) -> bool:
        """Judge by what the constraint honours."""


def counted(pod: PodView, spread: Spread, picture: Picture, eligible: Eligible) -> Counter[str]:
    """Return how many pods that the constraint means are in each domain, empty ones included."""
    counts: Counter[str] = Counter()
    keys = {it.topology_key for it in pod.spreads if it.required == spread.required}
    for station in picture.stations:
        node = station.node
        domain = node.labels.get(spread.topology_key)
        if domain is None or not keys <= node.labels.keys():
            continue
        if eligible(pod, node, affinity=spread.honor_affinity, taints=spread.honor_taints):
            counts[domain] += sum(1 for other in station.pods if _counts(other, pod, spread))
    return counts


def _counts(other: PodView, pod: PodView, spread: Spread) -> bool:
    same = other.key.namespace == pod.key.namespace
    return same and not other.deleting and spread.selector.matches(other.labels)


def uneven(pod: PodView, picture: Picture, eligible: Eligible) -> _Check:
    """Return the filter that keeps pods from crowding in one domain."""
    known = [
        (it, counted(pod, it, picture, eligible), int(it.selector.matches(pod.labels)))
        for it in pod.spreads
        if it.required
    ]

    def check(_pod: PodView, station: Station) -> Iterator[Reason]:
        words = "node(s) didn't match pod topology spread constraints"
        for spread, counts, itself in known:
            domain = station.node.labels.get(spread.topology_key)
            if domain is None:
                yield Reason(f"{words} (missing required label)")
                return
            fewest = min(counts.values(), default=0) if len(counts) >= spread.min_domains else 0
            if counts[domain] + itself - fewest > spread.max_skew:
                yield Reason(words, passes=True)
                return

    return check


def kept_away(pod: PodView, picture: Picture) -> _Check:
    """Return the filter of required nearness and distance, the pod's own and that of others."""
    near = tuple(term for term in pod.near if not term.weight)
    far = tuple(term for term in pod.far if not term.weight)
    company = _company(near, picture)
    lonely = not company and all(term.means(pod, picture.namespaces) for term in near)
    crowd = {term: _domains((term,), picture) for term in far}
    closed = set(_closed(pod, picture))

    def check(_pod: PodView, station: Station) -> Iterator[Reason]:
        labels = station.node.labels
        if not all(_accompanied(term, labels.get(term.topology_key)) for term in near):
            yield Reason("node(s) didn't match pod affinity rules")
        elif any(labels.get(term.topology_key) in crowd[term] for term in far):
            yield Reason("node(s) didn't match pod anti-affinity rules", passes=True)
        elif any((key, value) in closed for key, value in labels.items()):
            yield Reason("node(s) didn't satisfy existing pods anti-affinity rules", passes=True)

    def _accompanied(term: Term, domain: str | None) -> bool:
        return domain is not None and (lonely or (term.topology_key, domain) in company)

    return check


def _company(near: tuple[Term, ...], picture: Picture) -> set[tuple[str, str]]:
    """Return the domains where there are pods that all the terms mean."""
    found: set[tuple[str, str]] = set()
    for station, other in picture.pods() if near else ():
        if all(term.means(other, picture.namespaces) for term in near):
            labels = station.node.labels
            keys = (term.topology_key for term in near)
            found.update((key, labels[key]) for key in keys if key in labels)
    return found


def _domains(terms: Iterable[Term], picture: Picture) -> Counter[str]:
    """Return the domains where there are pods that a term means, and how many."""
    found: Counter[str] = Counter()
    for term in terms:
        for station, other in picture.pods():
            domain = station.node.labels.get(term.topology_key)
            if domain is not None and term.means(other, picture.namespaces):
                found[domain] += 1
    return found


def _closed(pod: PodView, picture: Picture) -> Iterator[tuple[str, str]]:
    """Yield the domains that pods which are there keep this one out of."""
    keepers = (
        (station.node.labels, term)
        for station in picture.stations
        for other in station.far
        for term in other.far
        if not term.weight
    )
    for labels, term in keepers:
        if (domain := labels.get(term.topology_key)) and term.means(pod, picture.namespaces):
            yield term.topology_key, domain


def wished(pod: PodView, picture: Picture) -> Counter[tuple[str, str]]:
    """Return how welcome the pod is in each domain, by its own wishes and by those of others."""
    score: Counter[tuple[str, str]] = Counter()
    wishes = any(term.weight for term in (*pod.near, *pod.far))
    for station in picture.stations:
        for other in station.pods if wishes else station.choosy:
            for term, weight in _wishes_between(pod, other, picture):
                domain = station.node.labels.get(term.topology_key, "")
                score[term.topology_key, domain] += weight
    return score


def _wishes_between(pod: PodView, other: PodView, picture: Picture) -> Iterator[tuple[Term, int]]:
    """Yield what two pods wish of each other, and how much."""
    for sign, mine, theirs in ((1, pod.near, other.near), (-1, pod.far, other.far)):
        for term in (*_meant(mine, other, picture), *_meant(theirs, pod, picture)):
            yield term, sign * term.weight


def _meant(terms: Iterable[Term], pod: PodView, picture: Picture) -> Iterator[Term]:
    return (it for it in terms if it.weight and it.means(pod, picture.namespaces))
