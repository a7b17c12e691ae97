"""K2, E-S1, E-S9, E-S15: what is asked right before an act, and what is not done at all."""

from __future__ import annotations

from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.model.members import quorum
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.sim.etcd.laws.scene import CHANGES, FRESH, Scene
from stateward.sim.etcd.laws.truth import Standing
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.etcd.world import TWIN
from stateward.sim.laws.watchman import Actor, Sent

_KINDS: Final = frozenset({PODS.name, STATEFUL_SETS.name, VOLUME_CLAIMS.name})
#: Seconds that a member is busy giving space back.
_BUSY: Final = 0.2


#: Seconds in which a second pass beside the first may have looked, after that had asked.
_BESIDE = 0.5


class Intents:
    """K2: before something is taken away, the user is asked once more, past the cache.

    E-S1: nobody asks for a removal of which etcd must say that it leaves no quorum. E-S9: while two
    clusters answer, nothing is changed. E-S15: one member at a time gives space back, and the
    leader is the last. Of two operators of which one acts without the lease each is judged by
    itself: etcd takes no condition with such a call, so nobody could keep them apart.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: When a process last asked for a cluster as it is.
        self._asked: dict[tuple[str, ObjectKey], float] = {}
        #: When, where and by whom space was last given back.
        self._defragmented: tuple[float, str, str] = (-1.0, "", "")
        scene.watchman.on_sent(self._sent)

    def _sent(self, sent: Sent) -> None:
        about, call = sent.about, sent.call
        if about is None:
            return
        if isinstance(call, Call) and call.verb == "get":
            if call.resource.name == ETCD_CLUSTERS.name and call.key == about:
                self._asked[sent.who, about] = sent.at
        elif isinstance(call, EtcdCall) and call.verb == "defragment":
            self._judge_upkeep(sent, about, call.address)
        elif _takes(call):
            self._judge(sent, about)

    def _judge(self, sent: Sent, about: ObjectKey) -> None:
        actor = Actor(sent.who, sent.call, about)
        asked = self._asked.get((sent.who, about))
        look = self._scene.looks.last(actor, about)
        if asked is None or sent.at - asked > FRESH:
            self._scene.report("K2", actor, f"{sent.call}, and the user was not asked")
        elif asked < look.at and sent.at - asked > _BESIDE:
            self._scene.report("K2", actor, f"{sent.call}, and the user was asked before")
        if look.standing.led > 1:
            self._scene.report("E-S9", actor, f"{sent.call} in a split brain")
        if isinstance(sent.call, EtcdCall) and sent.call.verb == "remove":
            self._judge_removal(actor, look.standing, sent.call.about)

    def _judge_removal(self, actor: Actor, seen: Standing, member: str) -> None:
        """By those who were alive at the look: etcd refuses, but only as far as it knows."""
        rest = frozenset(it for it in seen.voters if f"{it:x}" != member)
        if rest != seen.voters and len(seen.alive & rest) < quorum(len(rest)):
            self._scene.report("E-S1", actor, f"{actor.call}, and the rest was no quorum")

    def _judge_upkeep(self, sent: Sent, about: ObjectKey, address: str) -> None:
        actor = Actor(sent.who, sent.call, about)
        at, where, who = self._defragmented
        apart = who != sent.who and any(it.startswith(TWIN) for it in (who, sent.who))
        if where != address and sent.at - at < _BUSY and not apart:
            self._scene.report("E-S15", actor, f"{address} gives space back beside {where}")
        self._defragmented = (sent.at, address, sent.who)
        standing = self._scene.looks.last(actor, about).standing
        waiting = [
            it.start.name
            for _, it in self._scene.truth.lodgers(about)
            if it is not None and it.disk.slack and it.start.address != address and it.speaks
        ]
        if standing.address(standing.leader) == address and waiting:
            names = ", ".join(sorted(waiting))
            self._scene.report("E-S15", actor, f"the leader gives space back before {names}")


def _takes(call: object) -> bool:
    """Tell whether a call takes something away, or cannot be taken back."""
    if isinstance(call, EtcdCall):
        return call.verb in CHANGES
    if not isinstance(call, Call) or not call.writes:
        return False
    return call.verb in {"delete", "evict"} and call.resource.name in _KINDS
