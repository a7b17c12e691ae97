"""Every plan of a family, by number: nothing is written down, anything can be picked.

The order is that of a stride which meets every plan once and jumps far each time. So whoever lives
only the first hundred has an even sample of all calls and faults, and whoever lives all has all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import gcd
from typing import Final, Protocol

from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.sim.explore.menus import OPERATORS, SAMPLED, SMALL, Menu, menu
from stateward.sim.explore.scenes import Scene
from stateward.sim.faults import Family, Fault, Hit, Plan
from stateward.sim.lives import Ask
from stateward.sim.sites import Site

#: The letter under which plans of two faults go.
TWO: Final = "2"

#: How many plans of two faults are drawn for each call.
_TWO_A_CALL: Final = 4

#: A second fault comes at most so many calls after the first: then the first has done its worst.
_SOON: Final = 60

#: Which two families are put together: the ones that hide most from single faults, and any.
_COUPLES: Final = (
    (Family.ZOMBIE, Family.WORLD),
    (Family.PAST, Family.WORLD),
    (Family.CRASH, Family.CRASH),
    None,
)

LETTERS: Final = (*(it.value for it in Family), TWO)


class Space(Protocol):
    """Plans of one letter in one scene."""

    @property
    def letter(self) -> str:
        """The family, or that of two faults."""

    @property
    def scene(self) -> Scene:
        """The scene that they are for."""

    @property
    def possible(self) -> int:
        """How many there are."""

    @property
    def size(self) -> int:
        """How many of them are offered: all, or a sample."""

    def ask(self, number: int) -> Ask:
        """Return one of those offered, counted from 0."""


@dataclass(frozen=True)
class Singles:
    """Every plan of one fault of a family."""

    family: Family
    scene: Scene

    @property
    def letter(self) -> str:
        """The family."""
        return self.family.value

    @property
    def possible(self) -> int:
        """How many there are."""
        return self._ends[-1] if self._ends else 0

    @property
    def size(self) -> int:
        """How many of them are offered."""
        a_call = SAMPLED.get(self.family)
        if self.family is Family.PAST and len(self.scene.calm.calls) > SMALL:
            a_call = 1
        sample = a_call * len(self.scene.sites) if a_call else self.possible
        return min(sample, self.possible)

    def ask(self, number: int) -> Ask:
        """Return one of them; neighbours are far from each other."""
        return self.at(strided(number, self.possible))

    def at(self, index: int) -> Ask:
        """Return one of all there are, in the order of calls."""
        return _asked(self.scene, Plan((self.hit(index),)))

    def hit(self, index: int) -> Hit:
        """Return one fault, in the order of calls."""
        place = bisect_right(self._ends, index)
        before = self._ends[place - 1] if place else 0
        site = self.scene.sites[place]
        return Hit(site.number, pick(menu(self.family, self.scene, site), index - before))

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(size_of(self._menu(it)) for it in self.scene.sites))

    def _menu(self, site: Site) -> Menu:
        return menu(self.family, self.scene, site)


@dataclass(frozen=True)
class Couples:
    """A sample of the plans of two faults, drawn by number."""

    scene: Scene
    letter: str = TWO

    @property
    def size(self) -> int:
        """How many are drawn."""
        return _TWO_A_CALL * len(self.scene.sites)

    @property
    def possible(self) -> int:
        """How many there are, if the second comes soon after the first."""
        a_call = [sum(size_of(menu(f, self.scene, it)) for f in Family) for it in self.scene.sites]
        return sum(one * sum(a_call[n : n + _SOON]) for n, one in enumerate(a_call))

    def ask(self, number: int) -> Ask:
        """Return one of them: the first call by stride, the rest by chance."""
        chance = Chance(self.scene.ask.seed, f"two/{self.scene.ask.scenario}/{number}")
        couple = _COUPLES[number % len(_COUPLES)] or _any_two(chance)
        sites = self.scene.sites
        first = strided(number, self.size) * len(sites) // max(1, self.size)
        second = min(first + chance.below(_SOON), len(sites) - 1)
        hits = (
            self._drawn(chance, couple[0], sites[first]),
            self._drawn(chance, couple[1], sites[second]),
        )
        return _asked(self.scene, Plan(tuple(it for it in hits if it is not None)))

    def _drawn(self, chance: Chance, family: Family, site: Site) -> Hit | None:
        offered = menu(family, self.scene, site)
        size = size_of(offered)
        return Hit(site.number, pick(offered, chance.below(size))) if size else None


def _any_two(chance: Chance) -> tuple[Family, Family]:
    families = tuple(Family)
    return chance.choice(families), chance.choice(families)


def spaces(scenes: Iterable[Scene], letters: str) -> list[Space]:
    """Return the plans of all these letters in all these scenes.

    A family that needs several operators takes the scenes that have them.
    """
    found: list[Space] = []
    for scene in scenes:
        for letter in letters:
            if scene.ask.operators == operators(letter):
                space = Couples(scene) if letter == TWO else Singles(Family(letter), scene)
                found.append(space)
    return [it for it in found if it.size]


def operators(letter: str) -> int:
    """Return how many operators plans of a letter need."""
    return 2 if letter == TWO else OPERATORS.get(Family(letter), 1)


def read_letters(text: str) -> str:
    """Return the letters that somebody asked for, each once and in order; nothing means all."""
    asked = text.upper().replace(",", "").replace(" ", "")
    if unknown := [it for it in asked if it not in LETTERS]:
        known = "".join(LETTERS)
        raise UsageError(f"--family must be letters of {known}; got {''.join(unknown)!r}")
    return "".join(it for it in LETTERS if it in asked or not asked)


def in_turn(spaces: Sequence[Space]) -> Iterator[tuple[Space, Ask]]:
    """Yield every plan, one of each space in turn, so that a short run has something of all."""
    left = [(it, iter(range(it.size))) for it in spaces]
    while left:
        staying = []
        for space, numbers in left:
            number = next(numbers, None)
            if number is not None:
                yield space, space.ask(number)
                staying.append((space, numbers))
        left = staying


def strided(number: int, size: int) -> int:
    """Return the number's place in an order that jumps: a permutation of all numbers below size.

    >>> [strided(n, 8) for n in range(8)]
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    return number * _stride(size) % size


