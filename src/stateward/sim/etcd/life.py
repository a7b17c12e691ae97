"""One life of etcd clusters: a scenario, a plan of faults and a seed, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from stateward.core.chance import Chance
from stateward.core.errors import HouseError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.local.catalog import CONTROLLER_REVISIONS
from stateward.sim.etcd.laws.watch import EtcdWatch
from stateward.sim.etcd.mistakes import OUTAGE, may_be_told, untold
from stateward.sim.etcd.oracles.acts import Acts
from stateward.sim.etcd.oracles.dead_ends import is_dead_end
from stateward.sim.etcd.oracles.ends import end_of
from stateward.sim.etcd.oracles.lasting import never_told
from stateward.sim.etcd.oracles.leaks import leaks
from stateward.sim.etcd.oracles.logins import StrayLogins
from stateward.sim.etcd.oracles.orphans import Orphans
from stateward.sim.etcd.oracles.stillness import at_rest
from stateward.sim.etcd.oracles.writer import Writer
from stateward.sim.etcd.scenarios import SCENARIOS, Script, Step
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.faults import CALM
from stateward.sim.laws.failures import bugs, failed_passes
from stateward.sim.laws.rest import PATIENCE, Noise, Rest
from stateward.sim.laws.violations import Violation
from stateward.sim.laws.watchman import USER
from stateward.sim.lives import Ask, Life, Turn, lateness, same
from stateward.sim.loop import SimLoop, running
from stateward.sim.sites import Site, Sites
from stateward.sim.world import NotInTime, World

__all__ = ["PATIENCE", "Ask", "Life", "Site", "Violation", "live", "live_with", "same"]

#: Seconds that a step may take in calm, after what it does to the world is over.
_QUICK = 45.0
#: How many passes may fail while nobody answers: each one waits for longer than the one before.
_REPEATED = 12


#: Somebody who sees a world before its life begins, and listens; it must change nothing.
Onlooker = Callable[[EtcdWorld], None]


def live(ask: Ask, onlooker: Onlooker | None = None, *, record: bool = False) -> Life:
    """Live a scenario that has a name; record where in our code every call comes from."""
    return live_with(SCENARIOS[ask.scenario], ask, onlooker, record=record)


def live_with(
    script: Script, ask: Ask, onlooker: Onlooker | None = None, *, record: bool = False
) -> Life:
    """Live any script."""
    with running(SimLoop(Chance(ask.seed, "order"))) as loop:

        def begin() -> _Lived:
            life = _Lived(loop, ask, record=record)
            if onlooker is not None:
                onlooker(life.it)
            return life

        return loop.run_until_complete(_live(begin, script))


def live_and_turn(ask: Ask, turn: Turn) -> Life:
    """Live a scenario in calm until, at some call, another plan for it is asked for."""
    with running(SimLoop(Chance(ask.seed, "order"))) as loop:

        def begin() -> _Lived:
            life = _Lived(loop, ask, record=False)
            life.it.world.weather.listeners.insert(0, lambda *_: life.listen(turn))
            return life

        return loop.run_until_complete(_live(begin, SCENARIOS[ask.scenario]))


async def _live(begin: Callable[[], _Lived], script: Script) -> Life:
    life = begin()
    world = life.it.world
    try:
        life.it.operate(life.ask.operators)
        await life.run(script)
        life.judge_bugs()
    finally:
        lines = tuple(world.trace.lines)
        digest = world.trace.digest
        end = end_of(life.it)
        await world.end()
    return Life(
        life.ask,
        life.watch.watchman.book.violations,
        tuple(life.sites.calls),
        life.acts.counts,
        end,
        digest,
        world.loop.time(),
        world.loop.steps,
        world.api.store.revision,
        lines,
        life.it.hopeless,
    )


class _Lived:
    """A life while it is lived: the world, and all who watch it."""

    def __init__(self, loop: SimLoop, ask: Ask, *, record: bool) -> None:
        world = World(loop, ask.seed, (ETCD_CLUSTERS, CONTROLLER_REVISIONS))
        self.it = it = EtcdWorld(world)
        self.sites = Sites(world, record=record)
        self.watch = EtcdWatch(it)
        self.acts = Acts(self.watch.watchman)
        self.writer = Writer(self.watch.scene)
        self.watch.on_agreed(lambda _, before, after: self.acts.agreed(before, after))
        self.watch.on_agreed(self.writer.agreed)
        self.watch.on_agreed(StrayLogins(self.watch.scene).agreed)
        Orphans(it)
        self._rest = Rest(world, self.watch.rates)
        self.take_up(ask, record=record)

    def take_up(self, ask: Ask, *, record: bool) -> None:
        """Let things go wrong as a plan says, from now on."""
        self.ask = ask
        self.sites.record = record
        self.watch.late(lateness(ask.plan))
        self.watch.calm(ask.plan == CALM)
        self.watch.alone(len(ask.plan.hits) <= 1)
        planned = self.it.world.weather.planned
        for hit in ask.plan.hits:
            planned.setdefault(hit.call, []).append(hit.fault)

    def listen(self, turn: Turn) -> None:
        """Take another plan up, if one is asked for at this call."""
        if (chosen := turn(self.it.world.weather.calls)) is not None:
            self.it.world.loop.go_on()
            self.take_up(chosen, record=len(chosen.plan.hits) > 1)
            self._rest.expect(len(chosen.plan.hits))

    async def run(self, script: Script) -> None:
        """Take every step, and see whether all comes to rest as it should."""
        watchman = self.watch.watchman
        watchman.follow_faults()
        try:
            for step in script:
                await self._take(step)
            self.writer.rest()
            last = script[-1]
            await self._rest.stay(last.text, lambda: bool(self.it.lasting) or last.until(self.it))
        except Noise as error:
            watchman.book.report("SILENCE", "nobody", error.message)
        except NotInTime as error:
            self.it.hopeless = self.it.hopeless or is_dead_end(self.it)
            if not self.it.hopeless:  # then only a person can help, and nobody does
                watchman.book.report("L0", "nobody", error.message)
            return
        except HouseError as error:
            watchman.book.report("K8", "nobody", error.message)
            return
        self.writer.check()
        if self.ask.plan == CALM:
            self._judge_calm(edits=len(script) - 1)
        else:
            self._judge_repeats()
        self._judge_leaks()
        for law, sentence in at_rest(self.watch.scene, self.watch.rates):
            watchman.book.report(law, "nobody", sentence)

    def _judge_leaks(self) -> None:
        """Ask that nothing is left, unless it may be needed once more."""
        if self.it.lasting or self.it.hopeless:
            return
        for sentence in leaks(self.watch.scene, self.watch.family):
            self.watch.watchman.book.report("LEAK", "nobody", sentence)

    def judge_bugs(self) -> None:
        """Ask that nothing, however bad, shows a bug in a pass."""
        if found := bugs(self.it):
            self.watch.watchman.book.report("K8", "nobody", found)

    def _judge_lasting(self) -> None:
        """Ask that what never ends is told: it is why a step does not come to its end."""
        alone = len(self.ask.plan.hits) == 1
        for sentence in never_told(self.watch.scene, alone=alone):
            self.watch.watchman.book.report("L0'", "nobody", sentence)

    def _judge_repeats(self) -> None:
        """Ask that nobody wrote what was there, but for who could not know it."""
        families = [hit.fault.family for hit in self.ask.plan.hits]
        if vain := self.watch.vain.repeats(families):
            self.watch.watchman.book.report("K4", "nobody", vain)

    def _judge_calm(self, edits: int) -> None:
        """Ask for what only holds when no call goes wrong."""
        book = self.watch.watchman.book
        most = _REPEATED if may_be_told(self.it, OUTAGE) else 0
        if (failed := failed_passes(self.it)) > most:
            book.report("K8", "nobody", f"{failed} passes failed, of {most} that may fail")
        if quiet := untold(self.it, self.watch.words.told):
            book.report("K5", "nobody", f"nobody was told of {quiet}")
        hindered = any(may_be_told(self.it, why) for why in (OUTAGE, "ObjectRefused"))
        if (vain := self.watch.vain.complaint(edits)) and not hindered:
            book.report("K4", "nobody", vain)

    async def _take(self, step: Step) -> None:
        self.it.world.trace.note(f"user: {step.text}")
        with self.watch.watchman.in_the_name_of(USER):
            await step.do(self.it)
        try:
            took = await self._rest.reach(step.text, lambda: step.until(self.it), step.pause)
        except NotInTime:
            if not self.it.lasting:
                raise
            self._judge_lasting()
            return
        enough = _QUICK + step.leaving
        if self.ask.plan == CALM and took > enough:
            words = f"{step.text}: {took:g} s, and {enough:g} must be enough in calm"
            self.watch.watchman.book.report("L1", "nobody", words)
