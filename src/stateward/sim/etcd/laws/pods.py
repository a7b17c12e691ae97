"""E-S1, E-S10 and E-S12 for pods: who may be stopped, and when."""

from __future__ import annotations

from stateward.emulate.etcd.servers import Server
from stateward.etcd.model.members import Member
from stateward.kube.client import Change
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, STATEFUL_SETS
from stateward.local.store import Stored, StoreEvent
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import Standing, cluster_of, ordinal
from stateward.sim.laws.watchman import Actor, begins_to_go

#: So many voters cannot do without one of them: a restart costs the quorum for a moment.
_FEW = 2


class Stops:
    """E-S1, E-S10, E-S12: an operator stops no pod whose etcd the quorum needs."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.watchman.on_change(PODS.name, self._pod)

    def _pod(self, actor: Actor, event: StoreEvent) -> None:
        if not actor.operates or not begins_to_go(event):
            return
        cluster, uid = cluster_of(event.now.key), event.now.uid
        running = {pod.uid: it for pod, it in self._scene.truth.lodgers(cluster)}
        server = running.get(uid)
        if server is None or server.ended or server.hung:
            return
        standing = self._scene.looks.known(actor, cluster)
        if server.member_id in standing.voters and not self._scene.is_approved(actor, cluster):
            self._judge(actor, event.now.key, server, standing)

    def _judge(self, actor: Actor, pod: ObjectKey, server: Server, standing: Standing) -> None:
        me = frozenset({server.member_id})
        rest = standing.lasting - me
        had = standing.carried_by(rest | me)
        if not had:
            self._scene.report("E-S10", actor, f"{pod.name} is stopped, and there is no quorum")
        elif len(standing.voters) > _FEW and not standing.carried_by(rest):
            self._scene.report("E-S1", actor, f"stopping {pod.name} takes the quorum away")
        elif server.speaks and not standing.voters - me <= rest:
            self._scene.report("E-S12", actor, f"{pod.name} is stopped while another is not well")


class Scales:
    """E-S1, E-S10, E-S11: a StatefulSet covers all members, but for one that falls asleep."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.watchman.on_change(STATEFUL_SETS.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if not actor.operates or event.before is None:
            return
        going = covered(event.before) - self._covered_after(event)
        if not going:
            return
        cluster = event.now.key
        roster = self._scene.truth.roster(cluster)
        members = {id_: it for id_, it in roster.items() if ordinal(it) in going}
        voters = {id_: it for id_, it in members.items() if not it.learner}
        if voters and not self._may(actor, cluster, voters, roster):
            self._judge(actor, cluster, voters)
        for pod, server in self._scene.truth.lodgers(cluster):
            if server is not None and server.member_id in members:
                self._scene.looks.let_go(pod.address)

    def _covered_after(self, event: StoreEvent) -> frozenset[int]:
        if event.change is Change.DELETED or begins_to_go(event):
            orphans = b'"orphan"' in event.now.text
            return covered(event.now) if orphans else frozenset()
        return covered(event.now)

    def _may(
        self, actor: Actor, cluster: ObjectKey, going: dict[int, Member], roster: dict[int, Member]
    ) -> bool:
        asleep = any(it.spec.replicas == 0 for it in self._scene.recent(cluster))
        last = going.keys() == roster.keys() and len(going) == 1
        return (asleep and last) or self._scene.is_approved(actor, cluster)

    def _judge(self, actor: Actor, cluster: ObjectKey, going: dict[int, Member]) -> None:
        standing = self._scene.looks.known(actor, cluster)
        names = ", ".join(sorted(f"{cluster.name}-{ordinal(it)}" for it in going.values()))
        rest = standing.lasting - going.keys()
        if not standing.stands:
            law, why = "E-S10", "and there is no quorum"
        elif not standing.carried_by(rest):
            law, why = "E-S1", "which takes the quorum away"
        else:
            law, why = "E-S11", "and they are members"
        self._scene.report(law, actor, f"{names} lose their pods, {why}")


def covered(stored: Stored) -> frozenset[int]:
    """Return the ordinals for which a StatefulSet has pods."""
    spec: Json = stored.document().get("spec") or {}
    start = int((spec.get("ordinals") or {}).get("start", 0))
    return frozenset(range(start, start + int(spec.get("replicas", 1))))
