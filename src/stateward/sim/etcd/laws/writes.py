"""E-S7, E-S8, E-S13 and E-S16 at the moment at which an operator writes what members need."""

from __future__ import annotations

from stateward.emulate.etcd.servers import cluster_id
from stateward.etcd.build.config import CLUSTER, FORCE, STATE, TOKEN
from stateward.etcd.model.members import quorum
from stateward.etcd.model.names import config_key
from stateward.kube.client import Change
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, DISRUPTION_BUDGETS, PODS, STATEFUL_SETS
from stateward.local.store import StoreEvent
from stateward.sim.etcd.laws.scene import FRESH, Scene
from stateward.sim.etcd.laws.truth import cluster_of, ordinal
from stateward.sim.laws.watchman import Actor, Sent, begins_to_go

_SAFE = "--advertise-client-urls=https:"


class Writes:
    """Judges the ConfigMap, the disruption budget and the template of the pods."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: When somebody else deleted what members start with.
        self._taken: dict[ObjectKey, float] = {}
        #: When a StatefulSet was last asked for; whoever sleeps meanwhile is carried out later.
        self._asked: dict[int, float] = {}
        scene.watchman.on_sent(self._sent)
        scene.watchman.on_change(CONFIG_MAPS.name, self._config)
        scene.watchman.on_change(DISRUPTION_BUDGETS.name, self._budget)
        scene.watchman.on_change(STATEFUL_SETS.name, self._template)

    def _sent(self, sent: Sent) -> None:
        if sent.kube is not None and sent.kube.resource.name == STATEFUL_SETS.name:
            self._asked[id(sent.call)] = sent.at

    # ------------------------------------------------------------------ what members start with

    def _config(self, actor: Actor, event: StoreEvent) -> None:
        about = actor.about
        if not actor.operates and event.change is Change.DELETED:
            self._taken[event.now.key] = self._scene.it.world.loop.time()
        if not actor.operates or about is None or event.now.key != config_key(about):
            return
        if begins_to_go(event):
            return
        data: Json = event.now.document().get("data") or {}
        before: Json = (event.before.document().get("data") or {}) if event.before else {}
        cluster = self._scene.cluster(about)
        if cluster is not None and cluster.metadata.uid not in data.get(TOKEN, ""):
            known = {it.metadata.uid for it in self._scene.recent(about, 0.0)}
            if not any(it in data.get(TOKEN, "") for it in known):
                self._scene.report("E-S7", actor, "the token does not tell which cluster it is")
        if data.get(STATE) == "new" and before.get(STATE) != "new":
            self._judge_new(actor, about, data)
        if data.get(FORCE) == "true" and before.get(FORCE) != "true":
            self._judge_force(actor, about)

    def _judge_new(self, actor: Actor, cluster: ObjectKey, data: Json) -> None:
        """Nobody is told to begin beside data; those who just begin may be told the same again."""
        latched = all(it.status.cluster_id for it in self._scene.seen(actor, cluster))
        if latched:
            self._scene.report("E-S7", actor, f"{cluster.name} is on record and begins anew")
        elif any(
            disk.history is not None and disk.history.cluster_id != _begun(data)
            for _, disk in self._scene.truth.claims(cluster)
        ):
            self._scene.report("E-S7", actor, f"{cluster.name} has data and begins anew")

    def _judge_force(self, actor: Actor, cluster: ObjectKey) -> None:
        standing = self._scene.looks.known(actor, cluster)
        if self._scene.truth.standing(cluster).stands and standing.stands:
            self._scene.report("E-S8", actor, "force-new-cluster while a quorum is alive")
        pods = self._pods(cluster)
        roster = self._scene.truth.roster(cluster)
        sleeps = {ordinal(it) for it in roster.values()} <= {0} and not pods
        if not sleeps and not self._scene.is_approved(actor, cluster):
            self._scene.report("E-S8", actor, "force-new-cluster, which nobody approved")
        if len(pods) > 1:
            self._scene.report("E-S8", actor, f"force-new-cluster for {', '.join(pods)}")

    def _pods(self, cluster: ObjectKey) -> list[str]:
        pods = self._scene.it.world.api.store.all(PODS.name, cluster.namespace)
        return [it.key.name for it in pods if cluster_of(it.key) == cluster]

    # ------------------------------------------------------------------ the disruption budget

    def _budget(self, actor: Actor, event: StoreEvent) -> None:
        about = actor.about
        if not actor.operates or about is None or begins_to_go(event):
            return
        seen = self._scene.seen(actor, about)
        if not seen or any(it.spec.pod_disruption_budget_template for it in seen):
            return
        spec: Json = event.now.document().get("spec") or {}
        floor, wanted = spec.get("minAvailable"), min(it.spec.replicas for it in seen)
        needed = quorum(max(self._voters(actor, about), wanted))
        if not isinstance(floor, int) or floor < needed:
            self._scene.report("E-S13", actor, f"{floor!r} pods must stay, and {needed} should")

    def _voters(self, actor: Actor, cluster: ObjectKey) -> int:
        """Return how many voters surely were seen; not of an earlier cluster of that name."""
        then = self._scene.looks.last(actor, cluster).standing
        now = self._scene.truth.standing(cluster)
        known = {it.status.cluster_id for it in self._scene.seen(actor, cluster)[-1:]}
        if then.history is None or f"{then.history.cluster_id:x}" not in known:
            return 0
        return min(len(then.voters), len(now.voters))

    # ------------------------------------------------------------------ the template

    def _template(self, actor: Actor, event: StoreEvent) -> None:
        about = actor.about
        if not actor.operates or about is None or begins_to_go(event):
            return
        seen = self._scene.seen(actor, about)
        self._judge_beginning(actor, event)
        if not seen or not all(it.spec.security.tls.server_secret for it in seen):
            return
        pod: Json = event.now.document()["spec"]["template"]["spec"]
        etcd: Json = next((it for it in pod["containers"] if it["name"] == "etcd"), {})
        if not any(it.startswith(_SAFE) for it in etcd.get("args") or ()):
            self._scene.report("E-S16", actor, "members would speak to clients in the open")

    def _judge_beginning(self, actor: Actor, event: StoreEvent) -> None:
        """Members that begin find what they are to begin with, unless it was taken just then."""
        about, store = actor.about, self._scene.it.world.api.store
        cluster = self._scene.cluster(about) if about is not None else None
        if about is None or cluster is None or cluster.status.cluster_id:
            return
        there = store.get(CONFIG_MAPS.name, config_key(about)) is not None
        asked = self._asked.get(id(actor.call), self._scene.it.world.loop.time())
        if asked - self._taken.get(config_key(about), -FRESH) < FRESH:
            return
        if event.before is None and not there and event.now.document()["spec"].get("replicas"):
            self._scene.report("E-S7", actor, "members begin, and nothing says with whom")


def _begun(data: Json) -> int:
    """Return the id of the cluster that members begin who are told this."""
    urls = (it.partition("=")[2] for it in data.get(CLUSTER, "").split(","))
    return cluster_id(data.get(TOKEN, ""), urls)
