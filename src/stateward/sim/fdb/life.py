"""One life of FoundationDB clusters: a scenario, a plan and a seed, and what came of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final

from stateward.core.errors import HouseError
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.kube.resources import Resource
from stateward.local.catalog import REPLICA_SETS
from stateward.sim.faults import CALM, Kind, Plan
from stateward.sim.fdb.laws.backups.words import untrue
from stateward.sim.fdb.laws.watch import FdbWatch
from stateward.sim.fdb.operators import Befalling, assembled
from stateward.sim.fdb.oracles import costs
from stateward.sim.fdb.oracles.acts import Acts
from stateward.sim.fdb.oracles.dead_ends import is_dead_end
from stateward.sim.fdb.oracles.ends import end_of
from stateward.sim.fdb.oracles.leaks import at_rest
from stateward.sim.fdb.scenarios import BACKED_UP, PLACES, SCENARIOS
from stateward.sim.fdb.scripts.kit import Script, Step
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.failures import failed_passes
from stateward.sim.laws.rest import Noise, Rest
from stateward.sim.laws.watchman import USER
from stateward.sim.lives import Ask, lateness
from stateward.sim.living import Lived, Lives
from stateward.sim.loop import SimLoop
from stateward.sim.sites import Sites
from stateward.sim.world import NotInTime, World

#: Seconds in which every step must come to its end after the last fault: a group that goes waits
#: for up to ten minutes after each recovery, and a bounce as long after each start.
PATIENCE: Final = 1800.0

#: After so many broken laws a life is not lived to its end.
_MANY: Final = 8
#: Seconds between what people do: what is told of the last step is written down first.
_BREATH: Final = 8.0

#: How many writes may be refused for each wish: both halves of a group change with it, each has a
#: writer of its own, and whoever comes second sees that and writes again.
_PARTED: Final = 12


#: The kinds of a world without backups, and of one with them and Deployments of agents.
_KINDS: Final[tuple[Resource[Any], ...]] = (CLUSTERS, PROCESS_GROUPS)
_BACKED_UP: Final = (*_KINDS, BACKUPS, RESTORES, REPLICA_SETS)


class _Enough(HouseError):
    """So many laws were broken that the rest of a life tells nothing new."""

    reason = "Enough"


class _Lived(Lived[FdbWorld, Script]):
    """A life of FoundationDB clusters: the world, and all who watch it."""

    def __init__(self, loop: SimLoop, ask: Ask, *, record: bool) -> None:
        it = _begun(loop, ask)
        for site in it.sites:
            Befalling(site)
        sites = Sites(it.world, record=record)
        self.watch = watch = FdbWatch(it)
        #: Who watches what, data center by data center.
        self._watches = [watch, *(FdbWatch(site, watch) for site in it.sites[1:])]
        self._counts: Counter[str] = Counter()
        for one in self._watches:
            Acts(one.scene.it, one.watchman, self._counts)
        rest = Rest(it.world, watch.rates, PATIENCE)
        super().__init__(it, sites, watch.watchman, watch.vain, rest)
        self.take_up(ask, record=record)

    def take_up(self, ask: Ask, *, record: bool) -> None:
        """Let things go wrong as a plan says, from now on."""
        super().take_up(ask, record=record)
        for watch in self._watches:
            watch.late(lateness(ask.plan), _asleep(ask.plan))
            watch.calm(ask.plan == CALM)

    @property
    def counts(self) -> Mapping[str, int]:
        """What operators did to the world, and how often."""
        return self._counts

    def operate(self) -> None:
        """Start as many operators as were asked for, in each data center."""
        for site in self.it.sites:
            site.operate(assembled, self.ask.operators)

    def end(self) -> Mapping[str, str]:
        """Return what there is in the end, without chance's names."""
        self.it.hopeless = any(site.hopeless for site in self.it.sites)
        return end_of(self.it)

    async def run(self, script: Script) -> None:
        """Take every step, and see whether all comes to rest as it should."""
        for watch in self._watches:
            watch.watchman.follow_faults()
        try:
            await self._take_all(script)
        except _Enough:
            return
        except Noise as error:
            self.report("SILENCE", error.message)
        except NotInTime as error:
            lost = any(site.hopeless for site in self.it.sites)
            self.it.hopeless = lost or is_dead_end(self.it)
            if not self.it.hopeless:  # then only a person can help, and nobody does
                self.report("L0", error.message)
            return
        except HouseError as error:
            self.report("K8", error.message)
            return
        self._judge_end(script)

    async def _take_all(self, script: Script) -> None:
        for step in script:
            await self._take(step)
            await asyncio.sleep(_BREATH)
        last = script[-1]
        await self._rest.stay(last.text, lambda: self._holds(last))

    def _judge_end(self, script: Script) -> None:
        if self.ask.plan == CALM:
            self._judge_calm(script)
        else:
            self.judge_repeats()
        for watch in self._watches:
            for law, sentence in at_rest(watch.scene, watch.rates):
                self.report(law, sentence)
            for sentence in untrue(watch.wishes) if watch.wishes is not None else ():
                self.report("F-B7", sentence)

    def _judge_calm(self, script: Script) -> None:
        """Ask for what only holds when no call goes wrong."""
        failed = failed_passes(self.it)
        if failed and not any(step.pauses for step in script):
            self.report("K8", f"{failed} passes failed")
        edits = len(script) - 1
        if vain := self.watch.vain.complaint(edits * _PARTED * len(self._watches)):
            self.report("K4", vain)

    def _holds(self, step: Step) -> bool:
        if len(self.watch.watchman.book.violations) >= _MANY:
            raise _Enough("so many laws were broken that nothing more can be learned")
        return step.until(self.it)

    async def _take(self, step: Step) -> None:
        self.begin(step.text)
        watchman = self.watch.watchman
        watchman.last_fault = self.it.world.loop.time()
        for watch in () if step.befalls else self._watches:
            watch.scene.asked_at = watchman.last_fault
        before = costs.spent(self.it, self.counts)
        with ExitStack() as names:
            for watch in self._watches:
                names.enter_context(watch.watchman.in_the_name_of(USER))
            await step.do(self.it)
        took = await self._rest.reach(step.text, lambda: self._holds(step))
        if self.ask.plan == CALM:
            self._judge_calm_step(step, took, before)

    def _judge_calm_step(self, step: Step, took: float, before: costs.Cost) -> None:
        if took > step.quick:
            words = f"{step.text}: {took:g} s, and {step.quick:g} must be enough in calm"
            self.report(step.law, words)
        now = costs.spent(self.it, self.counts)
        if step.costs is not None and (words := costs.complaint(step.costs, before, now)):
            self.report("F-S26", f"{step.text}: {words}")


def _begun(loop: SimLoop, ask: Ask) -> FdbWorld:
    """Return the world of a scenario: one Kubernetes, or one for each of its data centers."""
    has_backups = ask.scenario in BACKED_UP
    kinds = _BACKED_UP if has_backups else _KINDS
    first, *others = PLACES.get(ask.scenario, ("",))
    it = FdbWorld(World(loop, ask.seed, kinds, place=first), backs_up=has_backups)
    for place in others:
        world = World(loop, ask.seed, kinds, place=place, beside=it.world)
        FdbWorld(world, beside=it)
    return it


def _asleep(plan: Plan) -> float:
    """Return for how many seconds senders stand still under a plan."""
    return sum(it.fault.seconds or 90.0 for it in plan.hits if it.fault.kind is Kind.ZOMBIE)


_LIVES: Final = Lives(_Lived, SCENARIOS)
live, live_with, live_and_turn = _LIVES.live, _LIVES.live_with, _LIVES.live_and_turn
