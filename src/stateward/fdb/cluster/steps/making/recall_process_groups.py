"""RecallProcessGroups: groups whose objects somebody took away are there again, on their volumes.

Nothing of this cluster is judged before: whoever does not see all of its groups makes others.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.build.groups import group_document
from stateward.fdb.build.metadata import cluster_owner
from stateward.fdb.cluster.hands.asking import ended
from stateward.fdb.cluster.hands.editing import each, own
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.saying import done, waits
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups.recalling import recall
from stateward.fdb.decide.held import Held
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import CLUSTER_UID_LABEL, ProcessGroupID, pod_name
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import VOLUME_CLAIMS

_SOON: Final = 1.0
_SHOWN: Final = 5


class RecallProcessGroups:
    """Owns groups again that nobody owns, and makes objects again for volumes that none has."""

    name = "RecallProcessGroups"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Have back who can be, and end the pass; tell of the volumes of others."""
        found = recall(seen.view, seen.cluster.metadata.uid, seen.left)
        if not found.adopt and not found.make:
            return _told(seen, found.held)
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        if found.adopt:
            return await self._own(seen, found.adopt)
        return await self._make(seen, found.make)

    async def _own(self, seen: Seen, names: Sequence[str]) -> Outcome:
        groups = {it: seen.ownerless[it] for it in names}
        trouble = await own(self._client, groups, cluster_owner(seen.wanted))
        if trouble is not None:
            return ended(seen, self.name, trouble)
        words = f"process groups that nobody owned are this cluster's again: {_some(names)}"
        return done("ProcessGroupsAdopted", words, _SOON, groups=[*names])

    async def _make(self, seen: Seen, lost: Sequence[tuple[ProcessGroupID, str]]) -> Outcome:
        documents: dict[str, Json] = {}
        for group, claim in lost:
            if await self._is_there(seen, claim):
                made = group_document(seen.wanted, group)
                # That there is data is remembered: no other database is begun with it.
                made["spec"]["adoptVolumeOf"] = seen.cluster.metadata.uid
                documents[pod_name(seen.wanted.name, group)] = made
        if not documents:
            words = "volumes are still seen that are gone"
            return waits(seen, self.name, _SOON, "CacheBehind", words)

        async def make(name: str) -> None:
            with suppress(AlreadyExists):  # it was there all the time, and not seen yet
                await self._client.create(PROCESS_GROUPS, documents[name])

        trouble = await each(documents, make)
        if trouble is not None:
            return ended(seen, self.name, trouble)
        words = f"process groups that were gone are back, on their volumes: {_some([*documents])}"
        return done("ProcessGroupsRecalled", words, _SOON, groups=[*documents])

    async def _is_there(self, seen: Seen, claim: str) -> bool:
        """Tell whether a claim is there, and ours, past the cache: no group is made without one.

        A group that went as it should took its claim with it, and its name is not used again.
        """
        key = ObjectKey(seen.view.key.namespace, claim)
        try:
            metadata = (await self._client.get(VOLUME_CLAIMS, key)).metadata
        except NotFound:
            return False
        ours = metadata.labels.get(CLUSTER_UID_LABEL) == seen.cluster.metadata.uid
        return ours and not metadata.deleting


def _told(seen: Seen, held: Sequence[Held]) -> Outcome:
    if not held:
        return DONE
    away = f"kubectl -n {seen.view.key.namespace} delete pvc {held[0].group}"
    hint = f"give the class its volumes back, or delete what nobody needs: {away}"
    return Blocked("VolumesUnused", told(held), hint)


def _some(names: Sequence[str]) -> str:
    return some_of(names, _SHOWN)
