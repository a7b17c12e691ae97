"""The products whose operators are simulated: their scenarios, and how a life of them is lived.

A scenario says which product it is of: no two have one of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from stateward.sim.etcd import happenings as etcd_happenings
from stateward.sim.etcd import life as etcd_life
from stateward.sim.etcd import pictures as etcd_pictures
from stateward.sim.etcd import scenarios as etcd_scenarios
from stateward.sim.etcd.oracles import differences as etcd_differences
from stateward.sim.fdb import life as fdb_life
from stateward.sim.fdb import pictures as fdb_pictures
from stateward.sim.fdb import scenarios as fdb_scenarios
from stateward.sim.fdb.acts import happenings as fdb_happenings
from stateward.sim.fdb.oracles import differences as fdb_differences
from stateward.sim.laws.violations import Violation
from stateward.sim.lives import Ask, Life, Turn
from stateward.sim.world import World


class Told(Protocol):
    """A step of a script, as far as it is told to people."""

    @property
    def text(self) -> str:
        """What somebody does."""


class Peopled(Protocol):
    """A world of any product."""

    @property
    def world(self) -> World:
        """Its Kubernetes and its operators."""


#: Somebody who sees a world before its life begins, and listens; it must change nothing.
Onlooker = Callable[[Peopled], None]


@dataclass(frozen=True, slots=True)
class Product:
    """What an operator looks after, as simulations know it."""

    name: str
    scenarios: Mapping[str, Sequence[Told]]
    live: Callable[..., Life]
    live_and_turn: Callable[[Ask, Turn], Life]
    #: How a life with faults differs from the calm one without an excuse.
    differences: Callable[[Life, Life], tuple[Violation, ...]]
    #: What befalls its world at every call.
    acts: tuple[tuple[str, ...], ...]
    #: Yields what databases look like now, each with a name.
    pictures: Callable[[Any], Iterator[tuple[str, str]]]
    #: What is told of its kinds, by their names.
    tellers: Mapping[str, Callable[[dict[str, Any]], str]]


ETCD: Final = Product(
    "etcd",
    etcd_scenarios.SCENARIOS,
    etcd_life.live,
    etcd_life.live_and_turn,
    etcd_differences.differences,
    etcd_happenings.TYPICAL,
    etcd_pictures.pictures,
    etcd_pictures.TELLERS,
)

FDB: Final = Product(
    "fdb",
    fdb_scenarios.SCENARIOS,
    fdb_life.live,
    fdb_life.live_and_turn,
    fdb_differences.differences,
    fdb_happenings.TYPICAL,
    fdb_pictures.pictures,
    fdb_pictures.TELLERS,
)

PRODUCTS: Final = (ETCD, FDB)

#: Every scenario of every product.
SCENARIOS: Final[dict[str, Sequence[Told]]] = {
    name: script for it in PRODUCTS for name, script in it.scenarios.items()
}


def product(scenario: str) -> Product:
    """Return the product that a scenario is of."""
    return next((it for it in PRODUCTS if scenario in it.scenarios), ETCD)


def live(ask: Ask, onlooker: Onlooker | None = None, *, record: bool = False) -> Life:
    """Live a scenario; record where in our code every call comes from."""
    return product(ask.scenario).live(ask, onlooker, record=record)


def live_and_turn(ask: Ask, turn: Turn) -> Life:
    """Live a scenario in calm until, at some call, another plan for it is asked for."""
    return product(ask.scenario).live_and_turn(ask, turn)


def differences(reference: Life, life: Life) -> tuple[Violation, ...]:
    """Return how a life differs from the calm one in a way that its faults do not excuse."""
    return product(life.ask.scenario).differences(reference, life)
