"""MAINTAIN: which zone a database is told of, when, by whose will, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.fdb.admin import commands
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.decide.groups.maintenance import noted_of
from stateward.fdb.model.names import ProcessGroupID
from stateward.kube.client import Change
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.store import StoreEvent
from stateward.sim.fdb.laws.pods import is_back
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, begins_to_go

_ON: Final = "maintenance on "
#: Seconds by which a command arrives later than it is typed.
_SLACK: Final = 45.0


class Maintaining:
    """What operators tell databases of maintenance, and every pod that goes under it.

    It is told of one zone at a time: of one that has storage servers, that is on record, and that
    somebody asked for; never over what others told. It is ended by who began it, or where that is
    asked for, and not before all pods that went are back. Storage servers go under it.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: Pods of storage servers that went, and are not back, by their zones.
        self._gone: dict[ObjectKey, str] = {}
        scene.it.realm.typed.append(self._typed)
        scene.watchman.on_change(PODS.name, self._changed)

    # ------------------------------------------------------------------ commands

    def _typed(self, line: str, database: Database) -> None:
        actor = self._scene.watchman.actor
        if not actor.operates or actor.about is None:
            return
        if line.startswith(_ON):
            zone, seconds = line.removeprefix(_ON).split()
            for sentence in self._wrong_beginning(actor.about, zone, database):
                self._scene.report("MAINTAIN", actor, sentence)
            self._scene.told[id(database)] = (zone, database.now + float(seconds))
        elif line == commands.MAINTENANCE_OFF:
            for sentence in self._wrong_end(actor.about, database):
                self._scene.report("MAINTAIN", actor, sentence)

    def _wrong_beginning(self, about: ObjectKey, zone: str, database: Database) -> Iterator[str]:
        active = database.maintained()
        if active is not None and (active.zone != zone or not is_ours(self._scene, database)):
            yield f"zone {zone} is put under maintenance, and {active.zone} is, by others"
        wishes = self._scene.recent(about)
        if not any(_is_asked(it) for it in wishes):
            yield f"zone {zone} is put under maintenance, and nobody asked for it"
        noted = [noted_of(it.status.maintenance_mode_info) for it in wishes[-1:]]
        if not any(it is not None and it.ours and it.zone == zone for it in noted):
            yield f"zone {zone} is put under maintenance, and that is not on record"
        if not any(_stores(it) and _zone(it) == zone for it in self._scene.truth.groups(about)):
            yield f"zone {zone} is put under maintenance, and no storage server is there"

    def _wrong_end(self, about: ObjectKey, database: Database) -> Iterator[str]:
        active, wishes = database.maintained(), self._scene.recent(about)
        if active is None:
            return
        modes = [it.spec.automation_options.maintenance_mode_options for it in wishes]
        may = is_ours(self._scene, database) or any(it.reset_maintenance_mode for it in modes)
        if not may:
            yield f"maintenance of zone {active.zone} is ended, and others told of it"
        if self._scene.excused:
            return
        for pod, zone in self._still_gone().items():
            if zone == active.zone:
                yield f"maintenance of zone {zone} is ended, and {pod.name} is not back"

    # ------------------------------------------------------------------ pods

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.change is Change.DELETED or not begins_to_go(event) or not actor.operates:
            return
        group = self._scene.truth.group(event.now.key)
        if group is None or group.spec.remove or not _stores(group):
            return
        zone = _zone(group)
        self._still_gone()
        self._gone[event.now.key] = zone
        if not zone or self._scene.excused or self._scene.late:
            return
        about = ObjectKey(group.metadata.namespace, group.spec.cluster_name)
        wishes = self._scene.recent(about)
        active = [it.maintained() for it in self._scene.it.realm.databases if it.servers]
        if all(_is_asked(it) for it in wishes) and not any(it and it.zone == zone for it in active):
            words = f"{event.now.key.name} goes, and zone {zone} is not under maintenance"
            self._scene.report("MAINTAIN", actor, words)

    def _still_gone(self) -> dict[ObjectKey, str]:
        it = self._scene.it
        self._gone = {key: zone for key, zone in self._gone.items() if not is_back(it, key)}
        return self._gone


def is_ours(scene: Scene, database: Database) -> bool:
    """Tell whether an operator told of the maintenance that is on: its zone, and no longer time."""
    told = scene.told.get(id(database))
    if database.maintenance is None or told is None:
        return False
    return database.maintenance[0] == told[0] and database.maintenance[1] <= told[1] + _SLACK


def _is_asked(cluster: FoundationDBCluster) -> bool:
    options = cluster.spec.automation_options
    is_on = options.maintenance_mode_options.use_maintenance_mode_checker
    return is_on and options.deletion_mode != "All"


def _stores(group: FoundationDBProcessGroup) -> bool:
    return ProcessGroupID.parse(group.spec.process_group_id).process_class == "storage"


def _zone(group: FoundationDBProcessGroup) -> str:
    return group.status.fault_domain
