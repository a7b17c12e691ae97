"""Who leads one history: elections, what a leader proposes, and who knows of it.

A leader that is gone, or has lost its majority, stays in office until the others choose again. What
it was asked for meanwhile stays in its log: it comes true if it leads again, and is forgotten if
somebody else does. So an answer that never came says nothing about what was asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from stateward.core.chance import Chance
from stateward.emulate.etcd.links import Links
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import Disk, History, State
from stateward.etcd.model.members import quorum

Change = Callable[[State], State]

#: Seconds until members notice that nobody leads, and have chosen.
ELECTION: Final = (1.0, 1.6)
#: Seconds until members that were too few choose, once they are enough.
_SOONER: Final = (0.1, 1.0)
#: Seconds until a joiner has all data; now and then its first words are lost.
_CATCH_UP: Final = (0.2, 0.6)
_LOST_WORDS: Final = 7.0


@dataclass(slots=True, eq=False)
class Proposal:
    """What a leader without a majority was asked for."""

    change: Change
    disk: Disk
    lives: int
    answer: asyncio.Future[State]


class Reign:
    """The leaders of one history, one after the other."""

    def __init__(self, history: History, servers: list[Server], links: Links) -> None:
        self.history = history
        self._servers = servers
        self._links = links
        #: The process that leads, or led last while nobody has been chosen since.
        self._ruling: Server | None = None
        self.term = 1
        #: When there is an election; None while somebody leads.
        self.due: float | None = None
        #: True when all have voted and nobody had a majority.
        self.hopeless = False
        #: How far the leader has seen the others to be.
        self.match: dict[int, int] = {}
        self.proposals: list[Proposal] = []
        #: When all will have agreed to a newer release.
        self.agrees_at: float | None = None

    def peers(self) -> list[Server]:
        """Return the processes that have part in the history."""
        return [it for it in self._servers if it.disk.history is self.history and it.booted]

    def by_id(self, member_id: int) -> Server | None:
        """Return the process of a member."""
        return next((it for it in self.peers() if it.member_id == member_id), None)

    def ruler(self) -> Server | None:
        """Return who leads now, with a majority in reach."""
        found = self._in_office()
        return found if found is not None and self._carries(found) else None

    def _in_office(self) -> Server | None:
        """Return who leads, perhaps without a majority; one that began again does not."""
        found = self._ruling
        here = found is not None and not found.ended and found.disk.history is self.history
        return found if here else None

    def _carries(self, leader: Server) -> bool:
        voters = leader.state.voters
        if leader.member_id not in voters:
            return False
        reached = sum(
            it.member_id in voters and self._links.reach(leader, it) for it in self.peers()
        )
        return reached >= quorum(len(voters))

    # ------------------------------------------------------------------ elections

    def elect(self, now: float, chance: Chance) -> Server | None:
        """Return who has won an election, when one is due; otherwise say when one will be."""
        if self.due is None or (self.hopeless and self._winner() is not None):
            span = _SOONER if self.hopeless else ELECTION
            self.due, self.hopeless = now + chance.between(*span), False
        if self.hopeless or now < self.due:
            return None
        winner = self._winner()
        self._ruling, self.hopeless = None, winner is None
        return winner

    def _winner(self) -> Server | None:
        candidates = sorted(self.peers(), key=lambda it: (-self._log(it), it.member_id))
        return next(filter(self._would_win, candidates), None)

    def _would_win(self, server: Server) -> bool:
        """Tell whether a majority has no more than it has, and would vote for it."""
        voters = server.state.voters
        if server.member_id not in voters:
            return False
        grants = sum(
            it.member_id in voters
            and self._links.reach(server, it)
            and self._log(it) <= self._log(server)
            for it in self.peers()
        )
        return grants >= quorum(len(voters))

    def _log(self, server: Server) -> int:
        """Return how long the log of a member is, with what nobody has agreed to."""
        return server.disk.index + sum(_is_kept(it, server.disk) for it in self.proposals)

    def crown(self, server: Server) -> None:
        """Have a member lead from now on; a new leader begins with an entry of its own."""
        self._ruling, self.term = server, self.term + 1
        self.due, self.hopeless = None, False
        self.match.clear()
        self.proposals = [it for it in self.proposals if _is_kept(it, server.disk)]
        self.history.append(self.history.states[-1])

    def heir(self, leader: Server, now: float) -> Server | None:
        """Return who takes over when a leader is asked to stop: who is connected the longest."""
        voters = leader.state.voters
        near = [
            (-(self._links.age(leader, it, now) or 0.0), it.member_id, it)
            for it in self.peers()
            if it is not leader and it.member_id in voters and self._links.reach(leader, it)
        ]
        return min(near)[2] if near and self.ruler() is leader else None

    # ------------------------------------------------------------------ agreeing

    def propose(self, asked: Server, change: Change) -> asyncio.Future[State] | None:
        """Keep what is asked for without a majority; return None if it is lost at once.

        The leader must still be in office, and whoever was asked must reach it.
        """
        found = self._in_office()
        if found is None or not found.leader or not self._links.reach(asked, found):
            return None
        answer: asyncio.Future[State] = asyncio.get_running_loop().create_future()
        self.proposals.append(Proposal(change, found.disk, found.disk.lives, answer))
        return answer

    def redeem(self) -> Iterator[Proposal]:
        """Yield what a leader was asked for before it had a majority, once."""
        kept, self.proposals = self.proposals, []
        yield from kept

    def spread(self, ruler: Server, now: float, chance: Chance) -> list[Server]:
        """Let everybody whom the leader reaches know what it knows; return who breaks on it.

        Who was removed hears of that too, if it was there; nobody speaks to it when it comes back.
        """
        last, broken, late = self.history.last, [], []
        members = self.history.states[-1].members
        for server in self.peers():
            is_meant = server.speaks or server.member_id in members
            if not is_meant or not self._links.reach(ruler, server):
                continue
            if server.disk.index < self.match.get(server.member_id, -1):
                broken.append(server)
            elif server.disk.index < 0 and not _has_caught_up(server, now):
                late.append(server)
            else:
                server.disk.index = self.match[server.member_id] = last
        for server in late:
            if server.catches_up is None:
                slow = chance.happens(0.05)
                wait = _LOST_WORDS if slow else chance.between(*_CATCH_UP)
                server.catches_up = now + wait
        return broken


def _has_caught_up(server: Server, now: float) -> bool:
    return server.catches_up is not None and now >= server.catches_up


def _is_kept(proposal: Proposal, disk: Disk) -> bool:
    return proposal.disk is disk and proposal.lives == disk.lives