def _stride(size: int) -> int:
    """Return a step near the golden part of the size, which shares no factor with it."""
    step = max(1, round(size * 0.6180339887))
    while gcd(step, size) != 1:
        step += 1
    return step


def size_of(offered: Menu) -> int:
    """Return how many faults are on a menu."""
    return sum(it.size for it in offered)


def pick(offered: Menu, number: int) -> Fault:
    """Return one fault of a menu."""
    for choice in offered:
        if number < choice.size:
            return choice.pick(number)
        number -= choice.size
    raise IndexError(number)


def _asked(scene: Scene, plan: Plan) -> Ask:
    calm = scene.ask
    return Ask(calm.scenario, plan, calm.seed, calm.operators)


def read_ask(text: str) -> Ask:
    """Return what is to be lived, as ``str`` of it wrote it."""
    words = text.split()
    given = dict(zip(words[::2], words[1::2], strict=False))
    known = {"--scenario", "--plan", "--seed", "--operators"}
    numbers = [given.get(it, "1") for it in ("--seed", "--operators")]
    is_whole = len(words) == 2 * len(given) and given.keys() <= known and "--scenario" in given
    if not is_whole or not all(it.isdecimal() for it in numbers):
        raise UsageError(f"a life must be written as --scenario NAME --plan PLAN ...; got {text!r}")
    plan = Plan.parse(given.get("--plan", ""))
    return Ask(given["--scenario"], plan, *map(int, numbers))
