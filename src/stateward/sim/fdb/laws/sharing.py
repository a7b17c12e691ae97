"""F-S40 to F-S42: names lead to where processes listen, and whose a process is can be told."""

from __future__ import annotations

from stateward.emulate.fdb.database import Database
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.fdb.model.names import ProcessGroupID
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SERVICES
from stateward.local.store import StoreEvent
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor


class Sharing:
    """Every command that arrives at a database, every service, and every new process group.

    F-S40: a coordinator that goes by name listens at an address of the family that names lead to.
    F-S41: no cluster that joins a database makes groups of a prefix that others there have.
    F-S42: a service stays while coordinators have names below it: those would lead nowhere.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.it.realm.typed.append(lambda _line, database: self._judge_names(database))
        scene.watchman.on_change(SERVICES.name, self._service_changed)
        scene.watchman.on_change(PROCESS_GROUPS.name, self._group_changed)

    # ------------------------------------------------------------------ names
    def _service_changed(self, actor: Actor, event: StoreEvent) -> None:
        for database in self._scene.it.realm.databases:
            if event.change is not Change.DELETED:
                self._judge_names(database)
            elif actor.operates:
                self._judge_end(database, event.now.key, actor)

    def _judge_end(self, database: Database, service: ObjectKey, actor: Actor) -> None:
        below = [service.name, service.namespace]
        names = [it.host for it in database.string.coordinators if it.is_name]
        if lost := [it for it in names if it.split(".")[1:3] == below]:
            words = f"{service} was deleted, and {lost[0]} coordinates"
            self._scene.report("F-S42", actor, words)

    def _judge_names(self, database: Database) -> None:
        for at in database.string.coordinators:
            if not at.is_name:
                continue
            families = self._families(at.host)
            for it in database.servers.values():
                mine = "IPv6" if ":" in it.address.host else "IPv4"
                if families and it.listens_at(at) and mine not in families:
                    words = f"{at.host} leads to {families[0]}, and it listens at {it.address}"
                    self._scene.report("F-S40", self._scene.watchman.actor, words)

    def _families(self, name: str) -> list[str]:
        """Return the families that a name leads to, by the service below which it is."""
        below = name.split(".")[1:3]
        for stored in self._scene.it.world.api.store.all(SERVICES.name):
            if [stored.key.name, stored.key.namespace] == below:
                return list(stored.document()["spec"].get("ipFamilies") or ())
        return []

    # ------------------------------------------------------------------ prefixes
    def _group_changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.before is not None or event.change is Change.DELETED or not actor.operates:
            return
        made = decode(event.now.text, FoundationDBProcessGroup).spec
        prefix = ProcessGroupID.parse(made.process_group_id).prefix
        joins = any(
            stored.key.name == made.cluster_name
            and stored.document()["spec"].get("seedConnectionString")
            for stored in self._scene.it.world.api.store.all(CLUSTERS.name)
        )
        for stored in self._scene.it.world.api.store.all(PROCESS_GROUPS.name):
            other = decode(stored.text, FoundationDBProcessGroup).spec
            theirs = other.cluster_name != made.cluster_name
            if joins and theirs and ProcessGroupID.parse(other.process_group_id).prefix == prefix:
                words = f"{made.process_group_id} has the prefix of {other.process_group_id}"
                self._scene.report("F-S41", actor, f"{words}, which is another cluster's")
                return
