"""How many processes of each class a cluster needs: from its roles and what it shall survive.

Counts are of pods. Whatever the spec says is taken as it is: 0 stands for "work it out", and -1 for
"none of these".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration, Redundancy, Region

NONE: Final = -1
#: Roles that FoundationDB has where nobody says how many.
_LOGS, _HALL_LOGS, _GRV_PROXIES, _COMMIT_PROXIES, _RESOLVERS = 3, 4, 1, 2, 1
#: Where proxies of both kinds are asked for as one number: one in so many gives out versions, up to
#: so many.
_SHARE_OF_GRV, _MOST_GRV = 4, 4
#: Roles that one process each has, with the class that is made for nothing else.
_SINGLES: Final = (
    ProcessClass.MASTER,
    ProcessClass.CLUSTER_CONTROLLER,
    ProcessClass.RATEKEEPER,
    ProcessClass.DATA_DISTRIBUTOR,
)
_HALLS: Final = {Redundancy.THREE_DATA_HALL, Redundancy.THREE_DATA_HALL_FALLBACK}


@dataclass(frozen=True, slots=True)
class Roles:
    """How many of each role there are, with what nobody said filled in."""

    storage: int
    logs: int
    grv_proxies: int
    commit_proxies: int
    resolvers: int
    remote_logs: int
    log_routers: int

    def without_state(self, counts: Mapping[ProcessClass, int]) -> int:
        """Return how many processes those roles want that have no state, and no class of their own.

        A role is had by processes of its own class where there are any.
        """

        def left(many: int, *apart: ProcessClass) -> int:
            return 0 if any(counts.get(it, 0) > 0 for it in apart) else many

        wanted = (
            *(left(1, it) for it in _SINGLES),
            left(self.resolvers, ProcessClass.RESOLUTION),
            left(self.grv_proxies, ProcessClass.GRV_PROXY, ProcessClass.PROXY),
            left(self.commit_proxies, ProcessClass.COMMIT_PROXY, ProcessClass.PROXY),
        )
        return max(sum(wanted), self.log_routers)


@dataclass(frozen=True, slots=True)
class Share:
    """The part of one Kubernetes cluster, where each of several is a fault domain."""

    index: int
    zones: int

    def of(self, count: int) -> int:
        """Return this one's part; the first ones have what is left over.

        >>> [Share(it, 3).of(7) for it in range(3)]
        [3, 2, 2]
        """
        if self.index < 0:
            return NONE
        return count // self.zones + (1 if self.index < count % self.zones else 0)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the spec says that bears on counts."""

    configuration: Configuration = field(default_factory=Configuration)
    #: How many storage servers the spec asks for, as a role; None: it does not.
    storage: int | None = None
    counts: Mapping[ProcessClass, int] = field(default_factory=dict)
    data_center: str = ""
    share: Share | None = None

    @property
    def redundancy(self) -> Redundancy:
        """How many copies there are."""
        return Redundancy(self.configuration.redundancy)


def roles(wish: Wish) -> Roles:
    """Return how many of each role there shall be.

    >>> roles(Wish()).logs, roles(Wish()).storage
    (3, 3)
    """
    told, tolerance = wish.configuration, wish.redundancy.fault_tolerance
    logs = told.logs or (_HALL_LOGS if wish.redundancy in _HALLS else _LOGS)
    grv, commit = _proxies(told)
    far = logs if told.usable_regions > 1 else 0
    return Roles(
        storage=wish.storage or 2 * tolerance + 1,
        logs=logs,
        grv_proxies=grv,
        commit_proxies=commit,
        resolvers=told.resolvers or _RESOLVERS,
        remote_logs=(told.remote_logs or far) if far else 0,
        log_routers=(told.log_routers or far) if far else 0,
    )


def _proxies(told: Configuration) -> tuple[int, int]:
    """Return proxies that give out versions, and those that commit."""
    if told.proxies and not told.commit_proxies and not told.grv_proxies:
        grv = max(1, min(_MOST_GRV, told.proxies // _SHARE_OF_GRV))
        return grv, max(1, told.proxies - grv)
    return told.grv_proxies or _GRV_PROXIES, told.commit_proxies or _COMMIT_PROXIES


def process_counts(wish: Wish) -> dict[ProcessClass, int]:
    """Return how many pods of each class there shall be; a class that is not there has none.

    >>> {str(name): it for name, it in process_counts(Wish()).items()}
    {'storage': 3, 'log': 4, 'stateless': 9}
    """
    found = _satellite(wish) if _is_satellite_only(wish) else _computed(wish)
    if wish.share is not None:
        found = {name: wish.share.of(it) for name, it in found.items()}
    told = {name: it for name, it in wish.counts.items() if it != 0}
    return {name: it for name, it in {**found, **told}.items() if it > 0}


def _computed(wish: Wish) -> dict[ProcessClass, int]:
    wanted, spare = roles(wish), wish.redundancy.fault_tolerance
    here = wanted.logs + _satellite_logs(wish)
    return {
        ProcessClass.STORAGE: wanted.storage,
        ProcessClass.LOG: max(here, wanted.remote_logs) + spare,
        ProcessClass.STATELESS: wanted.without_state(wish.counts) + spare,
    }


def _satellite(wish: Wish) -> dict[ProcessClass, int]:
    """Return what a data center needs that has logs for others and nothing of its own."""
    return {ProcessClass.LOG: 1 + _satellite_logs(wish)}


def _is_satellite_only(wish: Wish) -> bool:
    mine = _centers(wish.configuration.regions, wish.data_center)
    return bool(mine) and all(mine)


def _centers(regions: Iterable[Region], name: str) -> list[bool]:
    """Return for each region that has a data center whether it is a satellite there."""
    return [it.satellite for region in regions for it in region.data_centers if it.id == name]


def _satellite_logs(wish: Wish) -> int:
    """Return the most logs that any region wants of this data center as its satellite."""
    wanted = [
        region.satellite_logs
        for region in wish.configuration.regions
        if any(it.satellite and it.id == wish.data_center for it in region.data_centers)
    ]
    return max(wanted, default=0)
