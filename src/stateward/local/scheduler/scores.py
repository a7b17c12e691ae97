"""Which of the nodes that will do is best: each view of it gives up to 100 points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from stateward.local.controllers.matching import matches_term, tolerates
from stateward.local.scheduler import topology
from stateward.local.scheduler.picture import AT_LEAST, ZONE, Picture, Station
from stateward.local.scheduler.views import NodeView, PodView

_Points = Mapping[str, Fraction]
_View = Callable[[PodView, Picture, Sequence[Station]], _Points]


def best(pod: PodView, picture: Picture, good: Sequence[Station]) -> Station:
    """Return the station with the most points; of equals the emptiest, then the first by name."""
    total: Counter[str] = Counter()
    for weight, view in _VIEWS:
        for name, points in view(pod, picture, good).items():
            total[name] += weight * points  # type: ignore[assignment]  # exact, so that ties are ties
    return min(good, key=lambda it: (-total[it.node.name], len(it.pods), it.node.name))


def _scaled(raw: Mapping[str, Fraction | int], *, less_is_better: bool = False) -> _Points:
    """Spread raw numbers over 0 to 100."""
    low, high = min(raw.values()), max(raw.values())
    if low == high:
        return dict.fromkeys(raw, Fraction(0))
    points = {name: Fraction(it - low) * 100 / (high - low) for name, it in raw.items()}
    return {name: 100 - it for name, it in points.items()} if less_is_better else points


def _few_soft_taints(pod: PodView, _picture: Picture, good: Sequence[Station]) -> _Points:
    raw = {it.node.name: _soft_taints(pod, it.node) for it in good}
    return _scaled(raw, less_is_better=True)


def _soft_taints(pod: PodView, node: NodeView) -> int:
    soft = (taint for taint in node.taints if taint["effect"] == "PreferNoSchedule")
    return sum(1 for taint in soft if not tolerates(pod.tolerations, taint))


def _preferred(pod: PodView, _picture: Picture, good: Sequence[Station]) -> _Points:
    wishes = pod.node_affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    raw = {
        it.node.name: sum(
            wish["weight"]
            for wish in wishes
            if matches_term(wish["preference"], it.node.name, it.node.labels)
        )
        for it in good
    }
    return _scaled(raw)


def _good_company(pod: PodView, picture: Picture, good: Sequence[Station]) -> _Points:
    welcome = topology.wished(pod, picture)
    raw = {
        it.node.name: sum(
            points for (k, v), points in welcome.items() if it.node.labels.get(k) == v
        )
        for it in good
    }
    return _scaled(raw)


def _even(pod: PodView, picture: Picture, good: Sequence[Station]) -> _Points:
    """Prefer domains with few pods of the same sort, as asked for or as a matter of course."""
    raw: Counter[str] = Counter()
    for spread in (it for it in pod.spreads if not it.required):
        counts = topology.counted(pod, spread, picture, lambda *_, **__: True)
        for it in good:
            raw[it.node.name] += counts[it.node.labels.get(spread.topology_key, "")]
    if not pod.spreads:
        raw = _siblings(pod, picture, good)
    return _scaled({it.node.name: raw[it.node.name] for it in good}, less_is_better=True)


def _siblings(pod: PodView, picture: Picture, good: Sequence[Station]) -> Counter[str]:
    """Count the pods of the same owner on each node and, twice as much, in its zone."""
    zones: Counter[str] = Counter()
    nodes: Counter[str] = Counter()
    for station, other in picture.pods() if pod.owner else ():
        if other.owner == pod.owner and not other.deleting:
            zones[station.node.labels.get(ZONE, "")] += 1
            nodes[station.node.name] += 1
    return Counter(
        {it.node.name: nodes[it.node.name] + 2 * zones[it.node.labels.get(ZONE, "")] for it in good}
    )


def _least_loaded(pod: PodView, _picture: Picture, good: Sequence[Station]) -> _Points:
    return {it.node.name: 100 * (1 - sum(_shares(pod, it), Fraction(0)) / 2) for it in good}


def _balanced(pod: PodView, _picture: Picture, good: Sequence[Station]) -> _Points:
    """Prefer nodes whose processor and memory would be used to the same extent."""
    return {it.node.name: 100 * (1 - abs(_gap(_shares(pod, it)))) for it in good}


def _gap(shares: list[Fraction]) -> Fraction:
    return shares[0] - shares[1]


def _shares(pod: PodView, station: Station) -> list[Fraction]:
    """Return which part of its processor and memory would be used with the pod on it."""
    has = station.node.allocatable
    return [
        min(Fraction(_used(name, station, pod), has[name]), Fraction(1))
        if has.get(name)
        else Fraction(0)
        for name in ("cpu", "memory")
    ]


def _used(name: str, station: Station, pod: PodView) -> int:
    return station.taken[name] + (pod.requests.get(name) or AT_LEAST[name])


_VIEWS: tuple[tuple[int, _View], ...] = (
    (3, _few_soft_taints),
    (2, _preferred),
    (2, _good_company),
    (2, _even),
    (1, _least_loaded),
    (1, _balanced),
)
