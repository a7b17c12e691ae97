"""Which nodes a pod may run on, and why not on the others, in the words that people know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeAlias

from stateward.local.controllers.matching import KEEPS_OUT, matches_terms, tolerates
from stateward.local.scheduler import topology
from stateward.local.scheduler.picture import Picture, Station
from stateward.local.scheduler.views import NodeView, PodView
from stateward.local.scheduler.volumes import Impossible, problem_with

#: Says why a station will not do for a pod; nothing when it will.
Filter: TypeAlias = Callable[[PodView, Station], Iterable[str]]

_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_ANY = "0.0.0.0"  # noqa: S104 - the address in a manifest that means any
_UNIT = 10**9


def refusals(pod: PodView, picture: Picture) -> tuple[list[Station], Counter[str]]:
    """Return the stations that will do, and how often each reason refused another one."""
    checks = _checks(pod, picture)
    good: list[Station] = []
    why: Counter[str] = Counter()
    for station in picture.stations:
        reasons = next(filter(None, (tuple(check(pod, station)) for check in checks)), ())
        why.update(reasons)
        if not reasons:
            good.append(station)
    return good, why


def message(why: Counter[str], nodes: int) -> str:
    """Return the sentence that people look for in the events of a pod that nobody takes."""
    if not nodes:
        return "no nodes available to schedule pods"
    parts = sorted(f"{count} {reason}" for reason, count in why.items())
    return f"0/{nodes} nodes are available: {', '.join(parts)}."


def impossible(picture: Picture) -> str | None:
    """Return why no node at all will do, whatever it is like."""
    nodes = len(picture.stations)
    found = (it.why for it in picture.wishes if isinstance(it, Impossible))
    why = next(found, None)
    return None if why is None else f"0/{nodes} nodes are available: {why}."


def _checks(pod: PodView, picture: Picture) -> tuple[Filter, ...]:
    """Return the filters in the order in which they are asked: the cheap ones first."""
    return (
        _unschedulable,
        _tainted,
        _not_meant,
        _ports_taken,
        _too_full,
        _volumes(picture),
        topology.uneven(pod, picture, _eligible),
        topology.kept_away(pod, picture),
    )


def is_meant(pod: PodView, node: NodeView) -> bool:
    """Tell whether a node is one of those that the pod asks for by label or name."""
    if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    required = pod.node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = (required or {}).get("nodeSelectorTerms") or ()
    return required is None or matches_terms(terms, node.name, node.labels)


def _eligible(pod: PodView, node: NodeView, *, affinity: bool, taints: bool) -> bool:
    """Tell whether a node counts when pods are spread: by what the constraint honours."""
    if affinity and not is_meant(pod, node):
        return False
    return not taints or not _untolerated(pod, node)


def _unschedulable(pod: PodView, station: Station) -> Iterable[str]:
    if station.node.unschedulable and not tolerates(pod.tolerations, _CORDON):
        yield "node(s) were unschedulable"


def _tainted(pod: PodView, station: Station) -> Iterable[str]:
    for taint in _untolerated(pod, station.node)[:1]:
        value = taint.get("value") or ""
        yield f"node(s) had untolerated taint {{{taint['key']}: {value}}}"


def _untolerated(pod: PodView, node: NodeView) -> list[dict[str, str]]:
    hard = (taint for taint in node.taints if taint["effect"] in KEEPS_OUT)
    return [taint for taint in hard if not tolerates(pod.tolerations, taint)]


def _not_meant(pod: PodView, station: Station) -> Iterable[str]:
    if not is_meant(pod, station.node):
        yield "node(s) didn't match Pod's node affinity/selector"


def _ports_taken(pod: PodView, station: Station) -> Iterable[str]:
    taken = [port for other in station.pods for port in other.ports] if pod.ports else ()
    if any(_collide(mine, theirs) for mine in pod.ports for theirs in taken):
        yield "node(s) didn't have free ports for the requested pod ports"


def _collide(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or _ANY in {one[0], other[0]})


def _too_full(pod: PodView, station: Station) -> Iterable[str]:
    has = station.node.allocatable
    if "pods" in has and (len(station.pods) + 1) * _UNIT > has["pods"]:
        yield "Too many pods"
    for name, amount in pod.requests.items():
        told = name in has or name not in {"cpu", "memory", "ephemeral-storage"}
        if amount and told and station.used.get(name, 0) + amount > has.get(name, 0):
            yield f"Insufficient {name}"


def _volumes(picture: Picture) -> Filter:
    def check(_pod: PodView, station: Station) -> Iterable[str]:
        problems = (problem_with(wish, station.node) for wish in picture.wishes)
        return dict.fromkeys(filter(None, problems))

    return check
