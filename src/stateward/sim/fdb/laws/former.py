"""F-S18, and what F-S17 asks: who coordinated before, and where that is written."""

from __future__ import annotations

from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.local.store import Stored, StoreEvent
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor

#: Seconds for which others look for who coordinated: a node looks for new files once a minute.
_SOUGHT: Final = 60.0


class Formerly:
    """Every connection string that a database had, and until when.

    F-S18: a status says of a database that was made only what the database itself said.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._last: dict[int, ConnectionString] = {}
        #: Who coordinated, and until when.
        self._until: dict[Address, float] = {}
        #: All that databases were ever found by.
        self._every: set[str] = set()
        scene.it.realm.typed.append(self._typed)
        scene.watchman.on_change(CLUSTERS.name, self._changed)

    def still_sought(self, pod: Stored) -> bool:
        """Tell whether a pod coordinated until a moment ago."""
        self._look()
        host = (pod.document().get("status") or {}).get("podIP", "")
        return any(
            self._scene.now - until < _SOUGHT
            and (it.host == host or it.host.startswith(f"{pod.key.name}."))
            for it, until in self._until.items()
        )

    def _typed(self, _line: str, database: Database) -> None:
        self._note(database)

    def _look(self) -> None:
        for database in self._scene.it.realm.databases:
            self._note(database)

    def _note(self, database: Database) -> None:
        before, now = self._last.get(id(database)), database.string
        self._every.add(str(now))
        if before == now:
            return
        self._last[id(database)] = now
        gone = {*before.coordinators} - {*now.coordinators} if before is not None else set()
        self._until |= dict.fromkeys(gone, self._scene.now)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if not actor.operates or event.before is None or event.change is Change.DELETED:
            return
        before = decode(event.before.text, FoundationDBCluster).status
        now = decode(event.now.text, FoundationDBCluster).status
        if now.connection_string == before.connection_string or not before.configured:
            return
        self._look()
        if now.connection_string not in self._every:
            words = f"nobody is found by {now.connection_string}, which the status says"
            self._scene.report("F-S18", actor, words)
