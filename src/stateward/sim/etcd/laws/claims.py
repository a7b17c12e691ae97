"""E-S4 and E-S5: whose volume may go."""

from __future__ import annotations

from collections.abc import Mapping

from stateward.emulate.etcd.state import Disk
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.claims import FINALIZER
from stateward.etcd.caches import INSTANCE
from stateward.etcd.model.members import Member
from stateward.etcd.model.names import CLUSTER_UID_LABEL, LEFT_BY
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.store import Stored, StoreEvent
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import claim_of, ordinal
from stateward.sim.kube.volumes import claims_of
from stateward.sim.laws.watchman import KUBERNETES, Actor, begins_to_go

#: Seconds for which a learner may have run unseen: one that starts just then joins anew.
_UNSEEN = 15.0


class Claims:
    """E-S4, E-S5: a claim goes only when no member has its data on it, and no pod needs it.

    E-S4 also: one that shall outlive its cluster does not go with it, once the operator knew that.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.watchman.on_change(VOLUME_CLAIMS.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if actor.name == KUBERNETES and begins_to_go(event):
            self._judge_keeping(actor, event.now)
        if not actor.operates or not begins_to_go(event) or actor.about is None:
            return
        name, place = event.now.key.name, claim_of(actor.about, event.now.key.name)
        if place is None:
            self._scene.report("E-S5", actor, f"{name} is no claim of {actor.about}")
            return
        then = self._scene.looks.last(actor, actor.about).standing
        if not then.stands and not self._scene.looks.known(actor, actor.about).stands:
            self._scene.report("E-S4", actor, f"{name} is deleted, and no quorum was asked")
        disk = self._scene.it.volumes.content.get(event.now.uid, Disk())
        self._judge_data(actor, name, place, disk)
        roster = self._scene.truth.roster(actor.about)
        learns = any(ordinal(it) == place and it.learner for it in roster.values())
        if not learns and not _is_left(event.now, roster) and self._is_mounted(event.now.key):
            self._scene.report("E-S4", actor, f"{name} is deleted under a pod")

    def _judge_keeping(self, actor: Actor, claim: Stored) -> None:
        """Only the garbage collector takes claims by itself, for the sake of whom they go with."""
        cluster = ObjectKey(claim.key.namespace, claim.labels.get(INSTANCE, ""))
        uid = claim.labels.get(CLUSTER_UID_LABEL)
        known = [it for it in self._scene.recent(cluster, 0.0) if it.metadata.uid == uid]
        wish = [it for it in known if it.metadata.generation == known[-1].metadata.generation]
        if any(it.spec.retain_volumes_on_delete and _is_heard(it) for it in wish):
            self._scene.report("E-S4", actor, f"{claim.key.name} goes, and should stay")

    def _judge_data(self, actor: Actor, name: str, place: int, disk: Disk) -> None:
        if disk.history is None:
            return
        member = self._scene.truth.listed(disk.history).get(disk.member_id)
        if member is None:
            return
        if ordinal(member) != place:
            self._scene.report("E-S5", actor, f"{name} is deleted with another one's data")
        if not member.learner or self._runs_long(disk, member):
            words = f"{name} is deleted, and its member is listed"
            self._scene.report("E-S4", actor, words)

    def _runs_long(self, disk: Disk, member: Member) -> bool:
        now = self._scene.it.world.loop.time()
        return any(
            it.disk is disk and it.speaks and member.started and now - it.began > _UNSEEN
            for it in self._scene.it.universe.servers
        )

    def _is_mounted(self, claim: ObjectKey) -> bool:
        pods = self._scene.it.world.api.store.all(PODS.name, claim.namespace)
        return any(claim.name in claims_of(it.document()) for it in pods)


def _is_left(claim: Stored, roster: Mapping[int, Member]) -> bool:
    """Tell whether a claim says whose data it holds, and that one is no longer a member."""
    annotations = claim.document()["metadata"].get("annotations") or {}
    member = annotations.get(LEFT_BY, "")
    return bool(member) and int(member, 16) not in roster


def _is_heard(cluster: EtcdCluster) -> bool:
    """Tell whether an operator has acted on a wish, or says to have seen it."""
    metadata = cluster.metadata
    observed = cluster.status.observed_generation == metadata.generation
    return observed or FINALIZER in metadata.finalizers
