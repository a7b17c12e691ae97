"""F-S30 and F-S31: how processes listen, with TLS or without, whenever one starts."""

from __future__ import annotations

from collections import defaultdict

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Server
from stateward.fdb.api.kind import (
    CLUSTERS,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.fdb.model import locality
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor


class Listeners:
    """Every process that is about to start.

    F-S30: none starts with weaker transport than the spec asks for, where nothing else was ever
    asked for, or once all was so; and none is told to speak TLS without a certificate. F-S31: who
    coordinates listens where it is looked for. Whose cluster is gone goes with it, and what another
    cluster of its name asks for is nothing to it.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: By cluster: whether each of its wishes asked for TLS.
        self._wishes: dict[ObjectKey, list[bool]] = defaultdict(list)
        scene.watchman.on_change(CLUSTERS.name, self._changed)
        scene.it.realm.begun.append(self._begun)

    def _changed(self, _: Actor, event: StoreEvent) -> None:
        if event.change is Change.DELETED:
            self._wishes.pop(event.now.key, None)
            return
        cluster = decode(event.now.text, FoundationDBCluster)
        self._wishes[event.now.key].append(cluster.spec.main_container.enable_tls)

    def _begun(self, server: Server, certified: bool) -> None:  # noqa: FBT001 - as it is told
        name = server.localities.get(locality.INSTANCE, "")
        if any(it.tls for it in server.addresses) and not certified:
            self._report("F-S30", f"{name} shall speak TLS, and has no certificate")
        owner = self._owner(name)
        if owner is None:
            return
        if not all(it.tls for it in server.addresses) and self._shall_not(owner):
            self._report("F-S30", f"{name} starts without TLS, and shall have it")
        for it in self._scene.it.realm.databases:
            if it.settings is not None:
                self._judge_place(name, server, it)

    def _shall_not(self, cluster: FoundationDBCluster) -> bool:
        """Tell whether its groups must not speak in plain text any more, or never had to."""
        asked = self._wishes[cluster.metadata.key]
        if not asked or not asked[-1]:
            return False
        told = cluster.status.generations.reconciled
        return all(asked) or told == cluster.metadata.generation

    def _owner(self, name: str) -> FoundationDBCluster | None:
        """Return the cluster of a group, if it is still there."""
        store = self._scene.it.world.api.store
        for it in store.all(PROCESS_GROUPS.name, ""):
            group = decode(it.text, FoundationDBProcessGroup)
            if group.spec.process_group_id != name:
                continue
            key = ObjectKey(group.metadata.namespace, group.spec.cluster_name)
            stored = store.get(CLUSTERS.name, key)
            if stored is not None and stored.uid in it.owners:
                return decode(stored.text, FoundationDBCluster)
        return None

    def _judge_place(self, name: str, server: Server, database: Database) -> None:
        hosts = {it.host for it in server.addresses}
        hosts.add(server.localities.get(locality.DNS_NAME, ""))
        for it in database.string.coordinators:
            if it.host in hosts and not server.listens_at(it):
                self._report("F-S31", f"{name} coordinates at {it}, and does not listen there")

    def _report(self, law: str, sentence: str) -> None:
        self._scene.watchman.book.report(law, "a process", sentence)
