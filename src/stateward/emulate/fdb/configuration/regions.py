"""Regions: data centers that have everything, with satellites for what was just written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

#: By the redundancy of satellites: how many copies of what was just written they have.
SATELLITES: Final[Mapping[str, int]] = {
    "one_satellite_single": 1,
    "one_satellite_double": 2,
    "one_satellite_triple": 3,
    "two_satellite_safe": 4,
    "two_satellite_fast": 4,
}
#: How many regions a database can have.
MOST: Final = 2


@dataclass(frozen=True, slots=True)
class Region:
    """One data center that can have everything, how much it is wanted, and its satellites."""

    center: str
    priority: int = 0
    satellites: tuple[str, ...] = ()
    satellite_copies: int = 0
    satellite_logs: int = 0

    @property
    def is_wanted(self) -> bool:
        """Whether the database may be run from there."""
        return self.priority >= 0


def read(documents: Sequence[Any] | None) -> tuple[Region, ...]:
    """Return regions, those first that are wanted most; one without data centers is none."""
    found = [it for one in documents or () if isinstance(one, dict) for it in _regions(one)]
    return tuple(sorted(found, key=lambda it: -it.priority))


def _regions(document: Mapping[str, Any]) -> Iterator[Region]:
    centers = [it for it in document.get("datacenters") or () if "id" in it]
    mains = [it for it in centers if not it.get("satellite")]
    others = [it for it in centers if it.get("satellite")]
    if not mains:
        return
    copies = SATELLITES.get(str(document.get("satellite_redundancy_mode", "")), 0)
    best = max(mains, key=lambda it: int(it.get("priority", 0)))
    yield Region(
        center=str(best["id"]),
        priority=int(best.get("priority", 0)),
        satellites=tuple(str(it["id"]) for it in sorted(others, key=_priority, reverse=True)),
        satellite_copies=copies,
        satellite_logs=int(document.get("satellite_logs", copies)) if copies else 0,
    )


def _priority(center: Mapping[str, Any]) -> int:
    return int(center.get("priority", 0))


def is_nonsense(documents: Sequence[Any] | None) -> bool:
    """Tell whether a data center is in two regions, or twice in one, or a satellite lacks."""
    found = read(documents)
    every = [it.center for it in found]
    lacking = any(it.satellite_copies and not it.satellites for it in found)
    twice = any(_is_twice([it.center, *it.satellites]) for it in found)
    return _is_twice(every) or lacking or twice


def _is_twice(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)
