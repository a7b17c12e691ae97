"""RemoveServices: a service that the spec no longer asks for goes."""

from __future__ import annotations

from contextlib import suppress

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import wrote
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.resources import SERVICES


class RemoveServices:
    """Deletes the service below which pods had names; those of groups go with them."""

    name = "RemoveServices"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Delete it, if it is this cluster's and not wanted."""
        live = seen.service
        if live is None or seen.wanted.spec.routing.headless_service or live.metadata.deleting:
            return DONE
        if seen.view.connection is None and seen.view.configured:
            return DONE  # the database may be found by names below it
        owner = live.metadata.controller
        if owner is None or owner.uid != seen.cluster.metadata.uid:
            return DONE
        try:
            if not await is_unchanged(self._client, seen.cluster):
                return CHANGED
            with suppress(NotFound):
                await self._client.delete(SERVICES, live.metadata.key, uid=live.metadata.uid)
                wrote("a service that nobody asks for was deleted", name=live.metadata.name)
        except Conflict:
            raise
        except PeerError as error:
            return trouble(f"service {live.metadata.name}", error)
        return DONE
