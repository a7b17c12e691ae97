"""One life of etcd clusters: a scenario, a plan of faults and a seed, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
from stateward.sim.laws.failures import failed_passes
from stateward.sim.laws.rest import PATIENCE, Noise, Rest
from stateward.sim.laws.violations import Violation
from stateward.sim.laws.watchman import USER
from stateward.sim.lives import Ask, Life, lateness, same
from stateward.sim.living import Lived, Lives
from stateward.sim.loop import SimLoop
from stateward.sim.sites import Site, Sites
from stateward.sim.world import NotInTime, World

__all__ = ["PATIENCE", "Ask", "Life", "Site", "Violation", "live", "live_with", "same"]

#: Seconds that a step may take in calm, after what it does to the world is over.
_QUICK = 45.0
#: How many passes may fail while nobody answers: each one waits for longer than the one before.
_REPEATED = 12


class _Lived(Lived[EtcdWorld, Script]):
    """A life of etcd clusters: the world, and all who watch it."""

    def __init__(self, loop: SimLoop, ask: Ask, *, record: bool) -> None:
        world = World(loop, ask.seed, (ETCD_CLUSTERS, CONTROLLER_REVISIONS))
        it = EtcdWorld(world)
        sites = Sites(world, record=record)
        self.watch = watch = EtcdWatch(it)
        self.acts = Acts(watch.watchman)
        self.writer = Writer(watch.scene)
        watch.on_agreed(lambda _, before, after: self.acts.agreed(before, after))
        watch.on_agreed(self.writer.agreed)
        watch.on_agreed(StrayLogins(watch.scene).agreed)
        Orphans(it)
        rest = Rest(world, watch.rates)
        super().__init__(it, sites, watch.watchman, watch.vain, rest)
        self.take_up(ask, record=record)

    def take_up(self, ask: Ask, *, record: bool) -> None:
        """Let things go wrong as a plan says, from now on."""
        super().take_up(ask, record=record)
        self.watch.late(lateness(ask.plan))
        self.watch.calm(ask.plan == CALM)
        self.watch.alone(len(ask.plan.hits) <= 1)

    @property
    def counts(self) -> Mapping[str, int]:
        """What operators did to the world, and how often."""
        return self.acts.counts

    def operate(self) -> None:
        """Start as many operators as were asked for."""
        self.it.operate(self.ask.operators)

    def end(self) -> Mapping[str, str]:
        """Return what there is in the end, without chance's names."""
        return end_of(self.it)

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
            self.report("SILENCE", error.message)
        except NotInTime as error:
            self.it.hopeless = self.it.hopeless or is_dead_end(self.it)
            if not self.it.hopeless:  # then only a person can help, and nobody does
                self.report("L0", error.message)
            return
        except HouseError as error:
            self.report("K8", error.message)
            return
        self.writer.check()
        if self.ask.plan == CALM:
            self._judge_calm(edits=len(script) - 1)
        else:
            self.judge_repeats()
        self._judge_leaks()
        for law, sentence in at_rest(self.watch.scene, self.watch.rates):
            self.report(law, sentence)

    def _judge_leaks(self) -> None:
        """Ask that nothing is left, unless it may be needed once more."""
        if self.it.lasting or self.it.hopeless:
            return
        for sentence in leaks(self.watch.scene, self.watch.family):
            self.report("LEAK", sentence)

    def _judge_lasting(self) -> None:
        """Ask that what never ends is told: it is why a step does not come to its end."""
        alone = len(self.ask.plan.hits) == 1
        for sentence in never_told(self.watch.scene, alone=alone):
            self.report("L0'", sentence)

    def _judge_calm(self, edits: int) -> None:
        """Ask for what only holds when no call goes wrong."""
        most = _REPEATED if may_be_told(self.it, OUTAGE) else 0
        if (failed := failed_passes(self.it)) > most:
            self.report("K8", f"{failed} passes failed, of {most} that may fail")
        if quiet := untold(self.it, self.watch.words.told):
            self.report("K5", f"nobody was told of {quiet}")
        hindered = any(may_be_told(self.it, why) for why in (OUTAGE, "ObjectRefused"))
        if (vain := self.watch.vain.complaint(edits)) and not hindered:
            self.report("K4", vain)

    async def _take(self, step: Step) -> None:
        self.begin(step.text)
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
            self.report("L1", words)


_LIVES: Final = Lives(_Lived, SCENARIOS)
live, live_with, live_and_turn = _LIVES.live, _LIVES.live_with, _LIVES.live_and_turn
