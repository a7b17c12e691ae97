"""K5 and K8: what the status of a cluster says is true, and it does not tell of a bug."""

from __future__ import annotations

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.kube import conditions
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.mistakes import may_be_told
from stateward.sim.laws.custom import Family
from stateward.sim.laws.watchman import Actor

#: What the status says of an error that nobody expected.
_BUG = "InternalError"
#: What it says while something of an earlier cluster of that name is still there.
_TAKEN = "NameTaken"


class Words:
    """K5: who says that a cluster is ready saw all its voters alive. K8: no pass fell over.

    In calm K5 also means that no person is called where all is well: see :meth:`_judge_calls`.
    """

    def __init__(self, scene: Scene, family: Family) -> None:
        self._scene = scene
        self._family = family
        #: Whether no call goes wrong.
        self.calm = False
        #: All that was ever told to be in the way.
        self.told: set[str] = set()
        scene.watchman.on_change(ETCD_CLUSTERS.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if not actor.operates or event.change is not Change.MODIFIED or event.before is None:
            return
        now = self._scene.cluster(event.now.key)
        blockers = now.status.blockers if now is not None else ()
        self.told.update(it.guard for it in blockers)
        if now is not None and any(it.guard == _BUG for it in blockers):
            self._scene.report("K8", actor, now.status.doing)
        if now is not None and self.calm:
            self._judge_calls(actor, event.now.key, now)
        if now is None or not _is_ready(now) or now.spec.replicas == 0:
            return
        if _is_ready(decode(event.before.text, EtcdCluster)):
            return
        if now.status.observed_generation == now.metadata.generation:
            self._judge(actor, event.now.key, now.spec.replicas)

    def _judge_calls(self, actor: Actor, key: ObjectKey, now: EtcdCluster) -> None:
        """Nothing is in the way but what a person did: lost members, or names that are taken."""
        then = self._scene.looks.last(actor, key).standing
        lost = not then.stands or not self._scene.truth.standing(key).stands
        for it in now.status.blockers:
            earlier = it.guard == _TAKEN and len(self._family.uids(key)) > 1
            if not (lost or earlier or may_be_told(self._scene.it, it.guard)):
                self._scene.report("K5", actor, f"{key} is held up by {it.guard} in calm")

    def _judge(self, actor: Actor, key: ObjectKey, wanted: int) -> None:
        """Hold it against what was when it was asked, or has become since."""
        then = self._scene.looks.last(actor, key).standing
        now = self._scene.truth.standing(key)
        alive = max(len(it.alive & it.voters) if it.stands else 0 for it in (then, now))
        if alive < wanted:
            words = f"{key} is called ready with {alive} of {wanted} voters"
            self._scene.report("K5", actor, words)


def _is_ready(cluster: EtcdCluster) -> bool:
    return conditions.is_true(cluster.status.conditions, "Ready")
