"""The port's verbs as calls: the same for both ways of speaking."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from typing import Final, Protocol

from stateward.core.errors import OutcomeUnknown, PeerConfused
from stateward.etcd.members import calls, messages
from stateward.etcd.members.calls import Call
from stateward.etcd.members.errors import AlreadyCompacted, LoginNeeded, NameTaken
from stateward.etcd.members.messages import Message
from stateward.etcd.model.members import Alarm, AlarmKind, Member, MemberStatus, Roster

#: The user and the role that may do everything.
ROOT: Final = "root"


class Caller(Protocol):
    """One way of speaking to one member; it raises what the port promises."""

    async def ask(self, call: Call, request: Message) -> Message:
        """Return the answer."""

    def stream(self, call: Call, request: Message) -> AsyncGenerator[Message, None]:
        """Yield the parts of a long answer."""


class _Asking:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller


class _Reading(_Asking):
    async def status(self) -> MemberStatus:
        """Return what the member says of itself; needs no quorum."""
        said = await self._caller.ask(calls.STATUS, {})
        _check_header(said)
        header = said["header"]
        return MemberStatus(
            cluster_id=header["cluster_id"],
            member_id=header["member_id"],
            version=said["version"],
            leader=said["leader"],
            learner=said["isLearner"],
            revision=header["revision"],
            raft_term=said["raftTerm"],
            raft_index=said["raftIndex"],
            raft_applied_index=said["raftAppliedIndex"],
            db_size=said["dbSize"],
            db_size_in_use=said["dbSizeInUse"],
            db_size_quota=said["dbSizeQuota"],
            errors=tuple(said["errors"]),
        )

    async def members(self, *, linearizable: bool = True) -> Roster:
        """Return the member list; a linearizable one is proof of a quorum."""
        return roster(await self._caller.ask(calls.LIST, {"linearizable": linearizable}))

    async def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms of all members."""
        said = await self._caller.ask(calls.ALARMS, {"action": messages.GET})
        return tuple(_alarms(said["alarms"]))

    async def auth_enabled(self) -> bool:
        """Tell whether clients must log in."""
        try:
            said = await self._caller.ask(calls.AUTH_STATUS, {})
        except LoginNeeded:
            return True  # it would not ask otherwise
        return bool(said["enabled"])


class _Membership(_Asking):
    async def add_learner(self, peer_url: str) -> Member:
        """Add a member that has no vote yet."""
        said = await self._caller.ask(calls.ADD, {"peerURLs": [peer_url], "isLearner": True})
        try:
            return _member(said["member"])
        except PeerConfused as error:
            raise OutcomeUnknown(error.message, hint="read the member list") from None

    async def promote(self, member_id: int) -> None:
        """Give a learner its vote; raise LearnerBehind while it is not in sync."""
        await self._caller.ask(calls.PROMOTE, {"ID": member_id})

    async def remove(self, member_id: int) -> None:
        """Remove a member for good."""
        await self._caller.ask(calls.REMOVE, {"ID": member_id})

    async def move_leader(self, to: int) -> None:
        """Hand leadership over; only the leader can be asked."""
        await self._caller.ask(calls.MOVE, {"targetID": to})


class _Maintenance(_Asking):
    async def compact(self, revision: int) -> None:
        """Forget the history before a revision; fine if it was forgotten before."""
        with suppress(AlreadyCompacted):
            # "Physical" answers when it is done, so that defragmenting finds the space free.
            await self._caller.ask(calls.COMPACT, {"revision": revision, "physical": True})

    async def defragment(self) -> None:
        """Give freed space of the asked member back; it answers nobody meanwhile."""
        await self._caller.ask(calls.DEFRAGMENT, {})

    async def disarm(self, alarm: Alarm) -> None:
        """Take an alarm back."""
        request = {"memberID": alarm.member_id, "alarm": alarm.kind.value}
        await self._caller.ask(calls.SET_ALARM, {"action": messages.DEACTIVATE, **request})

    async def snapshot(self) -> AsyncGenerator[bytes, None]:
        """Yield the database of the asked member and at last its SHA-256; needs no quorum."""
        async with aclosing(self._caller.stream(calls.SNAPSHOT, {})) as parts:
            async for part in parts:
                yield part["blob"]


class _Access(_Asking):
    async def add_root(self) -> None:
        """Make the user and the role root, without a password, and join them; fine if there."""
        with suppress(NameTaken):
            await self._caller.ask(calls.ROLE_ADD, {"name": ROOT})
        with suppress(NameTaken):
            user = {"name": ROOT, "options": {"no_password": True}}
            await self._caller.ask(calls.USER_ADD, user)
        await self._caller.ask(calls.USER_GRANT, {"user": ROOT, "role": ROOT})

    async def enable_auth(self) -> None:
        """Ask everybody to log in; fine if it is on."""
        await self._caller.ask(calls.AUTH_ENABLE, {})

    async def disable_auth(self) -> None:
        """Let everybody in; fine if it is off."""
        await self._caller.ask(calls.AUTH_DISABLE, {})


class _Keys(_Asking):
    async def put(self, key: bytes, value: bytes) -> int:
        """Store a value; return the revision at which it was acknowledged."""
        said = await self._caller.ask(calls.PUT, {"key": key, "value": value})
        return int(said["header"]["revision"])

    async def get(self, key: bytes) -> bytes | None:
        """Return a value by a linearizable read."""
        said = await self._caller.ask(calls.RANGE, {"key": key})
        found: list[bytes] = [it["value"] for it in said["kvs"] if it["key"] == key]
        return found[0] if found else None

    async def count(self, prefix: bytes) -> int:
        """Return how many keys begin so, by a linearizable read."""
        request = {"key": prefix or b"\0", "range_end": end_of(prefix), "count_only": True}
        said = await self._caller.ask(calls.RANGE, request)
        return int(said["count"])


class AskedMember(_Reading, _Membership, _Maintenance, _Access, _Keys):
    """All of the port, over one way of speaking."""


def roster(said: Message) -> Roster:
    """Return a member list as it was said; raise PeerConfused when it is nobody's."""
    _check_header(said)
    return Roster(said["header"]["cluster_id"], tuple(_member(it) for it in said["members"]))


def end_of(prefix: bytes) -> bytes:
    r"""Return the first key after all that begin so; a zero byte stands for "no end".

    >>> end_of(b"a"), end_of(b"a\xff"), end_of(b"")
    (b'b', b'b', b'\x00')
    """
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b"\0"


def _check_header(said: Message) -> None:
    """Refuse an answer of nobody: every field may be absent, so an empty one would pass."""
    header = said["header"]
    if not header["cluster_id"] or not header["member_id"]:
        raise PeerConfused("the answer must say which cluster and member gave it")


def _member(said: Message) -> Member:
    if not said["ID"]:
        raise PeerConfused("every member of a list must have an id")
    return Member(
        id=said["ID"],
        name=said["name"],
        peer_urls=tuple(said["peerURLs"]),
        client_urls=tuple(said["clientURLs"]),
        learner=said["isLearner"],
    )


def _alarms(said: Iterable[Message]) -> Iterable[Alarm]:
    known = {it.value: it for it in AlarmKind}
    for alarm in said:
        if alarm["alarm"] not in known:
            raise PeerConfused(f"an alarm must be one of {sorted(known)}, not {alarm['alarm']}")
        yield Alarm(alarm["memberID"], known[alarm["alarm"]])
