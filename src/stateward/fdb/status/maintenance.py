"""Is somebody at work in a zone, so that its processes may be away?"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status

_PATHS = ("cluster.maintenance_zone", "cluster.maintenance_seconds_remaining", "cluster.processes")


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A zone, and for how many seconds more."""

    zone: str
    seconds: float

    def __str__(self) -> str:
        """Say so; minutes are enough, and whoever is told is not told anew every second.

        >>> str(Maintenance("z5", 61.5))
        'zone z5 is under maintenance for at most 120 s more'
        """
        return f"zone {self.zone} is under maintenance for at most {self._minutes * 60} s more"

    @property
    def _minutes(self) -> int:
        return max(1, ceil(self.seconds / 60))


def maintenance(status: Status) -> Fact[Maintenance | None]:
    """Return the zone under maintenance; Known(None): there is none.

    A document without a word of it says that there is none, if nothing else of it is missing.
    """
    seen = cluster(status)
    zone, left = seen.maintenance_zone, seen.maintenance_seconds_remaining
    if zone is not UNSET and left is not UNSET:
        return known(status, Maintenance(zone, left))
    if zone is not UNSET or left is not UNSET:
        return missing(status, *_PATHS[:2])
    if seen.processes is UNSET or not seen.processes:
        return missing(status, _PATHS[2])
    if wrong := status.flaw(*_PATHS):
        return Unknown(f"the status cannot be read: {wrong}")
    if any(it.under_maintenance is True for it in seen.processes.values()):
        return Unknown("processes are under maintenance, and no zone is named")
    return known(status, None)
