"""How far apart copies are: so many groups of a kind, and in each so many zones. Pure.

Most layouts ask for zones alone, which is one group of everybody; others want them in several data
halls, or data centers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stateward.emulate.fdb.servers import Server
from stateward.fdb.model import locality

#: Where a disk is: its group, and its zone.
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Spread:
    """So many groups by a locality, and in each so many zones; without a key all are one group."""

    key: str
    groups: int
    each: int

    @property
    def copies(self) -> int:
        """How many copies that makes."""
        return self.groups * self.each

    def place(self, server: Server) -> Place | None:
        """Return where a process is; None: it does not say, so it cannot have a copy."""
        group = server.localities.get(self.key) if self.key else ""
        return None if group is None else (group, server.zone)

    def places(self, servers: Iterable[Server]) -> dict[str, Place]:
        """Return where disks are, of those that say."""
        found = ((it.disk.process_id, self.place(it)) for it in servers)
        return {disk: place for disk, place in found if place is not None}

    def is_met_by(self, places: Iterable[Place]) -> bool:
        """Tell whether there are enough groups with enough zones."""
        return self._full_groups(places) >= self.groups

    def _full_groups(self, places: Iterable[Place]) -> int:
        zones: dict[str, set[str]] = {}
        for group, zone in places:
            zones.setdefault(group, set()).add(zone)
        return sum(len(it) >= self.each for it in zones.values())

    def admits(self, place: Place, chosen: Iterable[Place]) -> bool:
        """Tell whether one more copy may be at a place, beside others."""
        group, _ = place
        taken = list(chosen)
        groups = {it for it, _ in taken}
        has_room = sum(it == group for it, _ in taken) < self.each
        return place not in taken and has_room and (group in groups or len(groups) < self.groups)


def plain(copies: int) -> Spread:
    """Return copies in so many zones, wherever these are."""
    return Spread("", 1, copies)


_HALLS, _CENTERS = locality.DATA_HALL, locality.DATA_CENTER
#: By redundancy: where data is, and where what was just written is.
SPREADS: Final[Mapping[str, tuple[Spread, Spread]]] = {
    "single": (plain(1), plain(1)),
    "double": (plain(2), plain(2)),
    "triple": (plain(3), plain(3)),
    "three_data_hall": (Spread(_HALLS, 3, 1), Spread(_HALLS, 2, 2)),
    "three_data_hall_fallback": (Spread(_HALLS, 2, 1), Spread(_HALLS, 2, 2)),
    "three_datacenter": (Spread(_CENTERS, 3, 2), Spread(_CENTERS, 2, 2)),
    "three_datacenter_fallback": (Spread(_CENTERS, 2, 2), Spread(_CENTERS, 2, 2)),
}
