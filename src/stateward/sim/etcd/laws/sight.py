"""K5 of what may not be looked at: whoever is kept from that says so."""

from __future__ import annotations

from typing import Final

from stateward.core.moments import from_rfc3339
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.operator import LEASE
from stateward.kube.codec import decode
from stateward.kube.interception import Call
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import LEASES
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, Sent

#: Seconds in which it is told, after it was met or the cluster came.
_SOON: Final = 15.0


class Sight:
    """K5: a leader that may not list what belongs to clusters tells so in the status of each.

    Nothing is done for them meanwhile, and only a person can help, who reads that status. Whoever
    may not list the clusters themselves knows of none to tell.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._world = scene.it.world
        #: Whether nothing else goes wrong, which might keep anybody from telling.
        self.alone = False
        #: When a process was first refused a list.
        self._refused: dict[tuple[str, str], float] = {}
        scene.watchman.on_sent(self._sent)

    def _sent(self, sent: Sent) -> None:
        call = sent.call
        if not isinstance(call, Call) or call.verb != "list" or sent.about is not None:
            return
        what = call.resource.name
        if self._world.weather.may(call) or what == ETCD_CLUSTERS.name:
            self._refused.pop((sent.who, what), None)
            return
        since = self._refused.setdefault((sent.who, what), sent.at)
        if self.alone and sent.at - since > _SOON and self._leads(sent.who):
            self._judge(Actor(sent.who, call), what)

    def _leads(self, who: str) -> bool:
        stored = self._world.api.store.get(LEASES.name, LEASE)
        return stored is not None and decode(stored.text, Lease).spec.holder_identity == who

    def _judge(self, actor: Actor, what: str) -> None:
        for stored in self._world.api.store.all(ETCD_CLUSTERS.name):
            cluster = decode(stored.text, EtcdCluster)
            age = self._world.clock.now() - from_rfc3339(cluster.metadata.creation_timestamp)
            told = any(what in it.message for it in cluster.status.blockers)
            if not told and age > _SOON and not cluster.metadata.deleting:
                words = f"{what} may not be listed, and the status of {stored.key} does not say so"
                self._scene.report("K5", actor, words)
