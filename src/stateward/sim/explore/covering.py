"""The order in which plans are lived: each fault at each place in the code first, among others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from stateward.sim.explore.judging import Met
from stateward.sim.explore.menus import menu
from stateward.sim.explore.plans import TWO, Singles, Space, in_turn
from stateward.sim.explore.scenes import place
from stateward.sim.lives import Ask
from stateward.sim.sites import Site

#: A place that many scenarios come to is met in one of so many of them.
_CHOICES: Final = 5


def feasible(space: Space) -> Iterator[tuple[Met, int]]:
    """Yield every place and fault that plans of a space bring together, with one such plan."""
    for _, met, index in _offered(space):
        yield met, index


def _offered(space: Space) -> Iterator[tuple[Site, Met, int]]:
    if not isinstance(space, Singles):
        return
    index = 0
    for site in space.scene.sites:
        where = place(site)
        for choice in menu(space.family, space.scene, site):
            if choice.size:
                yield site, Met(where, choice.title), index + choice.size // 2
            index += choice.size


def covering(spaces: Sequence[Space]) -> Iterator[tuple[Space, Ask]]:
    """Yield one plan for each fault at each place, from families and scenarios in turn.

    Where operators of several data centers come to a place, each of them has a plan of its own.
    """
    letters = dict.fromkeys(it.letter for it in spaces)
    found = [
        list(_meetings([it for it in spaces if it.letter == letter]).values()) for letter in letters
    ]
    for number in range(max(map(len, found), default=0)):
        for meetings in found:
            if number < len(meetings):
                known = meetings[number]
                space, index = known[number % len(known)]
                yield space, space.at(index)


def _meetings(spaces: Sequence[Space]) -> dict[tuple[Met, str], list[tuple[Singles, int]]]:
    """Return where each fault meets each operator at each place.

    In a few scenarios, the first time in each.
    """
    found: dict[tuple[Met, str], list[tuple[Singles, int]]] = {}
    for space in spaces:
        here: set[tuple[Met, str]] = set()
        for site, met, index in _offered(space):
            meeting = (met, _center(site))
            known = found.setdefault(meeting, [])
            if meeting not in here and len(known) < _CHOICES and isinstance(space, Singles):
                here.add(meeting)
                known.append((space, index))
    return found


def _center(site: Site) -> str:
    """Return the data center whose operator it is; empty: there is one only.

    >>> _center(Site(1, "op0-dc1.1", "get pods", "", writes=False))
    'dc1'
    """
    return site.process.partition(".")[0].partition("-")[2]


def ordered(spaces: Sequence[Space]) -> Iterator[tuple[Space, Ask]]:
    """Yield every plan once: in turn one that meets what no other has met, and one of any kind.

    Of two faults at once there are only the latter, and late calls are among them from the start.
    """
    first = list(covering(spaces))
    early = {ask for _, ask in first}
    rest = (it for it in in_turn(spaces) if it[0].letter == TWO or it[1] not in early)
    for it in first:
        yield it
        yield from islice(rest, 1)
    yield from rest
