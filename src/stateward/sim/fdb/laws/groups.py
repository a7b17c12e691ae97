"""P-S1, P-S2, F-S6, F-S11, F-S12, F-S13 and K3: who writes what of process groups, and for whom."""

from __future__ import annotations

from typing import Any, Final

from stateward.fdb.api.kind import PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.fdb.cluster.controller import CONTROLLER
from stateward.fdb.groups.reconciler import CONTROLLER as GROUPS
from stateward.fdb.model import exclusions
from stateward.fdb.model.names import CLUSTER_UID_LABEL, claim_name
from stateward.kube.client import Apply, Change, MergePatch
from stateward.kube.codec import decode
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, EVENTS, LEASES, PODS, SERVICES, VOLUME_CLAIMS
from stateward.local.store import Stored, StoreEvent
from stateward.sim.fdb.laws.pods import is_back
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, Sent, begins_to_go

_ANYBODYS: Final = frozenset({EVENTS.name, LEASES.name})
_OF_GROUPS: Final = frozenset({PODS.name, VOLUME_CLAIMS.name})


class Groups:
    """P-S1: each half of a group has one writer. P-S2: what was proved stays so.

    F-S6: that nothing is left on a group is written when all of its processes report and say so.
    F-S11: who goes with what it holds was named by a person. F-S12: an id is given once. F-S13: who
    is replaced unasked is lost, and no more at a time than may be. K3: a group's controller
    touches what is the group's alone.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._store = scene.it.world.api.store
        scene.watchman.on_sent(self._sent)
        scene.watchman.on_change(PROCESS_GROUPS.name, self._changed)

    # ------------------------------------------------------------------ who writes

    def _sent(self, sent: Sent) -> None:
        call = sent.kube
        if call is None or not call.writes or call.resource.name in _ANYBODYS:
            return
        actor = Actor(sent.who, call, sent.about)
        if wrong := _wrong_writer(call, sent.controller):
            self._scene.report("P-S1", actor, f"{call} by {sent.controller}: {wrong}")
        if sent.controller == GROUPS and sent.about is not None:
            self._judge_owner(actor, call, sent.about)

    def _judge_owner(self, actor: Actor, call: Call, about: ObjectKey) -> None:
        is_claim = call.resource.name == VOLUME_CLAIMS.name
        mine = ObjectKey(about.namespace, claim_name(about.name)) if is_claim else about
        if call.key != mine:
            self._scene.report("K3", actor, f"{call}, for {about}")
            return
        stored = self._store.get(call.resource.name, call.key)
        group = self._store.get(PROCESS_GROUPS.name, about)
        if stored is None or group is None or call.resource.name == PROCESS_GROUPS.name:
            return
        if call.uid and call.uid != stored.uid:
            return  # nothing happens
        if not _belongs(stored, group):
            self._scene.report("K3", actor, f"{call}, which is not of {about}")

    # ------------------------------------------------------------------ what is written

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if not actor.operates or event.change is Change.DELETED:
            return
        if begins_to_go(event):
            self._judge_going(actor, decode(event.now.text, FoundationDBProcessGroup))
            return
        now = decode(event.now.text, FoundationDBProcessGroup)
        if event.before is None:
            self._judge_id(actor, now)
            return
        before = decode(event.before.text, FoundationDBProcessGroup)
        if now.spec.excluded and not before.spec.excluded:
            self._judge_proof(actor, now)
        if now.spec.exclusion_skipped and not before.spec.exclusion_skipped:
            self._judge_skip(actor, now)
        if now.spec.remove and not before.spec.remove:
            self._judge_replacement(actor, now)
        taken_back = before.spec.excluded and not now.spec.excluded and now.spec.remove
        if taken_back and self._is_excluded(now.metadata.key):
            words = f"{now.metadata.name} is excluded, and is said not to be"
            self._scene.report("P-S2", actor, words)

    def _judge_going(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        """Judge the moment from which on its pod and its claim go, whatever else comes."""
        if group.spec.exclusion_skipped:
            return
        if not group.spec.remove or not group.spec.excluded:
            self._scene.report("F-S6", actor, f"{group.metadata.name} is deleted, and not proved")
        self._judge_proof(actor, group)

    def _judge_proof(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        name, reporting = group.metadata.name, 0
        for it in self._scene.truth.processes(group.metadata.key):
            disk, database = it.server.disk.process_id, it.database
            reporting += database is not None and disk in database.servers
            if self._scene.is_unseen(actor):
                continue  # somebody changed the database after the last look at it
            if database is not None and not it.server.is_meant(database.excluded):
                self._scene.report("F-S6", actor, f"{name} is said to be empty, and not excluded")
            for _, what in self._scene.truth.needing({disk}):
                self._scene.report("F-S6", actor, f"{name} is said to be empty, and has {what}")
        if reporting < group.spec.servers_per_pod:
            self._judge_absent(actor, group)

    def _judge_absent(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        """Judge what is said of one that does not report: all it had has its copies elsewhere."""
        name, metadata = group.metadata.name, group.metadata
        claim = self._store.get(
            VOLUME_CLAIMS.name, ObjectKey(metadata.namespace, claim_name(metadata.name))
        )
        disks = self._scene.truth.disks(claim) if claim is not None else set()
        for database, what in self._scene.truth.needing(disks):
            if database.servers:
                words = f"{name} is said to be empty, does not report, and has {what}"
                self._scene.report("F-S6", actor, words)

    def _judge_replacement(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        """Judge who is marked though nothing was asked for: by the spec, all is as it should be."""
        cluster = self._scene.truth.cluster(group)
        if cluster is None or self._scene.late:
            return
        told, kind = cluster.status.generations.reconciled, group.spec.process_class
        every = self._scene.truth.groups(cluster.metadata.key)
        staying = [it for it in every if not it.spec.remove and not it.metadata.deleting]
        wanted = getattr(cluster.spec.process_counts, kind, None) or 0
        is_extra = sum(it.spec.process_class == kind for it in staying) >= wanted
        listed = (
            *cluster.spec.process_groups_to_remove,
            *cluster.spec.process_groups_to_remove_without_exclusion,
        )
        asked = group.spec.process_group_id in listed or group.metadata.deleting
        if told != cluster.metadata.generation or is_extra or asked:
            return
        name = group.metadata.name
        if is_back(self._scene.it, group.metadata.key):
            self._scene.report("F-S13", actor, f"{name} is replaced, and is well")
        most = cluster.spec.automation_options.replacements.max_concurrent_replacements
        going = [it for it in every if it.spec.remove and not _is_empty(it)]
        if len(going) > most:
            self._scene.report("F-S13", actor, f"{len(going)} groups are replaced at once")

    def _judge_skip(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        """Judge who is let go unproved: testers hold nothing, and of others a person says so."""
        name, spec = group.metadata.name, group.spec
        wishes = self._scene.recent(ObjectKey(group.metadata.namespace, spec.cluster_name))
        named = (it.spec.process_groups_to_remove_without_exclusion for it in wishes)
        if spec.process_class != "test" and not any(spec.process_group_id in it for it in named):
            self._scene.report("F-S11", actor, f"{name} goes unproved, and nobody named it")

    def _is_excluded(self, pod: ObjectKey) -> bool:
        return any(
            it.database is not None and it.server.is_meant(it.database.excluded)
            for it in self._scene.truth.processes(pod)
        )

    def _judge_id(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        name, mine = group.metadata.name, group.spec.process_group_id
        cluster = ObjectKey(group.metadata.namespace, group.spec.cluster_name)
        same = [it for it in self._scene.truth.groups(cluster) if it.spec.process_group_id == mine]
        if len(same) > 1:
            self._scene.report("F-S12", actor, f"{mine} is given twice")
        if self._store.get(PODS.name, group.metadata.key) is not None:
            self._scene.report("F-S12", actor, f"{name} is made, and its pod is there already")
        entry = exclusions.of_instance(mine)
        if any(entry in it.barred for it in self._scene.it.realm.databases if it.servers):
            self._scene.report("F-S12", actor, f"{mine} is given, and is excluded")


def _is_empty(group: FoundationDBProcessGroup) -> bool:
    return group.spec.excluded or group.spec.exclusion_skipped


def _wrong_writer(call: Call, controller: str) -> str:
    """Return why this controller must not write this; empty: it may."""
    name = call.resource.name
    if name == PROCESS_GROUPS.name:
        if call.subresource == "status":
            return "" if controller == GROUPS else "the status of a group is its own"
        if controller == CONTROLLER or _only_metadata(call):
            return ""
        return "the spec of a group is its cluster's"
    if name in _OF_GROUPS:
        return "" if controller == GROUPS else "only a group makes and takes what is its own"
    if name == CONFIG_MAPS.name:
        return "" if controller == CONTROLLER else "the config map is the cluster's"
    return "" if name != SERVICES.name or controller in {CONTROLLER, GROUPS} else "whose is it?"


def _only_metadata(call: Call) -> bool:
    body: Any = call.body.body if isinstance(call.body, Apply | MergePatch) else call.body
    return call.verb == "patch" and isinstance(body, dict) and body.keys() <= {"metadata"}


def _belongs(stored: Stored, group: Stored) -> bool:
    """Tell whether an object is of a group: owned by it, by nobody, or with its cluster's label."""
    if group.uid in stored.owners or not stored.owners:
        uid = stored.labels.get(CLUSTER_UID_LABEL)
        return uid is None or uid in group.owners
    return bool(set(stored.owners) & set(group.owners))
