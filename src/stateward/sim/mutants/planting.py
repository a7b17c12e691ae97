"""Put something else in the place of a part of the product, and the part back afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from stateward.etcd.decide import chart
from stateward.sim.mutants.breaking import Place, Way
from stateward.sim.mutants.code import running_broken
from stateward.sim.process import PROCESS, SimProcess

V = TypeVar("V")


class Patch:
    """What was put in, newest last."""

    def __init__(self) -> None:
        self._undo = ExitStack()

    def put(self, owner: object, name: str, value: object) -> None:
        """Put something in the place of an attribute of a module or a class."""
        former = vars(owner)[name]
        self._undo.callback(setattr, owner, name, former)
        setattr(owner, name, value)

    def put_item(self, owner: object, key: object, value: object) -> None:
        """Put something in the place of an entry of a table, which the product only reads."""
        if not isinstance(owner, MutableMapping):
            raise TypeError(f"{owner!r} must be a table")
        former = owner[key]
        self._undo.callback(owner.__setitem__, key, former)
        owner[key] = value

    def put_row(self, table: str, row: str, ask: chart.Row) -> None:
        """Put another question in the place of the one in a row of the chart."""
        rows: tuple[tuple[str, chart.Row], ...] = vars(chart)[table]
        if row not in {name for name, _ in rows}:
            raise LookupError(f"{table} has no row {row}")
        self.put(chart, table, tuple((it, ask if it == row else was) for it, was in rows))

    def drop_guard(self, module: str, function: str, nth: int) -> None:
        """Take a guard away that nothing else leads past."""
        place = Place(function, Way.DROP_GUARD, nth)
        self._undo.enter_context(running_broken(module, place))

    def take_out(self) -> None:
        """Have everything as it was, the newest first."""
        self._undo.close()


Plant = Callable[[Patch], None]


@dataclass(frozen=True, slots=True)
class Look:
    """Where a bug is looked for first: a scenario, families of faults, and a call they come at."""

    scenario: str
    families: str = ""
    #: A part of what the call is called; empty: any call.
    call: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A bug that somebody once had, told again in our code."""

    id: str
    #: What the operator does wrong, and which guards were taken away with it.
    sentence: str
    #: Where it was seen.
    origin: str
    looks: tuple[Look, ...]
    bug: Plant

    @contextmanager
    def plant(self) -> Iterator[None]:
        """Run with it."""
        patch = Patch()
        try:
            self.bug(patch)
            yield
        finally:
            patch.take_out()


def bug(id_: str, sentence: str, origin: str, *looks: str) -> Callable[[Plant], Named]:
    """Give a planting function its name; a look is ``scenario:FAMILIES:call``, or less of that."""
    wanted = tuple(Look(*it.split(":")) for it in looks)
    return lambda plant: Named(id_, sentence, origin, wanted, plant)


class Mind(Generic[V]):
    """What one operator process has in mind: gone when it crashes, like all that is not written."""

    def __init__(self, blank: Callable[[], V]) -> None:
        self._blank = blank
        self._of: WeakKeyDictionary[SimProcess, V] = WeakKeyDictionary()

    def now(self) -> V:
        """Return what the process has in mind that runs now."""
        process = PROCESS.get()
        if process is None:
            return self._blank()
        return self._of.setdefault(process, self._blank())
