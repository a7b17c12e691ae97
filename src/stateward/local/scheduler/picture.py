"""The cluster as one decision sees it: stations, which are nodes with the pods that are on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from stateward.local.scheduler.views import NodeView, PodView
from stateward.local.scheduler.volumes import Wish

#: What a pod that asks for nothing is taken to use, in billionths.
AT_LEAST = {"cpu": 10**8, "memory": 200 * 2**20 * 10**9}
ZONE = "topology.kubernetes.io/zone"


class Reason(NamedTuple):
    """Why a node will not do for a pod."""

    text: str
    #: Whether it could do if other pods were gone.
    passes: bool = False


class Station:
    """A node and the pods that use it up: those bound to it that have not finished."""

    def __init__(self, node: NodeView, pods: Iterable[PodView] = ()) -> None:
        self.node = node
        self.pods = tuple(pod for pod in pods if not pod.finished)

    @cached_property
    def used(self) -> Mapping[str, int]:
        """What its pods ask for together."""
        total: dict[str, int] = {}
        for pod in self.pods:
            for name, amount in pod.requests.items():
                total[name] = total.get(name, 0) + amount
        return total

    @cached_property
    def taken(self) -> Mapping[str, int]:
        """What its pods use together, where one that asks for nothing uses a little."""
        return {
            name: sum(pod.requests.get(name) or least for pod in self.pods)
            for name, least in AT_LEAST.items()
        }

    @cached_property
    def choosy(self) -> tuple[PodView, ...]:
        """Its pods that would like some others near, or far."""
        return tuple(pod for pod in self.pods if any(it.weight for it in (*pod.near, *pod.far)))

    @cached_property
    def far(self) -> tuple[PodView, ...]:
        """Its pods that keep others away."""
        return tuple(pod for pod in self.pods if any(not term.weight for term in pod.far))


@dataclass(frozen=True, slots=True)
class Picture:
    """What there is, ordered by name, and what the pod in question wants of volumes."""

    stations: tuple[Station, ...]
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wishes: tuple[Wish, ...] = ()

    def pods(self) -> Iterator[tuple[Station, PodView]]:
        """Yield every pod, with where it is."""
        return ((station, pod) for station in self.stations for pod in station.pods)
