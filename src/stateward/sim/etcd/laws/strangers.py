"""E-S5, E-S6 and E-S14 for what only looks like a member of ours, or like a broken one."""

from __future__ import annotations

from typing import Any

from stateward.core.moments import from_rfc3339
from stateward.emulate.etcd.state import History, State
from stateward.kube.meta import ObjectKey
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import changes, claim_of, ordinal
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.kube.lodgers import Lodger
from stateward.sim.laws.watchman import Actor, Sent
from stateward.sim.loop import SimClock

#: Seconds: what comes while a pass is under way may be seen by the next one alone.
_PASS = 1.0


class Strangers:
    """Nobody else is asked for a change, and nobody starts on, or goes for, what is not broken."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._it = scene.it
        #: Seconds by which caches may be late.
        self.late = 15.0
        scene.watchman.on_sent(self._sent)
        scene.it.nodes.on_reuse = self._reused

    def agreed(self, _: History, before: State, after: State) -> None:
        """Judge who joins and who goes."""
        if before.members is after.members:
            return
        actor = self._scene.author
        if actor.about is None:
            return
        for change, member in changes(before, after):
            if change == "add_learner" and self._it.foreign_claims:
                self._judge_volume(actor, actor.about, ordinal(member))
            elif change == "remove" and not member.learner:
                self._judge_hunger(actor, actor.about, ordinal(member))

    def _sent(self, sent: Sent) -> None:
        """E-S5: who answered as somebody else is not asked to change anything."""
        call = sent.call
        if not self._it.strangers or not call.writes or not isinstance(call, EtcdCall):
            return
        began, about = self._it.strangers.get(call.address), sent.about
        if began is None or about is None:
            return
        actor = Actor(sent.who, call, about)
        if self._scene.looks.last(actor, about).at > began:
            self._scene.report("E-S5", actor, f"{call}, where somebody else's etcd is")

    def _judge_volume(self, actor: Actor, cluster: ObjectKey, place: int) -> None:
        """E-S6: a member that joins finds no claim of somebody else that was there to be seen."""
        looked = self._scene.looks.last(actor, cluster).at
        if all(it.spec.storage.empty_dir is not None for it in self._scene.seen(actor, cluster)):
            return  # its pods have no claims at all
        for claim, since in self._it.foreign_claims.items():
            if claim_of(cluster, claim.name) == place and since < looked - _PASS:
                words = f"{cluster.name}-{place} is added, and would start on {claim.name}"
                self._scene.report("E-S6", actor, f"{words}, which is not ours")

    def _judge_hunger(self, actor: Actor, cluster: ObjectKey, place: int) -> None:
        """E-S14: who was killed for its memory is not broken."""
        lodger = self._it.nodes.lodger(ObjectKey(cluster.namespace, f"{cluster.name}-{place}"))
        wanted = min((it.spec.replicas for it in self._scene.seen(actor, cluster)), default=0)
        if lodger is None or place >= wanted or not self._was_hungry(lodger):
            return
        words = f"{lodger.key.name} is replaced, and was killed for its memory"
        self._scene.report("E-S14", actor, words)

    def _was_hungry(self, lodger: Lodger) -> bool:
        """Tell whether a pod is down for its memory alone, for so long that everybody knows it."""
        end: Any = lodger.last_end
        if lodger.program is not None or end is None or end["reason"] != "OOMKilled":
            return False
        ended = from_rfc3339(end["finishedAt"])
        if SimClock(self._it.world.loop).now() - ended < self.late:
            return False
        disk = self._it.pods.disk_of(lodger.key)
        return disk is not None and any(it is disk for it in self._it.pods.sound_disks())

    def _reused(self, address: str) -> None:
        """Forget what was of who had an address before."""
        cuts = self._it.universe.cuts
        cuts.difference_update([it for it in cuts if address in it])
        self._scene.looks.moved_in(address)
