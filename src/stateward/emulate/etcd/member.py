"""The port of etcd over the stand-in: what a client of one address is told."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Final

from stateward.emulate.etcd.asked import Asked
from stateward.emulate.etcd.membership import Membership
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import State
from stateward.emulate.etcd.universe import Universe
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.errors import EtcdRefused, LearnerCannot, LoginNeeded, NoSpace
from stateward.etcd.members.port import Endpoint
from stateward.etcd.model.members import Alarm, AlarmKind, MemberStatus, Roster

#: What an empty database takes.
_PAGE: Final = 16_384
#: A snapshot comes in pieces of so many bytes.
_PIECE: Final = 32_768
#: Seconds that a member needs to give space back.
_TIDYING: Final = 0.2
_CORRUPT: Final = "corrupt cluster"


class _Reading(Asked):
    async def status(self) -> MemberStatus:
        """Return what the member says of itself; needs no quorum."""
        server = await self._open(self._deadlines.reads)
        self._log_in(server, asks_little=True)
        disk, history = server.disk, server.disk.history
        index = history.raft_index(disk.index) if history is not None else 0
        size = _size(server)
        return MemberStatus(
            cluster_id=history.cluster_id if history is not None else 0,
            member_id=server.member_id,
            version=".".join(map(str, server.start.version)),
            leader=server.leader,
            learner=server.learner,
            revision=server.state.revision,
            raft_term=disk.term,
            raft_index=index,
            raft_applied_index=index,
            db_size=size,
            db_size_in_use=size - disk.slack,
            db_size_quota=server.start.quota if server.start.version >= (3, 6) else 0,
            errors=_errors(server),
        )

    async def members(self, *, linearizable: bool = True) -> Roster:
        """Return the member list; a linearizable one is proof of a quorum."""
        server = await self._open(self._deadlines.reads)
        if server.learner:
            raise LearnerCannot("rpc not supported for learner", code=14)
        self._log_in(server, asks_little=True)
        if linearizable:
            await self._quorum(server, self._deadlines.reads)
        history, listed = server.history, server.state.members
        cluster_id = history.cluster_id if history is not None else 0
        return Roster(cluster_id, tuple(listed[it] for it in sorted(listed)))

    async def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms of all members."""
        seconds = self._deadlines.reads
        server = await self._voter(seconds, writes=False)
        state = await self._commit(server, lambda state: state, seconds, reads=True)
        return tuple(sorted(state.alarms, key=lambda it: (it.kind.value, it.member_id)))

    async def auth_enabled(self) -> bool:
        """Tell whether clients must log in."""
        seconds = self._deadlines.reads
        try:
            server = await self._voter(seconds, writes=False)
        except LoginNeeded:
            return True  # it would not ask otherwise
        return (await self._commit(server, lambda state: state, seconds, reads=True)).auth


class _Upkeep(Asked):
    async def compact(self, revision: int) -> None:
        """Forget the history before a revision; fine if it was forgotten before."""
        server = await self._voter(self._deadlines.upkeep)
        freed = 0

        def change(state: State) -> State:
            nonlocal freed
            if any(it.kind is AlarmKind.CORRUPT for it in state.alarms):
                raise EtcdRefused(_CORRUPT, code=15)
            if revision > state.revision:
                raise EtcdRefused("mvcc: required revision is a future revision", code=11)
            if revision <= state.compacted:
                return state
            freed = state.waste
            return replace(state, compacted=revision, waste=0)

        await self._commit(server, change, self._deadlines.upkeep)
        if freed and server.history is not None:
            for it in self._universe.of(server.history):
                it.disk.slack += freed

    async def defragment(self) -> None:
        """Give freed space of the asked member back; it answers nobody meanwhile."""
        server = await self._voter(self._deadlines.upkeep)
        clock = self._universe.clock
        server.busy = clock.monotonic() + _TIDYING
        await clock.sleep(_TIDYING)
        server.disk.slack = 0

    async def disarm(self, alarm: Alarm) -> None:
        """Take an alarm back."""
        server = await self._voter()
        await self._commit(
            server,
            lambda state: replace(state, alarms=state.alarms - {alarm}),
            self._deadlines.changes,
        )

    async def snapshot(self) -> AsyncGenerator[bytes, None]:
        """Yield the database of the asked member and at last its SHA-256; needs no quorum."""
        server = await self._open(self._deadlines.chunk)
        self._log_in(server)
        text = repr(sorted(server.state.keys.items())).encode()
        text = text.ljust(min(_size(server), _PIECE * 64), b"\0")
        for place in range(0, len(text), _PIECE):
            yield text[place : place + _PIECE]
        yield hashlib.sha256(text).digest()


