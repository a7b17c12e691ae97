"""Which nodes a pod may run on, and why not on the others, in the words that people know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from stateward.local.controllers.matching import KEEPS_OUT, matches_terms, tolerates
from stateward.local.scheduler import topology
from stateward.local.scheduler.picture import Picture, Reason, Station
from stateward.local.scheduler.views import NodeView, PodView
from stateward.local.scheduler.volumes import Impossible, problems_with

#: Says why a station will not do for a pod; nothing when it will.
Filter: TypeAlias = Callable[[PodView, Station], Iterable[Reason]]

_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_ANY = "0.0.0.0"  # noqa: S104 - the address in a manifest that means any
_UNIT = 10**9
_NO_HELP = "Preemption is not helpful for scheduling"
_NO_VICTIM = "No preemption victims found for incoming pod"


def refusals(pod: PodView, picture: Picture) -> tuple[list[Station], list[tuple[Reason, ...]]]:
    """Return the stations that will do, and the reasons of each of the others."""
    checks = _checks(pod, picture)
    good: list[Station] = []
    refused: list[tuple[Reason, ...]] = []
    for station in picture.stations:
        reasons = next(filter(None, (tuple(check(pod, station)) for check in checks)), ())
        if reasons:
            refused.append(reasons)
        else:
            good.append(station)
    return good, refused


def message(refused: Sequence[tuple[Reason, ...]]) -> str:
    """Return the sentence that people look for in the events of a pod that nobody takes.

    It ends as in a cluster where all pods are equally important: none is ended for another.
    """
    if not refused:
        return "no nodes available to schedule pods"
    head = f"0/{len(refused)} nodes are available: "
    why = _listed(reason.text for reasons in refused for reason in reasons)
    ends = _listed(
        _NO_VICTIM if all(it.passes for it in reasons) else _NO_HELP for reasons in refused
    )
    return f"{head}{why}. no new claims to deallocate, preemption: {head}{ends}."


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(f"{count} {text}" for text, count in Counter(texts).items()))


def impossible(picture: Picture) -> str | None:
    """Return why no node at all will do, whatever it is like."""
    nodes = len(picture.stations)
    found = (it.why for it in picture.wishes if isinstance(it, Impossible))
    why = next(found, None)
    return None if why is None else f"0/{nodes} nodes are available: {why}. not found"


def _checks(pod: PodView, picture: Picture) -> tuple[Filter, ...]:
    """Return the filters in the order in which they are asked: the cheap ones first."""
    return (
        _not_named(pod),
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


def _unschedulable(pod: PodView, station: Station) -> Iterable[Reason]:
    if station.node.unschedulable and not tolerates(pod.tolerations, _CORDON):
        yield Reason("node(s) were unschedulable")


def _tainted(pod: PodView, station: Station) -> Iterable[Reason]:
    if _untolerated(pod, station.node):
        yield Reason("node(s) had untolerated taint(s)")


def _untolerated(pod: PodView, node: NodeView) -> list[dict[str, str]]:
    hard = (taint for taint in node.taints if taint["effect"] in KEEPS_OUT)
    return [taint for taint in hard if not tolerates(pod.tolerations, taint)]


def _not_named(pod: PodView) -> Filter:
    """Return the filter of a pod that names its nodes: the others are not even looked at."""
    names = _names(pod)

    def check(_pod: PodView, station: Station) -> Iterable[Reason]:
        if names is not None and station.node.name not in names:
            yield Reason("node(s) didn't satisfy plugin(s) [NodeAffinity]")

    return check


def _names(pod: PodView) -> set[Any] | None:
    """Return the nodes that a pod asks for by name; None when it asks in another way too."""
    required = pod.node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    found: set[Any] = set()
    for term in required.get("nodeSelectorTerms") or ():
        named = [it for it in term.get("matchFields") or () if it["operator"] == "In"]
        if not named:
            return None
        found |= set.intersection(*(set(it.get("values") or ()) for it in named))
    return found or None


def _not_meant(pod: PodView, station: Station) -> Iterable[Reason]:
    if not is_meant(pod, station.node):
        yield Reason("node(s) didn't match Pod's node affinity/selector")


def _ports_taken(pod: PodView, station: Station) -> Iterable[Reason]:
    taken = [port for other in station.pods for port in other.ports] if pod.ports else ()
    if any(_collide(mine, theirs) for mine in pod.ports for theirs in taken):
        yield Reason("node(s) didn't have free ports for the requested pod ports", passes=True)


def _collide(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or _ANY in {one[0], other[0]})


def _too_full(pod: PodView, station: Station) -> Iterable[Reason]:
    has = station.node.allocatable
    if "pods" in has and (len(station.pods) + 1) * _UNIT > has["pods"]:
        yield Reason("Too many pods", passes=True)
    for name, amount in pod.requests.items():
        told = name in has or name not in {"cpu", "memory", "ephemeral-storage"}
        if amount and told and station.used.get(name, 0) + amount > has.get(name, 0):
            yield Reason(f"Insufficient {name}", passes=amount <= has.get(name, 0))


def _volumes(picture: Picture) -> Filter:
    def check(_pod: PodView, station: Station) -> Iterable[Reason]:
        problems = problems_with(picture.wishes, station.node)
        return [Reason(text) for text in dict.fromkeys(problems)]

    return check
