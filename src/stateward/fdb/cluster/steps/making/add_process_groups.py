"""AddProcessGroups: as many groups of each class as the spec asks for, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.build.groups import group_document
from stateward.fdb.cluster.hands.editing import each
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.saying import done, waits
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import additions
from stateward.fdb.model.names import INSTANCE_LABEL, ProcessGroupID, pod_name, pod_of_claim
from stateward.fdb.tell.mirror import Import, imported
from stateward.kube.client import Selection
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists

#: Ids have numbers below this, by chance: one that was used before is hardly ever used again, so an
#: exclusion that somebody forgot does not hit a new group.
_NUMBERS: Final = 99_999
#: Seconds until others are tried where names were taken.
_TAKEN: Final = 2.0
#: Seconds until the cache shows what is there.
_SOON: Final = 1.0


class AddProcessGroups:
    """Creates objects of groups; first those that another operator left in the status."""

    name = "AddProcessGroups"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Create what is missing, and end the pass: who follows must see it."""
        if not seen.view.groups and seen.cluster.status.process_groups:
            return await self._import(seen)
        ids = additions.new_ids(seen.view, _numbers(self._tools.chance), _taken(seen))
        if not ids:
            return DONE
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED
        documents = {pod_name(seen.wanted.name, it): self._document(seen, it) for it in ids}
        return await self._create(documents, "ProcessGroupsAdded", "new process groups")

    async def _import(self, seen: Seen) -> Outcome:
        """Make objects of what the status names: an operator without such objects wrote it.

        Only where there are none at all, and asked past the cache.
        """
        chosen = Selection(seen.view.key.namespace, labels=f"{INSTANCE_LABEL}={seen.wanted.name}")
        there = await self._tools.client.list(PROCESS_GROUPS, chosen)
        if there.items:
            words = "process groups are there that are not seen yet"
            return waits(seen, self.name, _SOON, "CacheBehind", words)
        documents: dict[str, Json] = {}
        for it in imported(seen.cluster.status).groups:
            made = self._document(seen, it.id)
            made["spec"] |= _decided(it)
            documents[made["metadata"]["name"]] = made
        return await self._create(documents, "ProcessGroupsImported", "groups of the status")

    def _document(self, seen: Seen, group: ProcessGroupID) -> Json:
        return group_document(seen.wanted, group)

    async def _create(self, documents: dict[str, Json], reason: str, what: str) -> Outcome:
        taken = []

        async def create(name: str) -> None:
            try:
                await self._tools.client.create(PROCESS_GROUPS, documents[name])
            except AlreadyExists:  # of us, a moment ago, or of somebody whose number we do not take
                taken.append(name)

        found = await each(documents, create)
        if found is not None:
            return found
        made = sorted(documents.keys() - set(taken))
        return done(reason, f"{what}: {len(made)}", _TAKEN if taken else 0.0, groups=made)


def _numbers(chance: Chance) -> Iterator[int]:
    while True:
        yield 1 + chance.below(_NUMBERS)


def _taken(seen: Seen) -> frozenset[str]:
    """Return what no new group may be called: as one that is there, or whose volume was left."""
    left = (pod_of_claim(it.name) for it in seen.left.claims)
    there = (it.spec.process_group_id for it in seen.groups.values())
    return frozenset([*there, *(it for it in left if it is not None)])


def _decided(group: Import) -> Json:
    """Return what another operator had decided of a group."""
    found: Json = {"exclusionSkipped": True} if group.skipped else {}
    if group.removal_timestamp is not None:
        found |= {"remove": True, "removalTimestamp": to_rfc3339(group.removal_timestamp)}
    if group.exclusion_timestamp is not None:
        moment = to_rfc3339(group.exclusion_timestamp)
        found |= {"excluded": True, "exclusionTimestamp": moment}
    return found
