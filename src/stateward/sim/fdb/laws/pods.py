"""F-S6, F-S17, F-S19, F-S23 and P-S3: which pods an operator may end, and when."""

from __future__ import annotations

from stateward.core.moments import from_rfc3339
from stateward.fdb.api.kind import PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.kube.client import Change
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.store import Stored, StoreEvent
from stateward.sim.fdb.laws.former import Formerly
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.fdb.laws.truth import stands_without
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.watchman import Actor, begins_to_go


class Stops:
    """Every pod that an operator asks to go.

    P-S3: its group shall go and holds nothing, or this very pod shall be made anew, or it has
    ended. F-S6: who goes for good is excluded, and nothing is left on it. F-S17: it has not
    coordinated for a while. F-S19: it does not coordinate. F-S23: pods are made anew in one zone at
    a time, and a database that stands does so without them.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: Groups whose pods operators had made anew and that are not back, with their nodes.
        self._away: dict[ObjectKey, str] = {}
        self._formerly = Formerly(scene)
        scene.watchman.on_change(PODS.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.change is Change.DELETED or not begins_to_go(event) or not actor.operates:
            return
        pod, truth = event.now, self._scene.truth
        group = truth.group(pod.key)
        if group is None:
            self._scene.report("P-S3", actor, f"{pod.key.name} is ended, and is of no group")
            return
        if truth.cluster(group) is None:
            return  # it goes with its cluster
        if group.spec.remove and (group.spec.excluded or group.spec.exclusion_skipped):
            self._judge_leaving(actor, pod, group)
        elif _shall_go(group, pod, self._scene.now):
            self._judge_update(actor, pod)
        elif _phase(pod) not in {"Failed", "Succeeded"}:
            self._scene.report("P-S3", actor, f"{pod.key.name} is ended, and its group stays")

    def _judge_leaving(self, actor: Actor, pod: Stored, group: FoundationDBProcessGroup) -> None:
        scene = self._scene
        if scene.truth.coordinates(pod):
            scene.report("F-S19", actor, f"{pod.key.name} is ended, and it coordinates")
        elif scene.truth.processes(pod.key) and self._formerly.still_sought(pod):
            scene.report("F-S17", actor, f"{pod.key.name} is ended, and just coordinated")
        if group.spec.exclusion_skipped or scene.excused:
            return
        for it in scene.truth.processes(pod.key):
            database, server = it.database, it.server
            if database is None:
                continue
            if not server.is_meant(database.excluded):
                scene.report("F-S6", actor, f"{pod.key.name} is ended, and is not excluded")
            for _, what in scene.truth.needing({server.disk.process_id}):
                scene.report("F-S6", actor, f"{pod.key.name} is ended, and has {what}")

    def _judge_update(self, actor: Actor, pod: Stored) -> None:
        scene, node = self._scene, _node(pod)
        self._away = {key: where for key, where in self._away.items() if not is_back(scene.it, key)}
        others = sorted({it for it in self._away.values() if it != node})
        if others:
            words = f"{pod.key.name} on {node} is made anew, and {', '.join(others)} is not back"
            scene.report("F-S23", actor, words)
        self._away[pod.key] = node
        if scene.excused:
            return
        for it in scene.truth.processes(pod.key):
            if it.database is None or stands_without(it.database, ()):
                continue
            if lacks := stands_without(it.database, {it.server.disk.process_id}):
                words = f"{pod.key.name} is made anew, and without it there is not {lacks}"
                scene.report("F-S23", actor, words)


def is_back(it: FdbWorld, pod: ObjectKey) -> bool:
    """Tell whether the processes of a pod are part of a database, or the pod is no more wanted."""
    store = it.world.api.store
    stored = store.get(PODS.name, pod)
    if stored is not None and b'"deletionTimestamp"' in stored.text:
        return False
    process = it.process(pod)
    if process is None or process.database is None:
        return store.get(PROCESS_GROUPS.name, pod) is None
    return process.server.disk.process_id in process.database.servers


def _phase(pod: Stored) -> str:
    return str((pod.document().get("status") or {}).get("phase", ""))


def _node(pod: Stored) -> str:
    return str(pod.document()["spec"].get("nodeName", "no node"))


def _shall_go(group: FoundationDBProcessGroup, pod: Stored, now: float) -> bool:
    """Tell whether this very pod is to be made anew, and the order is not an old one."""
    until = group.spec.obsolete_until
    return group.spec.obsolete_pod == pod.uid and (until is None or now <= from_rfc3339(until))
