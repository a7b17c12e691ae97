"""P-S1, P-S2, F-S6, F-S11 to F-S14 and K3: who writes what of process groups, and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from stateward.core.moments import from_rfc3339
from stateward.fdb.api.kind import PROCESS_GROUPS, FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.cluster.controller import CONTROLLER
from stateward.fdb.groups.reconciler import CONTROLLER as GROUPS
from stateward.fdb.model import exclusions
from stateward.fdb.model.names import CLUSTER_UID_LABEL, claim_name
from stateward.kube.client import Apply, Change, MergePatch
from stateward.kube.codec import decode
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    CRON_JOBS,
    EVENTS,
    LEASES,
    PODS,
    SERVICES,
    VOLUME_CLAIMS,
)
from stateward.local.store import Stored, StoreEvent
from stateward.sim.fdb.laws.pods import is_back
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.kube.lodgers import Lodger
from stateward.sim.laws.watchman import Actor, Sent, begins_to_go

_ANYBODYS: Final = frozenset({EVENTS.name, LEASES.name})
#: Seconds by which a moment on record, and a clock that is asked twice, may be off.
_ROUNDED: Final = 2.0
_OF_GROUPS: Final = frozenset({PODS.name, VOLUME_CLAIMS.name})


class Writers:
    """P-S1: each half of a group has one writer. K3: a group's controller touches its own alone."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._store = scene.it.world.api.store
        scene.watchman.on_sent(self._sent)

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


class Groups:
    """P-S2: what was proved stays so.

    F-S6: that nothing is left on a group is written when all of its processes report and say so.
    F-S11: who goes with what it holds was named by a person. F-S12: an id is given once. F-S13: who
    is replaced unasked is lost for long, or its node is tainted; no more at a time than may be; and
    nobody who is never to be. F-S14: nobody is while many fault domains are tainted.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._store = scene.it.world.api.store
        scene.watchman.on_change(PROCESS_GROUPS.name, self._changed)

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
            self._judge_kept(actor, now)
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
        name, here = group.metadata.name, self._scene.it.nodes.lodger(group.metadata.key)
        if not _is_left(cluster, here, self._scene.now) and is_back(
            self._scene.it, group.metadata.key
        ):
            self._scene.report("F-S13", actor, f"{name} is replaced, and is well")
        self._judge_patience(actor, cluster, group)
        self._judge_storm(actor, cluster, staying)
        most = cluster.spec.automation_options.replacements.max_concurrent_replacements
        going = [it for it in every if it.spec.remove and not _is_empty(it)]
        if len(going) > most:
            self._scene.report("F-S13", actor, f"{len(going)} groups are replaced at once")

    def _judge_kept(self, actor: Actor, group: FoundationDBProcessGroup) -> None:
        """Judge who is marked though for long the spec has said that it never shall be."""
        name, spec = group.metadata.name, group.spec
        wishes = self._scene.recent(ObjectKey(group.metadata.namespace, spec.cluster_name))
        kept = [it.spec.automation_options.cancel_replacements_for_process_groups for it in wishes]
        if kept and all(spec.process_group_id in it for it in kept) and not group.metadata.deleting:
            self._scene.report("F-S13", actor, f"{name} is marked, and is never to be")

    def _judge_patience(
        self, actor: Actor, cluster: FoundationDBCluster, group: FoundationDBProcessGroup
    ) -> None:
        """Judge for how long something has been wrong, by what is on record of it."""
        options = cluster.spec.automation_options.replacements
        least = min(options.failure_detection_time_seconds, options.taint_replacement_time_seconds)
        now = self._scene.it.world.clock.now()
        lasts = max((now - it for it in _wrong_since(group)), default=0.0)
        if lasts < least - _ROUNDED:
            words = f"{group.metadata.name} is replaced after {lasts:.0f} s, and {least} must pass"
            self._scene.report("F-S13", actor, words)

    def _judge_storm(
        self,
        actor: Actor,
        cluster: FoundationDBCluster,
        staying: Sequence[FoundationDBProcessGroup],
    ) -> None:
        """Judge a replacement by how many nodes are tainted that groups are on: each is a zone."""
        options = cluster.spec.automation_options.replacements
        found = (self._scene.it.nodes.lodger(it.metadata.key) for it in staying)
        nodes = {it.node.name: it for it in found if it is not None}
        tainted = [name for name, it in nodes.items() if _is_left(cluster, it, self._scene.now)]
        share = options.max_fault_domains_with_tainted_process_groups
        if isinstance(share, str):
            share = max(1, round(len(nodes) * int(share.rstrip("%")) / 100))
        # Who was marked is no longer counted, and may have been the one above the limit.
        if len(tainted) > share + 1:
            words = f"a group is replaced while {len(tainted)} of {len(nodes)} nodes are tainted"
            self._scene.report("F-S14", actor, words)

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


def _is_left(cluster: FoundationDBCluster, here: Lodger | None, now: float) -> bool:
    """Tell whether the node of a pod has been tainted for so long that it is to be left."""
    options = cluster.spec.automation_options.replacements.taint_replacement_options
    if here is None or not here.node.taints or not options:
        return False
    keys = {it.key: it.duration_in_seconds for it in options}
    waits = [keys.get(it, keys.get("*")) for it in here.node.taints]
    return any(it is not None and now - here.node.tainted_at >= it for it in waits)


def _wrong_since(group: FoundationDBProcessGroup) -> Iterator[float]:
    """Yield since when each that is wrong with a group is on record."""
    for it in group.status.conditions:
        if it.status == "True" and it.type != "Ready" and it.last_transition_time:
            yield from_rfc3339(it.last_transition_time)


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
    if name == CRON_JOBS.name:
        return "" if controller == CONTROLLER else "the job is the cluster's"
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
