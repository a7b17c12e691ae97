"""K2, E-S9, E-S15: what is asked right before an act, and what is not done at all."""

from __future__ import annotations

from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.sim.etcd.laws.scene import CHANGES, FRESH, Scene
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.laws.watchman import Actor, Sent

_KINDS: Final = frozenset({PODS.name, STATEFUL_SETS.name, VOLUME_CLAIMS.name})
#: Seconds that a member is busy giving space back.
_BUSY: Final = 0.2


#: Seconds in which a second pass beside the first may have looked, after that had asked.
_BESIDE = 0.5


class Intents:
    """K2: before something is taken away, the user is asked once more, past the cache.

    E-S9: while two clusters answer, nothing is changed. E-S15: one member at a time gives space
    back, and the leader is the last.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: When a process last asked for a cluster as it is.
        self._asked: dict[tuple[str, ObjectKey], float] = {}
        self._defragmented: tuple[float, str] = (-1.0, "")
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

    def _judge_upkeep(self, sent: Sent, about: ObjectKey, address: str) -> None:
        actor = Actor(sent.who, sent.call, about)
        at, where = self._defragmented
        if where != address and sent.at - at < _BUSY:
            self._scene.report("E-S15", actor, f"{address} gives space back beside {where}")
        self._defragmented = (sent.at, address)
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