class _Access(Asked):
    async def add_root(self) -> None:
        """Make the user and the role root, without a password, and join them; fine if there."""
        server = await self._voter()
        await self._commit(
            server, lambda state: replace(state, rooted=True), self._deadlines.changes
        )

    async def enable_auth(self) -> None:
        """Ask everybody to log in; fine if it is on."""
        server = await self._voter()

        def change(state: State) -> State:
            if not state.rooted:
                raise EtcdRefused("root user does not exist", code=9)
            return replace(state, auth=True)

        await self._commit(server, change, self._deadlines.changes)

    async def disable_auth(self) -> None:
        """Let everybody in; fine if it is off."""
        server = await self._voter()
        await self._commit(
            server, lambda state: replace(state, auth=False), self._deadlines.changes
        )


class _Keys(Asked):
    async def put(self, key: bytes, value: bytes) -> int:
        """Store a value; return the revision at which it was acknowledged."""
        server = await self._voter(self._deadlines.keys)
        if _size(server) >= server.start.quota:
            self._universe.raise_alarm(server, AlarmKind.NO_SPACE)

        def change(state: State) -> State:
            kinds = {it.kind for it in state.alarms}
            if AlarmKind.CORRUPT in kinds:
                raise EtcdRefused(_CORRUPT, code=15)
            if AlarmKind.NO_SPACE in kinds:
                raise NoSpace("mvcc: database space exceeded", code=8)
            return state.with_key(key, value)

        return (await self._commit(server, change, self._deadlines.keys)).revision

    async def get(self, key: bytes) -> bytes | None:
        """Return a value by a linearizable read."""
        server = await self._voter(self._deadlines.keys, writes=False)
        await self._quorum(server, self._deadlines.keys)
        return server.state.keys.get(key)

    async def count(self, prefix: bytes) -> int:
        """Return how many keys begin so, by a linearizable read."""
        server = await self._voter(self._deadlines.keys, writes=False)
        await self._quorum(server, self._deadlines.keys)
        return sum(it.startswith(prefix) for it in server.state.keys)


class EmulatedMember(_Reading, Membership, _Upkeep, _Access, _Keys):
    """What the process at one endpoint answers."""


class EmulatedDialer:
    """Gives a way to ask the processes of a universe."""

    def __init__(self, universe: Universe, deadlines: Deadlines | None = None) -> None:
        self._universe = universe
        self._deadlines = deadlines or Deadlines()

    def dial(self, endpoint: Endpoint) -> EmulatedMember:
        """Return the member behind an endpoint; nothing is sent yet."""
        return EmulatedMember(self._universe, endpoint, self._deadlines)

    async def close(self) -> None:
        """Nothing is kept open."""


def _size(server: Server) -> int:
    return _PAGE + server.state.used + server.state.waste + server.disk.slack


def _errors(server: Server) -> tuple[str, ...]:
    alone = () if server.leader else ("etcdserver: no leader",)
    alarms = sorted(server.state.alarms, key=lambda it: (it.member_id, it.kind.value))
    told = (f"memberID:{it.member_id} alarm:{it.kind.name.replace('_', '')}" for it in alarms)
    return (*alone, *told)
