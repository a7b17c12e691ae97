"""From some regions to others, one legal move after another.

The database takes no other regions and another number of usable ones together, and that number
changes only while one region alone may write. A region that becomes the first before it has the
data loses what it has not. So a region comes with a priority below 0, then it is made usable and
gets the data, then it may write; and one that goes takes the same way back. Between two moves data
must be copied, which guards see to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from stateward.fdb.model.configuration import Region

#: How many regions a database has at most while it moves.
_MOST: Final = 2
#: The priority of one that shall write, and of one that must not.
_FIRST, _NEVER = 1, -1


@dataclass(frozen=True, slots=True)
class Layout:
    """How many regions have data, and which there are; those first that would rather write."""

    usable: int
    regions: tuple[Region, ...]

    @property
    def writers(self) -> tuple[str, ...]:
        """Who may write, the most wanted first."""
        return tuple(_name(it) for it in self.regions if it.priority >= 0)

    @property
    def names(self) -> frozenset[str]:
        """The data centers that have or get data."""
        return frozenset(map(_name, self.regions))

    def led_by(self, name: str) -> Layout:
        """Return the same with one region that may write, and no other."""
        return self.with_priorities(lambda it: _FIRST if it == name else _NEVER)

    def with_priorities(self, of: Callable[[str], int]) -> Layout:
        """Return the same with other priorities."""
        return replace(self, regions=tuple(_wanting(it, of(_name(it))) for it in self.regions))


def next_move(live: Layout, wanted: Layout) -> Layout | None:
    """Return the next layout on the way; None: all that differs can be changed at once.

    Of what is wanted, if there are regions, one may write.
    """
    if live == wanted:
        return None
    if not live.regions:
        return _first(wanted) if wanted.regions else None
    if not live.writers:
        return live.led_by(_name(live.regions[0]))
    if not wanted.regions:
        return _without_regions(live)
    found = _towards(_refreshed(live, wanted), wanted)
    if found.usable != live.usable:
        return replace(found, regions=live.regions)
    return None if found == live else found


def _towards(live: Layout, wanted: Layout) -> Layout:
    extra = [it for it in reversed(live.regions) if _name(it) not in wanted.names]
    if extra:
        return _less(live, _name(extra[0]), wanted)
    if wanted.names - live.names and len(live.regions) < _MOST:
        return _more(live, wanted)
    return _shifted(live, wanted)


def _first(wanted: Layout) -> Layout:
    """Return the first regions there ever are: the one that shall write, and whoever follows it."""
    return Layout(1, wanted.regions[:_MOST]).led_by(_name(wanted.regions[0]))


def _without_regions(live: Layout) -> Layout:
    """Return the next on the way to no regions at all: data is brought into one of them first."""
    if len(live.regions) == 1:
        return Layout(1, live.regions if live.usable > 1 else ())
    kept = next(it for it in live.regions if _name(it) == live.writers[0])
    gone = next(it for it in reversed(live.regions) if it != kept)
    return _less(live, _name(gone), Layout(1, (kept,)))


def _refreshed(live: Layout, wanted: Layout) -> Layout:
    """Return what is, with satellites and the like as wanted."""
    by_name = {_name(it): it for it in wanted.regions}
    found = [_wanting(by_name.get(_name(it), it), it.priority) for it in live.regions]
    return replace(live, regions=tuple(found))


def _less(live: Layout, going: str, wanted: Layout) -> Layout:
    """Return the next on the way to be without a region."""
    if len(live.regions) == 1:
        return _more(live, wanted)
    stays = next(_name(it) for it in live.regions if _name(it) != going)
    if going not in live.writers:
        if live.usable > 1:
            return _usable(live, len(live.regions) - 1)
        left = tuple(it for it in live.regions if _name(it) != going)
        return replace(live, regions=left)
    if live.usable >= len(live.regions):
        return live.led_by(stays)
    # Only one has the data: that which would rather write. It gives it to the other one first.
    return _usable(live, len(live.regions))


def _more(live: Layout, wanted: Layout) -> Layout:
    """Return the same with the most wanted region that is not there yet, which must not write."""
    new = next(it for it in wanted.regions if _name(it) not in live.names)
    found = replace(live, regions=(*live.regions, _wanting(new, _NEVER)))
    return found.led_by(live.writers[0])


def _shifted(live: Layout, wanted: Layout) -> Layout:
    """Return the next where all regions are there that shall be."""
    leader, many = wanted.writers[0], len(live.regions)
    target, others = min(wanted.usable, many), leader != live.writers[0]
    if live.usable < target or (others and live.usable < many):
        return _usable(live, many if others else target)
    if live.usable > target:
        return _usable(live, target) if live.writers == (leader,) else live.led_by(leader)
    return replace(live, regions=wanted.regions)


def _usable(live: Layout, many: int) -> Layout:
    """Return the same with another number of usable regions, or what must come before."""
    if len(live.writers) > 1:
        return live.led_by(live.writers[0])
    return replace(live, usable=many)


def _name(region: Region) -> str:
    return region.main.id if region.main is not None else ""


def _wanting(region: Region, priority: int) -> Region:
    centers = [it if it.satellite else replace(it, priority=priority) for it in region.data_centers]
    return replace(region, data_centers=tuple(centers))
