"""Looking for a planted bug: lives one after the other, the cheapest first, until one goes wrong.

A life that goes wrong convicts a bug only if the very same life without the bug breaks no such law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, Protocol

from stateward.core.errors import UsageError
from stateward.sim.explore.judging import BROKEN
from stateward.sim.faults import CALM
from stateward.sim.laws.violations import Violation
from stateward.sim.lives import Ask, Life
from stateward.sim.mutants.clues import Clue
from stateward.sim.mutants.generated import Generated
from stateward.sim.mutants.ground import Ground
from stateward.sim.mutants.planting import Named
from stateward.sim.products import differences, live

#: How many lives with faults a bug that changes nothing gets to change something.
_FEW: Final = 30
#: How many lives a bug may survive in the places where its like is looked for first.
_THERE: Final = 60
#: Where it matters in calm that there is a second operator.
_SHARED: Final = "runtime."


class Mutant(Protocol):
    """A planted bug."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def sentence(self) -> str:
        """What is wrong."""

    def plant(self) -> AbstractContextManager[None]:
        """Run with it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant."""

    id: str
    sentence: str
    #: The law that it broke; empty: it lives.
    law: str = ""
    #: The life in which it did, as it is asked for.
    ask: str = ""
    #: What happened.
    words: str = ""
    lives: int = 0
    #: How many of the lives took another course with the bug, of those that were known without.
    others: int = 0
    #: Lives that go wrong without the bug, too.
    unfit: tuple[str, ...] = ()
    #: How the life is found again: what is written into known.py.
    clue: str = ""

    def __str__(self) -> str:
        if not self.law:
            course = f"{self.others} of them took another course" if self.others else "all the same"
            return f"{self.id} alive after {self.lives} lives, {course}: {self.sentence}"
        return f"{self.id} killed by {self.law} in {self.ask}"


@dataclass(slots=True)
class Hunt:
    """One hunt: the bug, the ground, and what was seen so far."""

    mutant: Mutant
    where: Ground
    budget: int
    first: Sequence[Clue] = ()
    lives: int = 0
    others: int = 0
    now: Ask | None = None
    unfit: list[str] = field(default_factory=list)
    #: Calm lives with the bug.
    _calm: dict[Ask, Life] = field(default_factory=dict)
    #: Called before each life.
    before_each: Callable[[], None] = lambda: None

    def run(self) -> Verdict:
        """Hunt until the bug is convicted, or the budget is spent."""
        for ask in islice(self.trail(), self.budget):
            self.now = ask
            self.lives += 1
            with self.mutant.plant():
                wrong = self._wrong(ask, planted=True)
            if not wrong:
                continue
            anyway = {it.law for it in self._wrong(ask)}
            convicting = next((it for it in wrong if it.law not in anyway), None)
            if convicting is not None:
                found = self.verdict(convicting.law, str(convicting))
                return found if found.clue else replace(found, clue=str(self._clue(ask) or ""))
            self.unfit.append(str(ask))
        return self.verdict()

    def trail(self) -> Iterator[Ask]:
        """Yield where to look, each life once."""
        looked: set[str] = set()
        for ask in chain(self._by_clues(), self._where_it_was(), self._where_it_runs()):
            if str(ask) not in looked:
                looked.add(str(ask))
                yield ask

    def _by_clues(self) -> Iterator[Ask]:
        """Yield lives that clues lead to; the numbers of calls are those of the bug's own life."""
        for clue in self.first:
            if not clue.fault:
                yield clue.calm
                continue
            with self.mutant.plant():
                self._calm[clue.calm] = live(clue.calm)
            try:
                found = clue.ask(self._calm[clue.calm])
            except UsageError:
                continue  # such a call is made no more; the rest of the trail leads elsewhere
            yield found

    def _clue(self, ask: Ask) -> Clue | None:
        """Return how a life is found again: by the calls that the bug itself makes in calm."""
        calm = replace(ask, plan=CALM)
        if calm not in self._calm:
            with self.mutant.plant():
                self._calm[calm] = live(calm)
        return Clue.to(ask, self._calm[calm])

    def _where_it_runs(self) -> Iterator[Ask]:
        """Yield the lives that come through it; more only if it ever changed one of them."""
        there = self.where
        if isinstance(self.mutant, Generated):
            there = there.reaching(self.mutant.lines)
            if not self.mutant.module.startswith(_SHARED):
                alone = tuple(it for it in there.calm if it.ask.operators == 1)
                there = replace(there, calm=alone)
        calm, stormy = (tuple(it.ask for it in spots) for spots in (there.calm, there.stormy))
        few = max(1, len(stormy) // _FEW)
        yield from (*calm, *stormy[::few])
        if self.others:
            yield from (*stormy, *islice(self._planned(there), _THERE))
            yield from self._planned(self.where)

    def _where_it_was(self) -> Iterator[Ask]:
        looks = self.mutant.looks if isinstance(self.mutant, Named) else ()
        for it in looks:
            yield from (spot.ask for spot in self.where.of(it.scenario).calm)
        stormy = [it for it in looks if it.families]
        for it in stormy:
            there = self._as_lived(self.where.of(it.scenario))
            asks = there.at(it.families, it.call) if it.call else there.planned(it.families)
            yield from islice(asks, _THERE // len(stormy))

    def _planned(self, where: Ground) -> Iterator[Ask]:
        yield from self._as_lived(where).planned()

    def _as_lived(self, where: Ground) -> Ground:
        """Return the ground with calm lives as the bug lives them: it may send other calls."""
        calm = (replace(it, life=self._calm.get(it.ask, it.life)) for it in where.calm)
        return replace(where, calm=tuple(calm))

    def verdict(self, law: str = "", words: str = "") -> Verdict:
        """Return what can be said now."""
        mutant, now = self.mutant, self.now
        clue = ""
        if law and now is not None and now.plan == CALM:
            clue = str(Clue(now.scenario, operators=now.operators))
        return Verdict(
            mutant.id,
            mutant.sentence,
            law,
            str(now) if law else "",
            words,
            self.lives,
            self.others,
            tuple(self.unfit),
            clue,
        )

    def _note(self, life: Life) -> None:
        """Note what a life with the bug was like."""
        usual = self.where.life(life.ask)
        self.others += usual is not None and usual.digest != life.digest
        if life.ask.plan == CALM:
            self._calm[life.ask] = life

    def _wrong(self, ask: Ask, *, planted: bool = False) -> tuple[Violation, ...]:
        """Live, and return what is wrong, the first thing first."""
        self.before_each()
        try:
            life = live(ask)
        except Exception as error:  # noqa: BLE001 - whatever breaks a life convicts
            return (Violation(BROKEN, "nobody", 0.0, f"{type(error).__name__}: {error}"),)
        if planted:
            self._note(life)
        scene = self.where.scene(ask)
        beside = differences(scene.calm, life) if scene is not None else ()
        return (*life.violations, *beside)
