"""A campaign: calm lives first, then plan after plan until all are lived or time is up."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, zip_longest
from typing import Final

from stateward.app.simulate.crew import Crew, Heard
from stateward.app.simulate.workers import Calm, Shrink, Task, Try
from stateward.core.errors import HouseError
from stateward.sim.explore import covering, plans, swarm
from stateward.sim.explore.judging import DETERMINISM, ENDLESS, FATAL, Outcome, failed, of_calm
from stateward.sim.explore.results import NONE, SWARM, Finding, Results
from stateward.sim.explore.scenes import Scene
from stateward.sim.faults import CALM
from stateward.sim.lives import Ask
from stateward.sim.products import live

#: One plan in so many is lived twice, the second time by another worker.
_ONE_TWICE_IN: Final = 20

#: So many plans are looked at together, at first and at most; those that begin alike are lived
#: together, at most so many at once: a campaign whose time is up waits for them.
_WINDOWS, _TOGETHER = (250, 4_000), 20

#: Seconds between two looks at the clock while nobody answers.
_LOOK: Final = 0.5

#: How many ways to fail are shrunk.
_SHRUNK: Final = 8

_UNSHRINKABLE: Final = frozenset({DETERMINISM, ENDLESS, FATAL})


@dataclass(frozen=True, slots=True)
class Wish:
    """What a campaign is to do."""

    scenarios: tuple[str, ...]
    letters: str
    seed: int = 1
    #: Seconds; None: until everything was lived.
    seconds: float | None = None
    swarm: bool = False
    #: The step of scenarios at whose calls alone things go wrong; 0: at those of all.
    step: int = 0
    #: Whether each fault comes to each place in the code once, and no plan is lived beside these.
    covering: bool = False


@dataclass(frozen=True, slots=True)
class _Errand:
    """Why a plan is lived: for a family, and maybe because it was lived by another worker."""

    letter: str
    ask: Ask
    first: Outcome | None = None
    worker: int = -1


class Campaign:
    """One run. ``tell`` is called whenever something became known."""

    def __init__(self, crew: Crew, wish: Wish, tell: Callable[[], None] = lambda: None) -> None:
        self._crew = crew
        self.wish = wish
        self._tell = tell
        self.results = Results()
        self.spaces: list[plans.Space] = []
        self._scenes: dict[tuple[str, int], Scene] = {}
        self._again: deque[_Errand] = deque()
        self._lives: Counter[str] = Counter()
        self._until: float | None = None
        #: How many plans bring each fault to each place once, where no others are lived.
        self._covering = 0

    @property
    def planned(self) -> int | None:
        """How many plans there are to be lived; None: there is no end of them."""
        if self.wish.swarm:
            return None
        return self._covering or sum(it.size for it in self.spaces)

    def share(self) -> float | None:
        """Return how much of it is done, of the time or of the plans; None: there is no end."""
        shares = []
        if self._until is not None and self.wish.seconds:
            shares.append(1 - (self._until - time.monotonic()) / self.wish.seconds)
        if self.planned:
            shares.append(self._lives.total() / self.planned)
        return min(1.0, max(shares)) if shares else None

    def prepare(self) -> None:
        """Live every scenario in calm, so that it is known which plans there are.

        There are none of one whose calm life does not come to its end.
        """
        asks = list(_calm_asks(self.wish))
        for heard in self._each((Calm(it), _Errand(NONE, it)) for it in asks):
            if isinstance(heard.answer, Scene):
                known = replace(heard.answer, step=self.wish.step)
                self._learn(known, heard.worker)
            else:
                self._note(heard)
            self._tell()
        keys = ((it.scenario, it.operators) for it in asks)
        scenes = [self._scenes[it] for it in keys if it in self._scenes]
        # Not before everybody is idle: a scene is larger than what a pipe holds, and who is about
        # to send one itself does not read.
        for scene in scenes:
            self._crew.teach(scene)
        self.spaces = plans.spaces(scenes, self.wish.letters)
        for space in self.spaces:
            self.results.feasible.update(met for met, _ in covering.feasible(space))

    def _learn(self, scene: Scene, worker: int) -> None:
        self._scenes[scene.ask.scenario, scene.ask.operators] = scene
        self._count(_Errand(NONE, scene.ask), of_calm(scene), worker)

    def run(self) -> None:
        """Live the plans of all families in turn, or seeds without end."""
        if self.wish.seconds is not None:
            self._until = time.monotonic() + self.wish.seconds
        self._live(self._swarm() if self.wish.swarm else self._plans())

    def shrink(self) -> None:
        """Find the smallest plans for the ways to fail, of each law one first."""
        worth = [way[0] for way in self.results.ways() if way[0].law not in _UNSHRINKABLE]
        chosen = sorted(worth, key=lambda it: [x for x in worth if x.law == it.law].index(it))
        tasks = [(Shrink(it.first.ask, it.law), it) for it in chosen[:_SHRUNK]]
        for heard in self._each(tasks):
            if isinstance(heard.note, Finding) and isinstance(heard.answer, Ask):
                heard.note.smallest = heard.answer
            self._tell()

    # ------------------------------------------------------------------ what is lived

    def _plans(self) -> Iterator[tuple[str, Ask]]:
        if not self.wish.covering:
            return ((space.letter, ask) for space, ask in covering.ordered(self.spaces))
        chosen = list(covering.covering(self.spaces))
        self._covering = len(chosen)
        return iter([(space.letter, ask) for space, ask in chosen])

    def _swarm(self) -> Iterator[tuple[str, Ask]]:
        if any((it, 1) not in self._scenes for it in self.wish.scenarios):
            return  # without one of them a seed would mean another life
        for seed in count(self.wish.seed):
            yield SWARM, swarm.drawn(seed, self.wish.scenarios, lambda it: self._scenes[it, 1])

    # ------------------------------------------------------------------ living it

    def _live(self, asks: Iterator[tuple[str, Ask]]) -> None:
        supply = _batches(_Errand(letter, ask) for letter, ask in asks)
        more = True
        while more or self._crew.busy:
            more = not self._is_late() and self._feed(supply)
            for heard in self._crew.listen(_LOOK):
                self._note(heard)
                self._tell()

    def _feed(self, supply: Iterator[list[_Errand]]) -> bool:
        """Give everybody something to do; tell whether there may be more."""
        more = True
        for worker in self._crew.hungry():
            errands = self._second_for(worker) or next(supply, [])
            if errands:
                self._crew.give(worker, [(Try(it.ask), it) for it in errands])
            more = bool(errands)
        return more or bool(self._again)

    def _second_for(self, worker: int) -> list[_Errand]:
        """Return a plan that another worker has lived and this one shall live too.

        It comes alone, so it is lived from the beginning, and not as a branch of others.
        """
        if self._again and (self._again[0].worker != worker or self._crew.jobs == 1):
            return [self._again.popleft()]
        return []

    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def _note(self, heard: Heard) -> None:
        errand, outcome = heard.note, heard.answer
        if not isinstance(errand, _Errand):
            raise HouseError(f"nobody asked for {heard.task}")
        if not isinstance(outcome, Outcome):
            scene = self._scenes.get((errand.ask.scenario, errand.ask.operators))
            sentence = f"the process that lived it ended with code {heard.code}"
            outcome = failed(errand.ask, scene, FATAL, sentence)
        if errand.first is not None:
            self.results.again(errand.first, outcome)
            return
        self._count(errand, outcome, heard.worker)

    def _count(self, errand: _Errand, outcome: Outcome, worker: int) -> None:
        self.results.add(errand.letter, outcome)
        self._lives[errand.letter] += 1  # of each family, or some would never be lived twice
        if self._lives[errand.letter] % _ONE_TWICE_IN == 1 and outcome.digest:
            self._again.append(_Errand(errand.letter, errand.ask, outcome, worker))

    def _each(self, tasks: Iterable[tuple[Task, object]]) -> Iterator[Heard]:
        """Have some tasks done, and yield what came of them as it comes."""
        left = deque(tasks)
        while left or self._crew.busy:
            for worker in self._crew.hungry():
                if left:
                    self._crew.give(worker, [left.popleft()])
            yield from self._crew.listen(_LOOK)


def _batches(supply: Iterator[_Errand]) -> Iterator[list[_Errand]]:
    """Put together what begins alike, by its first fault; further and further ahead.

    A short run has something of everything, and a long one shares the most.
    """
    window = _WINDOWS[0]
    while ahead := list(islice(supply, window)):
        alike: dict[Ask, list[_Errand]] = {}
        for it in ahead:
            alike.setdefault(replace(it.ask, plan=CALM), []).append(it)
        for turn in zip_longest(*map(_in_parts, alike.values())):
            yield from (part for part in turn if part)
        window = min(2 * window, _WINDOWS[1])


def _in_parts(errands: list[_Errand]) -> list[list[_Errand]]:
    """Return parts that each reach from the first calls to the last: time may end after any."""
    errands.sort(key=lambda it: [hit.call for hit in it.ask.plan.hits])
    parts = -(-len(errands) // _TOGETHER)
    return [errands[first::parts] for first in range(parts)]


def swarm_ask(seed: int, scenarios: Sequence[str]) -> Ask:
    """Return what a swarm lives under a seed."""
    return swarm.drawn(seed, scenarios, lambda name: Scene(live(Ask(name), record=True)))


def _calm_asks(wish: Wish) -> Iterator[Ask]:
    """Yield the calm lives that the plans rest on.

    A swarm always rests on the same ones: a seed must mean the same, whichever was the first.
    """
    if wish.swarm:
        yield from map(Ask, wish.scenarios)
        return
    for name in wish.scenarios:
        for operators in dict.fromkeys(map(plans.operators, wish.letters)):
            yield Ask(name, seed=wish.seed, operators=operators)
