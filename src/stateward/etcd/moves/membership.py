"""Verbs that ask etcd: who is a member, who leads, how its database is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from stateward.core.errors import PeerUnreachable
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.decide import moves
from stateward.etcd.members import snapshots
from stateward.etcd.members.errors import AlreadyVoter, EtcdPacing, MemberExists, MemberUnknown
from stateward.etcd.members.port import MemberApi
from stateward.etcd.moves.tools import Tools
from stateward.etcd.seen import Seen
from stateward.kube.client import MergePatch


def a_door(seen: Seen) -> MemberApi:
    """Return how to ask the leader, or another healthy voter when nobody knows who leads."""
    return _doors(seen)[0]


def _doors(seen: Seen, leaving: int | None = None) -> list[MemberApi]:
    """Return how to ask the leader and then each other healthy voter, but not one that leaves."""
    view = seen.view
    first = [view.leader] if view.leader is not None else []
    voters = {it.ordinal: it for it in (*first, *view.healthy_voters)}.values()
    asked = [it for it in voters if it.listed is None or it.listed.member.id != leaving]
    doors = [door for it in asked if (door := seen.door(it.ordinal)) is not None]
    if not doors:
        raise PeerUnreachable("a healthy voter must answer to be asked for a change of members")
    return doors


async def _from_any(doors: list[MemberApi], ask: Callable[[MemberApi], Awaitable[None]]) -> None:
    """Ask one after the other while they want quiet first.

    A member judges that by its own connections, and may take another for lost long after it is
    back, even for ever; the others know better. Who refuses for that has changed nothing.
    """
    *others, last = doors
    for door in others:
        with suppress(EtcdPacing):
            return await ask(door)
    return await ask(last)


async def add_learner(tools: Tools, seen: Seen, move: moves.AddLearner) -> None:
    """Add a member without a vote; one that is listed already is what we want."""

    async def ask(door: MemberApi) -> None:
        await tools.fence.change(door.add_learner, move.peer_url)

    try:
        await _from_any(_doors(seen), ask)
    except MemberExists:
        return  # our own, whose answer was lost: the next look finds it


async def promote(tools: Tools, seen: Seen, move: moves.Promote) -> None:
    """Give a learner its vote."""
    try:
        await tools.fence.change(a_door(seen).promote, move.member_id)
    except AlreadyVoter:
        return


async def remove(tools: Tools, seen: Seen, move: moves.RemoveMember) -> None:
    """Remove a member; absence is what we want."""

    async def ask(door: MemberApi) -> None:
        await tools.fence.change(door.remove, move.member_id)

    try:
        await _from_any(_doors(seen, leaving=move.member_id), ask)
    except MemberUnknown:
        return


async def move_leader(tools: Tools, seen: Seen, move: moves.MoveLeader) -> None:
    """Ask the leader to hand over."""
    door, heir = seen.door(move.leader.ordinal), move.to.listed
    if door is None or heir is None:
        raise PeerUnreachable(f"{move.leader.name} must answer to hand leadership over")
    await tools.fence.change(door.move_leader, heir.member.id)


async def compact(tools: Tools, seen: Seen, move: moves.Compact) -> None:
    """Forget history."""
    await tools.fence.tend(a_door(seen).compact, move.revision)


async def defragment(tools: Tools, seen: Seen, move: moves.Defragment) -> None:
    """Have one member give space back."""
    door = seen.door(move.replica.ordinal)
    if door is None:
        raise PeerUnreachable(f"{move.replica.name} must answer to give space back")
    await tools.fence.tend(door.defragment)


async def disarm(tools: Tools, seen: Seen, move: moves.Disarm) -> None:
    """Take an alarm back."""
    await tools.fence.change(a_door(seen).disarm, move.alarm)


async def set_auth(tools: Tools, seen: Seen, move: moves.SetAuth) -> None:
    """Turn logins on, after making the user that we are, or off."""
    door = a_door(seen)
    if move.enabled:
        await tools.fence.change(door.add_root)
        await tools.fence.change(door.enable_auth)
    else:
        await tools.fence.change(door.disable_auth)


async def save_survivor(tools: Tools, seen: Seen, move: moves.SaveSurvivor) -> None:
    """Save a survivor's data, checked by its hash, and record whom the cluster goes on from."""
    door, pod = seen.door(move.replica.ordinal), move.replica.pod
    if door is None or pod is None:
        raise PeerUnreachable(f"{move.replica.name} must answer for its data to be saved")
    metadata = seen.cluster.metadata
    name = f"{metadata.namespace}-{metadata.name}-{metadata.uid}-{pod.uid}"
    path = await tools.rescue.save(name, snapshots.verified(door.snapshot()))
    report = {"survivor": move.replica.name, "podUID": pod.uid, "snapshot": str(path)}
    body = {"metadata": {"uid": metadata.uid}, "status": {"recovery": report}}
    await tools.client.patch(ETCD_CLUSTERS, metadata.key, MergePatch(body), subresource="status")
