"""Where bugs are hunted: calm lives of every scenario and a sample of the others.

Of each it is known which lines of the product it comes through: a bug shows only where it runs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Final

from stateward.sim.explore.menus import menu
from stateward.sim.explore.plans import Space, in_turn, operators, pick, size_of, spaces
from stateward.sim.explore.scenes import Scene
from stateward.sim.faults import Family, Plan
from stateward.sim.lives import Ask, Life
from stateward.sim.mutants.generated import MODULES, PACKAGE
from stateward.sim.products import ETCD, live

#: The families that are tried when nothing is known of a bug.
FAMILIES: Final = "AKBDFCGIJ"

#: A module, without the first part of its name, and a line of it.
Line = tuple[str, int]


@dataclass(frozen=True)
class Spot:
    """A life without a bug, and the lines that it comes through."""

    life: Life
    reached: frozenset[Line] = frozenset()

    @property
    def ask(self) -> Ask:
        """What was lived."""
        return self.life.ask


@dataclass(frozen=True)
class Ground:
    """All places to hunt in."""

    #: Calm lives, the shortest first.
    calm: tuple[Spot, ...]
    #: A sample of the others.
    stormy: tuple[Spot, ...] = ()

    def scene(self, ask: Ask) -> Scene | None:
        """Return the scene of a life."""
        same = (ask.scenario, ask.operators, ask.seed)
        for it in self.calm:
            if (it.ask.scenario, it.ask.operators, it.ask.seed) == same:
                return Scene(it.life)
        return None

    def life(self, ask: Ask) -> Life | None:
        """Return a life as it is without a bug."""
        return next((it.life for it in (*self.calm, *self.stormy) if it.ask == ask), None)

    def of(self, scenario: str) -> Ground:
        """Return the ground of one scenario."""
        calm = tuple(it for it in self.calm if it.ask.scenario == scenario)
        return Ground(calm, tuple(it for it in self.stormy if it.ask.scenario == scenario))

    def reaching(self, lines: Iterable[Line]) -> Ground:
        """Return where one of some lines runs."""
        wanted = frozenset(lines)
        calm = tuple(it for it in self.calm if wanted & it.reached)
        return Ground(calm, tuple(it for it in self.stormy if wanted & it.reached))

    def planned(self, letters: str = FAMILIES) -> Iterator[Ask]:
        """Yield plans of some families, of each scene in turn."""
        for _, ask in in_turn(spaces((Scene(it.life) for it in self.calm), letters)):
            yield ask

    def at(self, letters: str, call: str) -> Iterator[Ask]:
        """Yield every plan of some families at calls of a certain kind."""
        for scene in (Scene(it.life) for it in self.calm):
            for letter in letters:
                if operators(letter) == scene.ask.operators:
                    yield from _at(scene, Family(letter), call)


def _at(scene: Scene, family: Family, call: str) -> Iterator[Ask]:
    for site in scene.sites:
        offered = menu(family, scene, site)
        for number in range(size_of(offered) if call in site.text else 0):
            yield replace(scene.ask, plan=Plan.one(site.number, pick(offered, number)))


Walk = Callable[[Iterable[Ask]], Iterator[Spot]]


def walked(asks: Iterable[Ask]) -> Iterator[Spot]:
    """Live one life after the other, each with its lines."""
    return map(spot, asks)


def ground(
    scenarios: Iterable[str] = (), *, sample: int = 0, seed: int = 1, walk: Walk = walked
) -> Ground:
    """Live every scenario in calm, with one operator and with two, and a sample of each family."""
    names = tuple(scenarios) or tuple(ETCD.scenarios)
    asks = [Ask(name, seed=seed, operators=count) for name in names for count in (1, 2)]
    calm = Ground(tuple(sorted(walk(asks), key=_length)))
    every = spaces((Scene(it.life) for it in calm.calm), FAMILIES)
    stormy = (it.ask(number) for it in every for number in _drawn(it, sample))
    return replace(calm, stormy=tuple(sorted(walk(list(stormy)), key=_length)))


def _drawn(space: Space, sample: int) -> Iterable[int]:
    """Return which plans of a family are drawn: not the first, whose fault comes at the first call.

    Of what befalls the world there is so much more that three times as many are.
    """
    wanted = sample * (3 if space.letter == Family.WORLD.value else 1)
    return range(1, min(space.size, wanted + 1))


def calm_ground(asks: Iterable[Ask], walk: Walk = walked) -> Ground:
    """Live some calm lives, each once."""
    return Ground(tuple(walk(list(dict.fromkeys(asks)))))


def _length(spot: Spot) -> tuple[int, int]:
    return spot.ask.operators, len(spot.life.calls)


def spot(ask: Ask) -> Spot:
    """Live, and note every line of what may be broken."""
    files = {importlib.import_module(PACKAGE + it).__file__: it for it in MODULES}
    reached: set[Line] = set()

    def enter(frame: FrameType, _event: str, _: object) -> Any:
        return note if frame.f_code.co_filename in files else None

    def note(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            reached.add((files[frame.f_code.co_filename], frame.f_lineno))
        return note

    sys.settrace(enter)
    try:
        life = live(ask)
    finally:
        sys.settrace(None)
    return Spot(replace(life, lines=()), frozenset(reached))
