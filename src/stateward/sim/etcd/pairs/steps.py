"""One edit of a spec: how it was answered, how long it took, and how much it disturbed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from stateward.etcd.model.members import quorum
from stateward.kube import conditions
from stateward.kube.client import Change
from stateward.kube.codec import Json
from stateward.kube.resources import EVENTS, LEASES, PODS, VOLUME_CLAIMS
from stateward.local.store import StoreEvent
from stateward.sim.etcd.pairs.stage import Stage
from stateward.sim.etcd.pairs.tables import ASLEEP, DOOR, NEVER, PAUSED, READY
from stateward.sim.etcd.scenarios import cluster
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.network import Asked

#: Seconds in which every edit must come to its end.
PATIENCE: Final = 600.0
#: Seconds without a write after which a cluster that says it is as asked is believed.
_QUIET: Final = 12.0
#: The same for one that says it is not: longer than the operator waits for a member that is away.
_STUCK: Final = 75.0
#: Reasons of a spec that is not even tried: nothing that time brings will change it.
_HOPELESS: Final = frozenset({"SpecInvalid", "SecretMissing"})
_UNHEARD: Final = frozenset({LEASES.name, EVENTS.name})


@dataclass(slots=True)
class Ears:
    """What is heard while a step is taken."""

    #: When anything but a lease, an event or a pod's report was written last.
    last: float = 0.0
    #: What was taken away from members, or done to their etcd.
    acts: Counter[str] = field(default_factory=Counter)
    #: Whether etcd had no quorum at some moment, of those that were looked at.
    quorum_lost: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """How an edit went."""

    verdict: str
    #: Why: what the server or the operator said of it.
    words: str
    acts: Json
    seconds: float
    quorum_lost: bool
    #: The laws that were broken meanwhile.
    broken: tuple[str, ...] = ()

    @property
    def is_gentle(self) -> bool:
        """Whether nothing was disturbed."""
        return not self.acts and not self.quorum_lost


def take(stage: Stage, spec: Json) -> Step:
    """Ask for a spec and wait until nothing happens any more."""
    refused = stage.ask(spec)
    if refused:
        return Step(DOOR, refused, {}, 0.0, quorum_lost=False)
    return settle(stage)


def settle(stage: Stage) -> Step:
    """Wait until nothing happens any more."""
    began, broken = stage.loop.time(), len(stage.violations)
    with listening(stage) as ears:
        verdict, words = stage.do(_rest(stage.it, ears))
    acts = {name: ears.acts[name] for name in sorted(ears.acts)}
    seconds = stage.loop.time() - began
    return Step(verdict, words, acts, seconds, ears.quorum_lost, stage.violations[broken:])


async def _rest(it: EtcdWorld, ears: Ears) -> tuple[str, str]:
    world = it.world
    deadline = world.loop.time() + PATIENCE
    while world.loop.time() < deadline:
        await asyncio.sleep(0.5)
        ears.quorum_lost |= not _has_quorum(it)
        verdict, words = verdict_of(it)
        if verdict and world.loop.time() - ears.last >= _patience(verdict):
            return verdict, words
    return NEVER, f"{verdict or 'not observed'}: {words}"


def _patience(verdict: str) -> float:
    settled = verdict in {READY, ASLEEP, PAUSED} or verdict in _HOPELESS
    return _QUIET if settled else _STUCK


def verdict_of(it: EtcdWorld) -> tuple[str, str]:
    """Return how the operator sees the spec as it is now, and its words; nothing: not yet."""
    found = cluster(it)
    if found is None:
        return "gone", ""
    if found.status.observed_generation != found.metadata.generation:
        return "", ""
    said = {one.type: one for one in found.status.conditions}
    ready = said.get("Ready")
    if ready is None:
        return "", ""
    if conditions.is_true(found.status.conditions, "Paused"):
        return PAUSED, ready.message
    if ready.status != "True":
        return ready.reason, ready.message
    return (READY if found.spec.replicas else ASLEEP), ready.message


@contextmanager
def listening(stage: Stage) -> Generator[Ears, None, None]:
    """Hear what is done to a world."""
    world = stage.it.world
    ears = Ears(last=stage.loop.time())

    def changed(event: StoreEvent) -> None:
        if event.resource in _UNHEARD:
            return
        if event.resource == PODS.name and event.change is Change.MODIFIED:
            return
        ears.last = stage.loop.time()
        if event.change is Change.DELETED and event.resource in {PODS.name, VOLUME_CLAIMS.name}:
            ears.acts[f"deleted {event.resource}"] += 1

    def called(_: str, call: Asked) -> None:
        if isinstance(call, EtcdCall) and call.writes:
            ears.acts[f"etcd {call.verb}"] += 1

    world.weather.listeners.append(called)
    stop = world.api.store.listen(changed)
    try:
        yield ears
    finally:
        stop()
        world.weather.listeners.remove(called)


def _has_quorum(it: EtcdWorld) -> bool:
    """Tell whether a majority of the voters that etcd itself lists are there to speak."""
    servers = it.universe.servers
    newest = max(servers, key=lambda server: server.disk.index, default=None)
    if newest is None:
        return False
    voters = [one.id for one in newest.state.members.values() if not one.learner]
    there = {server.member_id for server in servers if server.speaks}
    return sum(one in there for one in voters) >= quorum(len(voters))
