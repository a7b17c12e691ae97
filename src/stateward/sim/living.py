"""A life while it is lived, whatever the operators look after, and how it is begun and ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from stateward.core.chance import Chance
from stateward.sim.laws.failures import Counted, bugs
from stateward.sim.laws.rest import Rest
from stateward.sim.laws.vain import Vain
from stateward.sim.laws.watchman import Watchman
from stateward.sim.lives import Ask, Life, Turn
from stateward.sim.loop import SimLoop, running
from stateward.sim.sites import Sites
from stateward.sim.world import World

#: What is done in a life, step by step.
S = TypeVar("S")


class Product(Counted, Protocol):
    """A world with what one product has in it."""

    @property
    def world(self) -> World:
        """Kubernetes, time and chance."""

    @property
    def hopeless(self) -> bool:
        """Whether only a person could help, and nobody does."""


W = TypeVar("W", bound=Product)


class Lived(ABC, Generic[W, S]):
    """A life: the world, and all who watch it."""

    ask: Ask

    def __init__(self, it: W, sites: Sites, watchman: Watchman, vain: Vain, rest: Rest) -> None:
        self._world, self.it, self._sites = it.world, it, sites
        self._watchman, self._vain, self._rest = watchman, vain, rest
        #: How many calls there were when each step began.
        self._begins: list[int] = []

    @property
    @abstractmethod
    def counts(self) -> Mapping[str, int]:
        """What operators did to the world, and how often."""

    @abstractmethod
    def operate(self) -> None:
        """Start as many operators as were asked for."""

    @abstractmethod
    async def run(self, script: S) -> None:
        """Take every step, and see whether all comes to rest as it should."""

    @abstractmethod
    def end(self) -> Mapping[str, str]:
        """Return what there is in the end, without chance's names."""

    def take_up(self, ask: Ask, *, record: bool) -> None:
        """Let things go wrong as a plan says, from now on."""
        self.ask = ask
        self._sites.record = record
        planned = self._world.weather.planned
        for hit in ask.plan.hits:
            planned.setdefault(hit.call, []).append(hit.fault)

    def turn(self, turn: Turn) -> None:
        """Take another plan up at the call at which one is asked for."""

        def listen(*_: object) -> None:
            if (chosen := turn(self._world.weather.calls)) is not None:
                self._world.loop.go_on()
                self.take_up(chosen, record=len(chosen.plan.hits) > 1)
                self._rest.expect(len(chosen.plan.hits))

        for part in self._world.parts:
            part.weather.listeners.insert(0, listen)

    async def live(self, script: S) -> Life:
        """Live it to its end."""
        world = self._world
        try:
            self.operate()
            await self.run(script)
            self._judge_bugs()
        finally:
            lines = tuple(world.trace.lines)
            digest = world.trace.digest
            end = self.end()
            await world.end()
        return Life(
            self.ask,
            self._watchman.book.violations,
            tuple(self._sites.calls),
            self.counts,
            end,
            digest,
            world.loop.time(),
            world.loop.steps,
            world.api.store.revision,
            lines,
            self.it.hopeless,
            tuple(self._begins),
        )

    def begin(self, text: str) -> None:
        """Write down that a step begins."""
        self._world.trace.note(f"user: {text}")
        self._begins.append(self._world.weather.calls)

    def report(self, law: str, sentence: str) -> None:
        """Write down that a law is broken, by nobody in particular."""
        self._watchman.book.report(law, "nobody", sentence)

    def _judge_bugs(self) -> None:
        """Ask that nothing, however bad, shows a bug in a pass."""
        if found := bugs(self.it):
            self.report("K8", found)

    def judge_repeats(self) -> None:
        """Ask that nobody wrote what was there, but for who could not know it."""
        families = [hit.fault.family for hit in self.ask.plan.hits]
        if vain := self._vain.repeats(families):
            self.report("K4", vain)


class Begin(Protocol[W, S]):
    """How a life of a product is begun: its kind of :class:`Lived`."""

    def __call__(self, loop: SimLoop, ask: Ask, *, record: bool) -> Lived[W, S]:
        """Return a life that is yet to be lived."""


@dataclass(frozen=True, slots=True)
class Lives(Generic[W, S]):
    """The lives of one product: how one is begun, and the scripts that have a name.

    An onlooker sees a world before its life begins, and listens; it must change nothing.
    """

    begin: Begin[W, S]
    scenarios: Mapping[str, S]

    def live(
        self, ask: Ask, onlooker: Callable[[W], None] | None = None, *, record: bool = False
    ) -> Life:
        """Live a scenario that has a name; record where in our code every call comes from."""
        return self.live_with(self.scenarios[ask.scenario], ask, onlooker, record=record)

    def live_with(
        self,
        script: S,
        ask: Ask,
        onlooker: Callable[[W], None] | None = None,
        *,
        record: bool = False,
    ) -> Life:
        """Live any script."""

        def prepare(life: Lived[W, S]) -> None:
            if onlooker is not None:
                onlooker(life.it)

        return self._live(script, ask, prepare, record=record)

    def live_and_turn(self, ask: Ask, turn: Turn) -> Life:
        """Live a scenario in calm until, at some call, another plan for it is asked for."""
        script = self.scenarios[ask.scenario]
        return self._live(script, ask, lambda life: life.turn(turn), record=False)

    def _live(
        self, script: S, ask: Ask, prepare: Callable[[Lived[W, S]], None], *, record: bool
    ) -> Life:
        with running(SimLoop(Chance(ask.seed, "order"))) as loop:

            async def live() -> Life:
                life = self.begin(loop, ask, record=record)
                prepare(life)
                return await life.live(script)

            return loop.run_until_complete(live())
