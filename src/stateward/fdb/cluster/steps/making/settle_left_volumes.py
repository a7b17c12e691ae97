"""SettleLeftVolumes: what an earlier cluster of this name left is taken over, or left alone."""

from __future__ import annotations

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
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups import leftovers
from stateward.fdb.decide.groups.leftovers import Ask, Begin, Leaving, NotFound, Take
from stateward.fdb.model.names import LEFT_VOLUMES, pod_name
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists
from stateward.kube.meta import ObjectKey

#: Seconds until it is looked for again what a person says, or what goes; an event tells sooner.
_AGAIN: Final = 15.0
_SOON: Final = 1.0


class SettleLeftVolumes:
    """Ends every pass until a person has said what becomes of them; nothing is made before."""

    name = "SettleLeftVolumes"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Ask; or have on record whose database this is, then make groups for its volumes."""
        metadata = seen.cluster.metadata
        said = metadata.annotations.get(LEFT_VOLUMES, "")
        match leftovers.settle(seen.view, metadata.uid, seen.left, said):
            case Leaving(why=why):
                return waits(seen, self.name, _AGAIN, "LeftoverLeaving", why)
            case Ask(message=message, hint=hint):
                return waits(seen, self.name, _AGAIN, "VolumesLeft", message, hint=hint)
            case Begin() as begin:
                return await self._begin(seen, begin)
            case Take() as take:
                return await self._take(seen, take)
            case NotFound(message=message):
                return Blocked(
                    "DatabaseMoved",
                    message,
                    "nothing was overwritten: see 'Deleting a cluster' in"
                    " docs/foundationdb/operations.md",
                )
        return DONE

    async def _begin(self, seen: Seen, begin: Begin) -> Outcome:
        """Note how the database is found, and that it was made: no other one is made then.

        That an object of this name has our UID says that there is none any more with theirs.
        """
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        book = seen.book
        book.connection, book.running = begin.connection, begin.running
        book.configured, book.adopted_from = True, begin.former
        return done("VolumesAdopted", f"its database is found at {begin.connection}")

    async def _take(self, seen: Seen, take: Take) -> Outcome:
        """Own groups that are there still, and make the others; each makes its claim its own."""
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        return await (self._own(seen, take) if take.orphans else self._make(seen, take))

    async def _make(self, seen: Seen, take: Take) -> Outcome:
        documents: dict[str, Json] = {}
        for it in take.groups:
            made = group_document(seen.wanted, it)
            made["spec"]["adoptVolumeOf"] = take.former
            documents[pod_name(seen.wanted.name, it)] = made

        taken: list[str] = []

        async def create(name: str) -> None:
            try:
                await self._client.create(PROCESS_GROUPS, documents[name])
            except AlreadyExists:
                if not await self._is_ours(seen, name):
                    taken.append(name)

        found = await each(documents, create)
        if taken:
            found = Blocked(
                "NameTaken",
                f"process group {taken[0]} is there and is not this cluster's",
                "delete process groups of the earlier cluster that nobody owns",
            )
        if found is None:
            words = f"process groups that were left are back: {len(documents)}"
            return done("ProcessGroupsAdopted", words, _SOON, groups=[*documents])
        return ended(seen, self.name, found)

    async def _own(self, seen: Seen, take: Take) -> Outcome:
        groups = {it: seen.ownerless[it] for it in take.orphans}
        adopted = {"adoptVolumeOf": take.former}
        found = await own(self._client, groups, cluster_owner(seen.wanted), adopted)
        if found is not None:
            return ended(seen, self.name, found)
        words = f"process groups that nobody owned are this cluster's: {len(groups)}"
        return done("ProcessGroupsAdopted", words, _SOON, groups=[*groups])

    async def _is_ours(self, seen: Seen, name: str) -> bool:
        """Tell whether the object of a name is of us, of a moment ago."""
        there = await self._client.get(PROCESS_GROUPS, ObjectKey(seen.view.key.namespace, name))
        owner = there.metadata.controller
        return owner is not None and owner.uid == seen.cluster.metadata.uid
