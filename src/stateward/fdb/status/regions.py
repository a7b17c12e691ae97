"""Which region a database is run from, what others have of it, and which logs there must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET, UnsetType

from stateward.core.facts import Fact, Unknown
from stateward.fdb.status.document import Region
from stateward.fdb.status.facts import cluster, known, missing, told
from stateward.fdb.status.reading import Status

_USABLE: Final = "cluster.configuration.usable_regions"
_REGIONS: Final = "cluster.configuration.regions"
_TRACKERS: Final = "cluster.data.team_trackers"


@dataclass(frozen=True, slots=True)
class Beside:
    """Whether there must be logs in another region, in satellites now, and in some at any time."""

    remote: bool
    satellites: bool
    any_satellites: bool


def logs_beside(status: Status) -> Fact[Beside]:
    """Return which logs there must be by the configuration."""
    configuration = cluster(status).configuration
    if configuration is UNSET or configuration.usable_regions is UNSET:
        return missing(status, _USABLE)
    if wrong := status.flaw(_REGIONS):
        return Unknown(f"the status cannot be read: {wrong}")
    regions = [] if configuration.regions is UNSET else configuration.regions
    if configuration.usable_regions > 1 and not regions:
        return missing(status, _REGIONS)
    now = _of(regions, cluster(status).active_primary_dc)
    found = Beside(
        configuration.usable_regions > 1,
        any(map(_has_satellites, now)),
        any(map(_has_satellites, regions)),
    )
    return known(status, found)


def _of(regions: Sequence[Region], center: str | UnsetType) -> Sequence[Region]:
    """Return the region of a data center; all of them if none is it."""
    return [it for it in regions if center in _mains(it)] or regions


def _mains(region: Region) -> list[str | UnsetType]:
    centers = [] if region.datacenters is UNSET else region.datacenters
    return [it.id for it in centers if it.id is not UNSET and not it.satellite]


def _has_satellites(region: Region) -> bool:
    """Tell whether anything of a region speaks of satellites, be it only half of what should."""
    centers = [] if region.datacenters is UNSET else region.datacenters
    mode, logs = region.satellite_redundancy_mode, region.satellite_logs
    return bool(mode or logs or any(it.satellite for it in centers))


# -------------------------------------------------------------------------- what they have


@dataclass(frozen=True, slots=True)
class Copies:
    """What a region has: whether it is the one that is written to, and how well it is copied."""

    is_first: bool
    is_healthy: bool
    #: How many copies there are of what has fewest.
    fewest: int


def primary(status: Status) -> Fact[str]:
    """Return the data center that the database is run from."""
    return told(status, cluster(status).active_primary_dc, "cluster.active_primary_dc")


def lag(status: Status) -> Fact[float]:
    """Return for how many seconds the other region is behind."""
    found = cluster(status).datacenter_lag
    if found is UNSET or found.seconds is UNSET:
        return missing(status, "cluster.datacenter_lag")
    return known(status, found.seconds)


def copies(status: Status) -> Fact[tuple[Copies, ...]]:
    """Return what every region has that shall have data; unknown until somebody has looked."""
    data = cluster(status).data
    if data is UNSET or data.team_trackers is UNSET or not data.team_trackers:
        return missing(status, _TRACKERS)
    if wrong := status.flaw(_TRACKERS):
        return Unknown(f"the status cannot be read: {wrong}")
    found = []
    for it in data.team_trackers:
        state = it.state
        if state is UNSET or state.healthy is UNSET or state.min_replicas_remaining is UNSET:
            return missing(status, _TRACKERS)
        found.append(Copies(it.primary is True, state.healthy, state.min_replicas_remaining))
    return known(status, tuple(found))
