"""F-S7 and F-S8: whose volume may go, and that those of a cluster outlive it."""

from __future__ import annotations

from stateward.emulate.fdb.database import Database
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.model.names import CLUSTER_UID_LABEL, INSTANCE_LABEL
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.store import Stored, StoreEvent
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.kube.volumes import claims_of
from stateward.sim.laws.watchman import KUBERNETES, Actor, begins_to_go


class Claims:
    """Every claim that goes.

    F-S7: no pod is there that has it. F-S8: nothing that a database needs is on it, or, where a
    person had it skipped, there is another copy of everything. RETAIN: a claim stays when its
    cluster goes, unless the cluster said otherwise.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.watchman.on_change(VOLUME_CLAIMS.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if not begins_to_go(event) or not (actor.operates or actor.name == KUBERNETES):
            return
        claim, truth = event.now, self._scene.truth
        group = truth.group_of_claim(claim.key)
        cluster = truth.cluster(group) if group is not None else None
        if cluster is None:
            self._judge_keeping(actor, claim)
            return
        if self._is_mounted(claim.key):
            self._scene.report("F-S7", actor, f"{claim.key.name} is deleted under a pod")
        if group is None or not group.spec.remove:
            self._scene.report("F-S8", actor, f"{claim.key.name} is deleted, and its group stays")
            return
        disks = truth.disks(claim)
        for database, what in truth.needing(disks):
            if not group.spec.exclusion_skipped:
                self._scene.report("F-S8", actor, f"{claim.key.name} is deleted, and has {what}")
            elif lost_without(database, truth.every_disk() - disks):
                self._scene.report("ACK", actor, f"{claim.key.name} has the last copy of data")

    def _judge_keeping(self, actor: Actor, claim: Stored) -> None:
        """Ask whether the cluster that a claim was of wished it to go with itself."""
        uid = claim.labels.get(CLUSTER_UID_LABEL)
        key = ObjectKey(claim.key.namespace, claim.labels.get(INSTANCE_LABEL, ""))
        wishes = [it for it in self._scene.recent(key) if it.metadata.uid == uid]
        if self._is_there(key, uid) or any(map(_lets_go, wishes)) or not wishes:
            return
        self._scene.report("RETAIN", actor, f"{claim.key.name} goes with its cluster")

    def _is_there(self, key: ObjectKey, uid: str | None) -> bool:
        stored = self._scene.it.world.api.store.get(CLUSTERS.name, key)
        return stored is not None and stored.uid == uid and b"deletionTimestamp" not in stored.text

    def _is_mounted(self, claim: ObjectKey) -> bool:
        pods = self._scene.it.world.api.store.all(PODS.name, claim.namespace)
        return any(claim.name in claims_of(it.document()) for it in pods)


def lost_without(database: Database, disks: set[str]) -> bool:
    """Tell whether some data would be nowhere if there were only some disks."""
    if database.settings is None:
        return False
    teams = [it.team for it in database.shards.pieces if it.team]
    return any(not disks.intersection(team) for team in teams)


def _lets_go(cluster: FoundationDBCluster) -> bool:
    return cluster.spec.deletion_policy == "Delete"
