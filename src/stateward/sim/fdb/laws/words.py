"""K5: what a status claims of a generation was so when it was claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster, FoundationDBProcessGroup
from stateward.local.store import StoreEvent
from stateward.sim.fdb.laws.pods import is_back
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor

_CLASSES: Final = ("storage", "log", "stateless")


class Words:
    """Every status that calls a generation reconciled for the first time.

    Then there are as many groups of each class as are asked for, all of them are part of the
    database, and it is configured as asked. Who saw the past may say what was so then.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.watchman.on_change(CLUSTERS.name, self._changed)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        now = self._scene.called_done(actor, event)
        if now is None:
            return
        for sentence in self._wrong(now):
            generation = now.metadata.generation
            words = f"generation {generation} is called reconciled: {sentence}"
            self._scene.report("K5", actor, words)

    def _wrong(self, cluster: FoundationDBCluster) -> Iterator[str]:
        staying = [
            it
            for it in self._scene.truth.groups(cluster.metadata.key)
            if not it.spec.remove and not it.metadata.deleting
        ]
        there = Counter(it.spec.process_class for it in staying)
        for kind in _CLASSES:
            wanted = getattr(cluster.spec.process_counts, kind, None)
            if wanted and there[kind] != max(0, wanted):  # -1 stands for none
                yield f"{there[kind]} groups of class {kind} of {wanted}"
        yield from (
            f"{it.metadata.name} is not part of the database"
            for it in staying
            if not is_back(self._scene.it, it.metadata.key)
        )
        yield from self._differing(cluster, staying)

    def _differing(
        self, cluster: FoundationDBCluster, staying: list[FoundationDBProcessGroup]
    ) -> Iterator[str]:
        asked = cluster.spec.database_configuration.redundancy_mode
        running = [one for it in staying for one in self._scene.truth.processes(it.metadata.key)]
        for database in {id(it.database): it.database for it in running}.values():
            settings = database.settings if database is not None else None
            if settings is not None and asked and settings.redundancy != asked:
                yield f"it is {settings.redundancy}, and shall be {asked}"
        for it in running:
            if str(it.server.version) != cluster.spec.version:
                yield f"{it.server.address} runs {it.server.version}"
