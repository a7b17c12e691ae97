"""Lives by the seed alone: which scenario, how many operators, and a few faults of some families.

Each family is left out of half the seeds: what hides another fault must sometimes not be there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from stateward.core.chance import Chance
from stateward.sim.explore.menus import menu
from stateward.sim.explore.plans import pick, size_of
from stateward.sim.explore.scenes import Scene
from stateward.sim.faults import Family, Hit, Plan
from stateward.sim.lives import Ask

#: How many operators there are, each as likely as it stands here.
_OPERATORS: Final = (1, 1, 2, 2, 3)

#: At most two to the power of this many faults.
_POWER: Final = 3.0

#: Faults come in the calls of the calm life and, for lives that last longer, in half as many more.
_REACH: Final = 1.5


def drawn(seed: int, scenarios: Sequence[str], scene: Callable[[str], Scene]) -> Ask:
    """Return what a seed means; ``scene`` returns the calm life of a scenario."""
    chance = Chance(seed, "swarm")
    scenario = chance.choice(scenarios)
    operators = chance.choice(_OPERATORS)
    families = tuple(it for it in Family if chance.happens(0.5)) or tuple(Family)
    count = round(2 ** chance.between(0, _POWER))
    calm = scene(scenario)
    hits = [_hit(chance, calm, families) for _ in range(count)]
    found = sorted((it for it in hits if it is not None), key=lambda it: it.call)
    return Ask(scenario, Plan(tuple(found)), seed, operators)


def _hit(chance: Chance, scene: Scene, families: tuple[Family, ...]) -> Hit | None:
    number = 1 + chance.below(int(_REACH * len(scene.calm.calls)))
    site = scene.site(number) or chance.choice(scene.sites)
    offered = menu(chance.choice(families), scene, site)
    size = size_of(offered)
    return Hit(number, pick(offered, chance.below(size))) if size else None
