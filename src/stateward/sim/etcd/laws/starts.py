"""E-S6, E-S7, E-S8, E-S12, E-S16 and E-S17 at the moment at which an etcd starts."""

from __future__ import annotations

from typing import Final

from stateward.core.quantity import Quantity
from stateward.emulate.etcd.servers import Server
from stateward.etcd.build.config import STATE
from stateward.etcd.model.names import config_key
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS
from stateward.local.store import StoreEvent
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import cluster_of
from stateward.sim.laws.watchman import Actor

_TLS = "https:"

_QUOTA: Final = "quota-backend-bytes"


class Starts:
    """Judges every start by the disk that it finds, and by what it was told."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: Who last wrote what members of a cluster start with.
        self._told: dict[ObjectKey, Actor] = {}
        #: The addresses under which members have had data.
        self._started: set[tuple[str, str]] = set()
        #: The etcd clusters that served for one EtcdCluster.
        self._ids: dict[str, set[int]] = {}
        scene.it.universe.on_launch = self._launched
        scene.watchman.on_change(CONFIG_MAPS.name, self._written)

    def served(self, server: Server) -> None:
        """Note that a member has data, and for which EtcdCluster it serves."""
        cluster = self._cluster(server)
        if cluster is None or server.history is None:
            return
        token = server.start.token  # tells which EtcdCluster, also after one of its name
        self._started.add((token, server.start.peer_url))
        ids = self._ids.setdefault(token, set())
        ids.add(server.history.cluster_id)
        if len(ids) > 1:
            self._report("E-S7", cluster, f"{cluster} is served by {len(ids)} etcd clusters")

    def _written(self, actor: Actor, event: StoreEvent) -> None:
        if actor.operates and actor.about and event.now.key == config_key(actor.about):
            self._told[actor.about] = actor

    def _launched(self, server: Server) -> None:
        cluster = self._cluster(server)
        if cluster is None:
            return
        self._judge_volume(cluster, server)
        self._judge_room(cluster, server)
        self._judge_beginning(cluster, server)
        self._judge_version(cluster, server)
        if server.start.force:
            self._judge_force(cluster, server)
        if not server.start.peer_url.startswith(_TLS):
            self._report("E-S16", cluster, f"{server.start.name} speaks to others in the open")

    def _judge_volume(self, cluster: ObjectKey, server: Server) -> None:
        """A member starts on its own data, or on none; who was removed ends by itself."""
        disk, start = server.disk, server.start
        if disk.history is None:
            return
        member = self._scene.truth.listed(disk.history).get(disk.member_id)
        if member is not None and start.peer_url not in member.peer_urls:
            self._report("E-S6", cluster, f"{start.name} starts on the volume of {member.name}")

    def _judge_room(self, cluster: ObjectKey, server: Server) -> None:
        """A database that may grow beyond its volume ends when that is full, and for good.

        Unless a person says how large it may be.
        """
        if any(_QUOTA in it.spec.options for it in self._scene.recent(cluster)):
            return
        for claim, disk in self._scene.truth.claims(cluster):
            room = (claim.document().get("status") or {}).get("capacity", {}).get("storage")
            if room is None or disk is not server.disk:
                continue
            if server.start.quota > int(Quantity.parse(room)):
                told = f"{server.start.quota} bytes on a volume of {room}"
                self._report("E-S17", cluster, f"{server.start.name} may write {told}")

    def _judge_beginning(self, cluster: ObjectKey, server: Server) -> None:
        """Nobody begins a cluster once there was one that is on record, and nobody twice."""
        found, start = self._scene.cluster(cluster), server.start
        if start.existing or not server.disk.empty or found is None:
            return
        again = (start.token, start.peer_url) in self._started
        if again and found.status.cluster_id and self._is_told_new(cluster):
            self._report("E-S7", cluster, f"{start.name} lost its data and begins anew")

    def _is_told_new(self, cluster: ObjectKey) -> bool:
        stored = self._scene.it.world.api.store.get(CONFIG_MAPS.name, config_key(cluster))
        return stored is not None and (stored.document().get("data") or {}).get(STATE) == "new"

    def _judge_version(self, cluster: ObjectKey, server: Server) -> None:
        """No two members are more than one minor version apart, once they agreed to anything."""
        releases = [
            it.start.version[:2]
            for _, it in self._scene.truth.lodgers(cluster)
            if it is not None and not it.ended and _has_agreed(it)
        ]
        mine = server.start.version[:2]
        if any(it[0] != mine[0] or abs(it[1] - mine[1]) > 1 for it in releases):
            self._report("E-S12", cluster, f"{server.start.name} skips a version: {mine}")

    def _judge_force(self, cluster: ObjectKey, server: Server) -> None:
        """Who is forced drops all others: none of them may run, and a person must have agreed."""
        name = server.start.name
        others = [
            it.start.name
            for _, it in self._scene.truth.lodgers(cluster)
            if it is not None and it is not server and not it.ended
        ]
        if others:
            self._report("E-S8", cluster, f"{name} is forced beside {', '.join(others)}")
        dropped = [it for it in server.disk.state.members if it != server.member_id]
        actor = self._told.get(cluster, Actor("nobody"))
        if dropped and not self._scene.is_approved(actor, cluster):
            self._report("E-S8", cluster, f"{name} is forced, which nobody approved")

    def _cluster(self, server: Server) -> ObjectKey | None:
        lodger = self._scene.truth.lodger_of(server)
        return cluster_of(lodger.key) if lodger is not None else None

    def _report(self, law: str, cluster: ObjectKey, sentence: str) -> None:
        """Blame who told members what to start with."""
        self._scene.report(law, self._told.get(cluster, Actor("kubernetes")), sentence)


def _has_agreed(server: Server) -> bool:
    """Tell whether the cluster of a member had a leader ever."""
    history = server.disk.history
    return history is not None and history.last > 0
