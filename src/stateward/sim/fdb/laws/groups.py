"""P-S1, P-S2, F-S12 and K3: who writes what of process groups, and for whom."""

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
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, Sent

_ANYBODYS: Final = frozenset({EVENTS.name, LEASES.name})
_OF_GROUPS: Final = frozenset({PODS.name, VOLUME_CLAIMS.name})


class Groups:
    """P-S1: each half of a group has one writer. P-S2: what was proved stays so.

    F-S12: an id is given once. K3: a group's controller touches what is the group's alone.
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
        now = decode(event.now.text, FoundationDBProcessGroup)
        if event.before is None:
            self._judge_id(actor, now)
            return
        before = decode(event.before.text, FoundationDBProcessGroup)
        if before.spec.excluded and not now.spec.excluded and now.spec.remove:
            if self._is_excluded(now.metadata.key):
                words = f"{now.metadata.name} is excluded, and is said not to be"
                self._scene.report("P-S2", actor, words)

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
