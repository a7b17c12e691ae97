"""Which faults can come at a call, family by family, without writing every one of them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final

from stateward.runtime.election import Terms
from stateward.sim.explore.scenes import Scene
from stateward.sim.faults import Family, Fault, Kind, fault
from stateward.sim.products import product
from stateward.sim.sites import Site

#: Seconds until a process that died is started again: at once, soon, after its lease has run out.
RESTS: Final = (0, 4, 16)

#: Seconds until an old view of the world is a new one again.
LATENESS: Final = (1, 15, 60)

#: Seconds for which a watch says nothing.
SILENCES: Final = (5, 20, 120)

#: Seconds for which something is not allowed.
FORBIDDEN: Final = (5, 60)

#: Seconds for which an operator hears of everything through a server that is behind.
BEHIND: Final = (30, 90)

#: Seconds for which a leader stands still: less than its lease, and far beyond it.
PAUSES: Final = tuple(
    dict.fromkeys(f"{it:g}" for it in (12, 30, 60, 90, Terms().duration / 2, Terms().duration * 2))
)


#: How calls begin that are not to Kubernetes.
_BESIDE: Final = ("etcd ", "fdbcli ", "fdbkeys ", "sidecar ")


@dataclass(frozen=True, slots=True)
class Choice:
    """A kind of fault with every combination of its details."""

    kind: Kind
    axes: tuple[Sequence[object], ...] = ()

    @property
    def size(self) -> int:
        """How many faults these are."""
        return prod(map(len, self.axes))

    @property
    def title(self) -> str:
        """What kind of fault this is; of what happens to the world each act is one."""
        if self.kind is Kind.ACT:
            return f"{self.kind.text}:{self.axes[0][0]}"
        return self.kind.text

    def pick(self, number: int) -> Fault:
        """Return one of them, counted from 0; the last detail changes first."""
        details: list[object] = []
        for axis in reversed(self.axes):
            number, place = divmod(number, len(axis))
            details.append(axis[place])
        return fault(self.kind, *reversed(details))


Menu = tuple[Choice, ...]

#: Families of which there are too many to live them all: so many plans for each call are drawn.
SAMPLED: Final[Mapping[Family, int]] = {
    Family.PAST_OF_SOME: 4,
    Family.UNSEEN: 4,
    Family.REORDER: 2,
    Family.UPGRADE: 1,
}

#: Scenarios of more calls than this have too many pasts to live them all; one a call is drawn.
SMALL: Final = 200

#: How many operators there must be for a family to mean something.
OPERATORS: Final[Mapping[Family, int]] = {Family.ZOMBIE: 2}


def menu(family: Family, scene: Scene, site: Site) -> Menu:
    """Return every fault of a family that can come at a call."""
    return _MENUS[family](scene, site)


def _crashes(_: Scene, __: Site) -> Menu:
    kinds = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER, Kind.CRASH_ANSWERED)
    return (*(Choice(it, (RESTS,)) for it in kinds), Choice(Kind.SIGTERM))


def _answers(_: Scene, site: Site) -> Menu:
    """Only what can be answered: nobody writes first when we read, and a read has no outcome."""
    always = (Kind.LOST_ANSWER, Kind.SLOW, Kind.OVERLOADED, Kind.FAILED, Kind.UNAVAILABLE)
    writing = (Kind.LOST_REQUEST, Kind.CONFLICT) if site.writes else ()
    # Roles speak of Kubernetes alone.
    roles = () if _is_beside(site) else (Choice(Kind.FORBIDDEN, (FORBIDDEN,)),)
    # What times out or breaks off in the middle of a write to a database is a lost answer.
    unsure = () if site.writes and _is_beside(site) else (Kind.TIMED_OUT, Kind.CONFUSED)
    alone = tuple(Choice(it) for it in (*always, *writing, *unsure, Kind.UNAUTHORIZED))
    return (*alone, *roles)


def _doubles(_: Scene, site: Site) -> Menu:
    twice = (Choice(Kind.TWICE),) if site.writes else ()
    return (*twice, Choice(Kind.TWO_PASSES))


def _pasts(_: Scene, site: Site) -> Menu:
    return (Choice(Kind.STALE, (range(1, site.revision), LATENESS)),)


def _mixed_pasts(scene: Scene, site: Site) -> Menu:
    return (Choice(Kind.STALE_KINDS, (Subsets(scene.kinds), range(1, site.revision), LATENESS)),)


def _stalls(scene: Scene, _: Site) -> Menu:
    return (Choice(Kind.STALL, (scene.kinds, SILENCES)),)


def _unseen(scene: Scene, _: Site) -> Menu:
    return (Choice(Kind.UNSEEN, (scene.kinds,)),)


def _reorders(scene: Scene, _: Site) -> Menu:
    return (
        Choice(Kind.REORDER, (scene.kinds, LATENESS)),
        Choice(Kind.SERVER, (LATENESS, BEHIND)),
    )


def _zombies(_: Scene, __: Site) -> Menu:
    return (Choice(Kind.ZOMBIE, (PAUSES,)),)


def _two_leaders(_: Scene, __: Site) -> Menu:
    return (Choice(Kind.TWO_LEADERS, ((10, 60),)),)


def _acts(scene: Scene, _: Site) -> Menu:
    return _typical(product(scene.ask.scenario).acts)


@cache
def _typical(acts: tuple[tuple[str, ...], ...]) -> Menu:
    return tuple(Choice(Kind.ACT, tuple((it,) for it in act)) for act in acts)


def _upgrades(_: Scene, __: Site) -> Menu:
    return (Choice(Kind.UPGRADE, (("older", "newer"),)),)


def _is_beside(site: Site) -> bool:
    """Tell whether a call is to what operators look after, and not to Kubernetes."""
    return site.text.startswith(_BESIDE)


class Subsets(Sequence[str]):
    """Every choice of some of the names, but neither none nor all, joined by plus signs.

    >>> list(Subsets(("a", "b", "c")))
    ['a', 'b', 'a+b', 'c', 'a+c', 'b+c']
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return max(0, (1 << len(self._names)) - 2)

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        if not 0 <= place < len(self):
            raise IndexError(place)
        return "+".join(it for bit, it in enumerate(self._names) if (place + 1) >> bit & 1)


_MENUS: Final[Mapping[Family, Callable[[Scene, Site], Menu]]] = {
    Family.CRASH: _crashes,
    Family.ANSWER: _answers,
    Family.TWICE: _doubles,
    Family.PAST: _pasts,
    Family.PAST_OF_SOME: _mixed_pasts,
    Family.STALL: _stalls,
    Family.UNSEEN: _unseen,
    Family.REORDER: _reorders,
    Family.ZOMBIE: _zombies,
    Family.TWO_LEADERS: _two_leaders,
    Family.WORLD: _acts,
    Family.UPGRADE: _upgrades,
}
