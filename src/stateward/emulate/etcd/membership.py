"""Changes of who belongs to a cluster: what etcd allows, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.emulate.etcd.asked import Asked
from stateward.emulate.etcd.servers import Server, new_member_id
from stateward.emulate.etcd.state import State
from stateward.etcd.members.calls import server_patience
from stateward.etcd.members.errors import (
    AlreadyVoter,
    EtcdPacing,
    LearnerBehind,
    MemberExists,
    MemberUnknown,
    NotTheLeader,
    QuorumAtRisk,
    TooManyLearners,
)
from stateward.etcd.model.members import Member, quorum

#: Seconds for which etcd wants members to be connected before it changes who belongs to it.
_STEADY: Final = 5.0
#: From these releases on, a majority of them is enough.
_LENIENT: Final = {(3, 5): 30, (3, 6): 11}
#: A learner that has so much of the leader's log may vote.
_IN_SYNC: Final = 0.9
#: Seconds until another leads.
_MOVING: Final = 0.1


class Membership(Asked):
    """Who belongs to the cluster."""

    async def add_learner(self, peer_url: str) -> Member:
        """Add a member that has no vote yet."""
        server = await self._voter()
        self._require_steady(server)
        added = new_member_id(peer_url, self._universe.clock.now())

        def change(state: State) -> State:
            urls = {url for it in state.members.values() for url in it.peer_urls}
            if added in state.removed:
                raise EtcdPacing("member not found", code=5)
            if peer_url in urls or added in state.members:
                raise MemberExists("member ID already exist", code=9)
            if state.learners:
                raise TooManyLearners("too many learner members in cluster", code=9)
            return state.with_member(Member(added, "", (peer_url,), learner=True))

        after = await self._commit(server, change, self._deadlines.changes)
        return after.members[added]

    async def promote(self, member_id: int) -> None:
        """Give a learner its vote; raise LearnerBehind while it is not in sync."""
        server = await self._voter()

        def change(state: State) -> State:
            member = state.members.get(member_id)
            if member is None:
                raise MemberUnknown("member not found", code=5)
            if not self._is_in_sync(server, member_id):
                raise LearnerBehind("can only promote a learner member which is in sync", code=9)
            started = sum(bool(state.members[it].name) for it in state.voters)
            if server.start.strict and started + 1 < quorum(len(state.voters) + 1):
                raise QuorumAtRisk("re-configuration failed due to not enough started members")
            if not member.learner:
                raise AlreadyVoter("can only promote a learner member", code=9)
            return state.with_member(replace(member, learner=False))

        await self._commit(server, change, self._deadlines.changes)

    def _is_in_sync(self, server: Server, member_id: int) -> bool:
        """Tell whether the leader has seen it to have enough, however it is now."""
        if server.history is None:
            return False
        history, reign = server.history, self._universe.reign(server.history)
        seen = history.raft_index(reign.match.get(member_id, -1))
        return seen >= _IN_SYNC * history.raft_index(history.last)

    async def remove(self, member_id: int) -> None:
        """Remove a member for good."""
        server = await self._voter()
        self._require_spare(server, member_id)

        def change(state: State) -> State:
            if member_id not in state.members:
                raise MemberUnknown("member not found", code=5)
            return state.without(member_id)

        await self._commit(server, change, self._deadlines.changes)

    async def move_leader(self, to: int) -> None:
        """Hand leadership over; only the leader can be asked."""
        server = await self._voter()
        member = server.state.members.get(to)
        if server.leader != server.member_id or server.history is None:
            raise NotTheLeader("not leader", code=9)
        if member is None or member.learner:
            raise NotTheLeader("bad leader transferee", code=9)
        if to == server.member_id:
            return
        reign = self._universe.reign(server.history)
        await self._universe.clock.sleep(_MOVING)
        found = reign.by_id(to)
        if found is not None and self._universe.reaches(server, found) and reign.ruler() is server:
            reign.crown(found)
            self._universe.settle()
            return
        await self._universe.clock.sleep(server_patience(self._deadlines.changes) - _MOVING)
        raise self._lost("request timed out, leader transfer took too long", writes=True)

    def _require_steady(self, server: Server) -> None:
        """Refuse while those who vote were not connected for long enough."""
        voters = server.state.voters
        lenient = server.start.version[2] >= _LENIENT.get(server.start.version[:2], 0)
        needed = quorum(len(voters) + 1) if lenient else len(voters)
        if server.start.strict and self._steady(server) < min(needed, len(voters)):
            raise EtcdPacing("unhealthy cluster", code=14)

    def _require_spare(self, server: Server, member_id: int) -> None:
        """Refuse to take a member whose absence would leave too few."""
        state = server.state
        member = state.members.get(member_id)
        if not server.start.strict or (member is not None and member.learner):
            return
        others = [it for it in state.voters if it != member_id]
        started = [it for it in others if state.members[it].name]
        if not others or len(started) < quorum(len(others)):
            raise QuorumAtRisk("re-configuration failed due to not enough started members")
        if self._age(server, member_id) is None:
            return
        if self._steady(server) - 1 < 1 + (len(state.voters) - 1) // 2:
            raise EtcdPacing("unhealthy cluster", code=14)

    def _steady(self, server: Server) -> int:
        """Return how many voters the asked one has been connected to for long enough."""
        ages = [self._age(server, it) for it in server.state.voters]
        return sum(it is not None and it >= _STEADY for it in ages)

    def _age(self, server: Server, member_id: int) -> float | None:
        """Return for how long the asked one has been connected to a member."""
        if server.history is None or member_id == server.member_id:
            return _STEADY
        found = self._universe.by_id(server.history, member_id)
        return self._universe.links.age(server, found, self._universe.clock.monotonic())
