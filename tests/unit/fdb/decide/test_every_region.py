"""Every way from some regions to others, over all small layouts there are; none by chance.

Every layout of up to two regions, with or without satellites, with every order of who would rather
write, is led to every other one; and so is whatever a way goes through, since people change their
minds in the middle. With ``STATEWARD_REGIONS=all`` there is one more data center, and copies change
with regions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import Final, NamedTuple

from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.configuration.refusals import Seen, objection
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.fdb.decide.configuration import differs, in_order, next_step
from stateward.fdb.model.configuration import Configuration, DataCenter, Redundancy, Region

ALL: Final = os.environ.get("STATEWARD_REGIONS") == "all"
CENTERS: Final = "abcd" if ALL else "abc"
MODES: Final = ("double", "triple") if ALL else ("double",)
#: Who would rather write: the first; both alike; the first alone.
PRIORITIES: Final = ((1, 0), (1, 1), (1, -1), *(((0, -2),) if ALL else ()))
SATELLITES: Final = ((), ("x",), ("x", "y"))
#: Layouts, layouts that only lie between others, ways, and steps of the longest way.
COUNTED: Final = (109, 126, 25_615, 10)
COUNTED_ALL: Final = (554, 504, 586_132, 12)
#: More steps than any way takes: two regions become two others.
MOST: Final = 15


def region(name: str, priority: int, beside: tuple[str, ...]) -> Region:
    centers = (
        DataCenter(name, priority),
        *(DataCenter(it, 1, satellite=True) for it in beside),
    )
    mode = ("", "one_satellite_double", "two_satellite_fast")[len(beside)]
    return Region(centers, 2 * len(beside), mode)


def layouts() -> Iterator[Configuration]:
    for mode in MODES:
        yield Configuration(redundancy=mode)
        for name, priority, beside in product(CENTERS, (0, 1), SATELLITES):
            yield Configuration(redundancy=mode, regions=(region(name, priority, beside),))
        for names, wants, beside, usable in product(
            permutations(CENTERS, 2), PRIORITIES, SATELLITES, (1, 2)
        ):
            both = (region(names[0], wants[0], beside), region(names[1], wants[1], beside))
            yield Configuration(redundancy=mode, usable_regions=usable, regions=in_order(both))


EVERY: Final = tuple(dict.fromkeys(layouts()))


# ------------------------------------------------------------------ what a layout is
def mains(it: Configuration) -> frozenset[str]:
    return frozenset(one.main.id for one in it.regions if one.main is not None)


@cache
def leaders(it: Configuration) -> frozenset[str]:
    """Return who writes; of several that want to alike, nobody knows."""
    most = max((one.priority for one in it.regions), default=0)
    return frozenset(
        one.main.id for one in it.regions if one.main is not None and one.priority == most
    )


@cache
def with_data(it: Configuration) -> frozenset[str]:
    """Return who has all data, once it is copied; without regions it may be anywhere."""
    if not it.regions:
        return frozenset(CENTERS)
    return mains(it) if it.usable_regions > 1 else leaders(it)


@cache
def settings(it: Configuration) -> Settings:
    return Settings().changed(tokens.read(["new", *it.tokens()]))


@cache
def refused(before: Configuration, after: Configuration) -> str:
    """Return what the database says against a step, when everybody has what they shall have."""
    held = with_data(before) & mains(after) if not before.regions else with_data(before)
    return objection(settings(before), tokens.read(after.tokens()), Seen(9, held))


@cache
def satellite_logs(it: Configuration) -> int:
    """Return how many satellites see what is written, of the worst that may write."""
    return min(
        (
            sum(beside.satellite for beside in one.data_centers)
            for one in it.regions
            if one.priority >= 0
        ),
        default=0,
    )


def tolerates(it: Configuration) -> int:
    return Redundancy(it.redundancy).fault_tolerance


class Low(NamedTuple):
    """How little there is somewhere: zones that may go, satellites that see what is written, and
    regions that have all data.
    """

    zones: int
    satellites: int
    regions: int

    def or_less(self, other: Low) -> Low:
        return Low(*map(min, self, other))


def low(it: Configuration) -> Low:
    return Low(tolerates(it), satellite_logs(it), it.usable_regions)


# ------------------------------------------------------------------ ways
class Way:
    """All ways to one target, each place worked out once: how far it is, and how low it goes."""

    def __init__(self, target: Configuration) -> None:
        self.target = target
        #: By where one stands: steps that are left, and the lowest of all that are to come.
        self.found: dict[Configuration, tuple[int, Low]] = {}

    def walk(self, live: Configuration) -> tuple[int, Low]:
        """Return how many steps it takes, and how low it goes on the whole way, both ends too."""
        stack: list[Configuration] = []
        while live not in self.found and differs(live, self.target):
            assert len(stack) < MOST, f"there is no end: {stack}"
            stack.append(live)
            step = next_step(live, self.target)
            judge(live, step, self.target)
            live = step
        known = self.found.setdefault(live, (0, low(live)))
        for it in reversed(stack):
            many, lowest = known
            known = self.found[it] = (many + 1, lowest.or_less(low(it)))
        return known


def judge(live: Configuration, step: Configuration, target: Configuration) -> None:
    """See that one step is legal, has a writer with data, and gives nothing up that both have."""
    words = f"{live} to {step} for {target}"
    assert refused(live, step) == "", words
    if step.regions:
        assert any(it.priority >= 0 for it in step.regions), words
        assert leaders(step) & with_data(live), f"who writes has no data: {words}"
        kept = with_data(live) & with_data(step)
        assert kept, f"the only copy is given up: {words}"
    assert tolerates(step) >= min(tolerates(live), tolerates(target)), words
    assert satellite_logs(step) >= min(satellite_logs(live), satellite_logs(target)), words


def test_every_way_is_legal_ends_and_gives_nothing_up_on_the_way() -> None:
    many, longest = 0, 0
    known = set(EVERY)
    between: set[Configuration] = set()
    ways = [Way(it) for it in EVERY]
    for way in ways:
        for live in EVERY:
            steps, lowest = way.walk(live)
            many, longest = many + 1, max(longest, steps)
            ends = low(live).or_less(low(way.target))
            assert lowest[:2] == ends[:2], f"lower than both ends: {live}, {way.target}"
            # A database knows two regions: a third one takes the place of one of them.
            same = mains(live) == mains(way.target)
            assert lowest.regions == ends.regions or not same, (live, way.target)
        between |= way.found.keys() - known
    for way in ways:
        for live in between:  # somebody wants something else in the middle
            steps, _ = way.walk(live)
            many, longest = many + 1, max(longest, steps)
    assert longest <= (12 if ALL else 11), "as many as from two regions to two others"
    assert between, "some ways lead through what nobody asks for"
    assert many == len(EVERY) * (len(EVERY) + len(between))
    # As docs/foundationdb/topologies.md has it.
    assert (len(EVERY), len(between), many, longest) == (COUNTED_ALL if ALL else COUNTED)
