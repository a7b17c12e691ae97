"""GenerateInitialClusterFile: how the database is found, before there is one to ask."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.saying import done, waits
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.whereabouts import has_cluster_file
from stateward.fdb.decide import beginning
from stateward.fdb.decide.beginning import NotYet
from stateward.fdb.model.connection import ConnectionString, description_of
from stateward.fdb.model.names import config_map_name
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_LENGTH: Final = 32
_AGAIN: Final = 15.0
_SOON: Final = 1.0


class GenerateInitialClusterFile:
    """Chooses the first coordinators among pods that run, once and for all."""

    name = "GenerateInitialClusterFile"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Note the connection string; the config map has it from the next pass on."""
        if seen.view.connection is not None:
            return DONE
        found = beginning.begin(seen.view)
        if isinstance(found, NotYet):
            after = found.after or _AGAIN
            return waits(seen, self.name, after, "WaitingForPods", found.why)
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED
        if await self._has_begun(seen):
            words = "its config map says how a database of it is found: no other one is begun"
            return waits(seen, self.name, _SOON, "ClusterFileKept", words)
        said = seen.view.spec.partial_connection_string
        seen.book.connection = ConnectionString(
            said.database_name or description_of(seen.wanted.name),
            said.generation_id or self._name(),
            found.coordinators,
        )
        words = f"the first coordinators are chosen: {seen.book.connection}"
        return done("CoordinatorsChosen", words)

    async def _has_begun(self, seen: Seen) -> bool:
        """Tell whether a database was begun; asked past the cache, as a second one is the end."""
        metadata = seen.cluster.metadata
        if has_cluster_file(seen.config_map, metadata.uid):
            return True
        key = ObjectKey(metadata.namespace, config_map_name(metadata.name))
        try:
            live = await self._tools.client.get(CONFIG_MAPS, key)
        except NotFound:
            return False
        return has_cluster_file(live, metadata.uid)

    def _name(self) -> str:
        chance = self._tools.chance
        return "".join(chance.choice(_LETTERS) for _ in range(_LENGTH))
