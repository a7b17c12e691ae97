"""Do: one short verb for each move."""

from __future__ import annotations

from contextlib import suppress
from typing import assert_never

from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.example import build, decide
from stateward.example.api import FINALIZER, TEAMS
from stateward.example.view import View
from stateward.kube.client import Apply, Client, MergePatch
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS

MANAGER = "stateward-example"


class MakeNextMove:
    """The one step of a pass: decide on a move and make it."""

    name = "MakeNextMove"

    def __init__(self, client: Client) -> None:
        self._client = client

    async def run(self, seen: View) -> Outcome:
        """Make the move that is safe and useful now, and say what was done."""
        return await self._do(seen, decide.next_move(seen))

    async def _do(self, view: View, move: decide.Move) -> Outcome:
        match move:
            case decide.Rest():
                return DONE
            case decide.Hold():
                await self._set_finalizers(view, (*view.team.metadata.finalizers, FINALIZER))
                return Wait("Holding", "protecting the team before making members")
            case decide.Add(ordinal=ordinal):
                return await self._add(view, ordinal)
            case decide.Teach(member=member):
                body = build.member(view.team, member.ordinal)
                body["metadata"]["uid"] = member.uid
                where = ObjectKey(view.team.metadata.namespace, body["metadata"]["name"])
                await self._client.patch(CONFIG_MAPS, where, Apply(body, MANAGER, force=True))
                return Wait("Teaching", f"teaching the motto to member {member.ordinal}")
            case decide.Remove():
                return await self._remove(view, move)
            case decide.AwaitGone(member=member):
                return Wait("Leaving", f"waiting for member {member.ordinal} to leave")
            case decide.LetGo():
                rest = tuple(f for f in view.team.metadata.finalizers if f != FINALIZER)
                await self._set_finalizers(view, rest)
                return DONE
            case _:
                assert_never(move)

    async def _add(self, view: View, ordinal: int) -> Outcome:
        """Create a member, unless somebody else's object has its name."""
        try:
            await self._client.create(CONFIG_MAPS, build.member(view.team, ordinal))
        except AlreadyExists:
            name = build.member_name(view.team, ordinal)
            found = await self._client.get(
                CONFIG_MAPS, ObjectKey(view.team.metadata.namespace, name)
            )
            owner = found.metadata.controller
            if owner is None or owner.uid != view.team.metadata.uid:
                return Blocked(
                    "NameTaken",
                    f"config map {name} exists and is not ours",
                    f"delete or rename config map {name}",
                )
        return Wait("Adding", f"adding member {ordinal}")

    async def _remove(self, view: View, move: decide.Remove) -> Outcome:
        """Delete a member: read the intent past the cache first, and name the UID we mean."""
        try:
            live = await self._client.get(TEAMS, view.team.metadata.key)
        except NotFound:
            return Wait("Changed", "the team is gone")
        if live.metadata.uid != view.team.metadata.uid:
            return Wait("Changed", "the team was replaced by another of its name")
        if not decide.still_justified(move, View(live, view.members)):
            return Retry(1, "Changed", "the team changed its mind; looking again")
        name = build.member_name(view.team, move.member.ordinal)
        where = ObjectKey(view.team.metadata.namespace, name)
        with suppress(NotFound):  # absence is what we want
            await self._client.delete(CONFIG_MAPS, where, uid=move.member.uid)
        return Wait("Removing", f"removing member {move.member.ordinal}")

    async def _set_finalizers(self, view: View, finalizers: tuple[str, ...]) -> None:
        """Write the whole list, and only onto the very version that we read it from."""
        metadata = view.team.metadata
        body = {
            "metadata": {
                "uid": metadata.uid,
                "resourceVersion": metadata.resource_version,
                "finalizers": list(finalizers),
            }
        }
        await self._client.patch(TEAMS, metadata.key, MergePatch(body))
