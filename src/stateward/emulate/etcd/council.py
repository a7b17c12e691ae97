"""Processes that agree: which there are, who leads them, and what is committed."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import Context

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.emulate.etcd.links import Links
from stateward.emulate.etcd.reign import Change, Proposal, Reign
from stateward.emulate.etcd.servers import Exit, Server
from stateward.emulate.etcd.state import History, State


class Leaderless(Exception):
    """No majority was reached."""

    def __init__(self, answer: asyncio.Future[State] | None = None) -> None:
        super().__init__()
        #: Comes when what was asked for is agreed to after all; None when it was not kept.
        self.answer = answer


class Council(ABC):
    """All processes that could agree, with those whom they reach."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock, self._chance = clock, chance
        self.servers: list[Server] = []
        self.links = Links(self.servers)
        #: The newest history of every cluster id.
        self.histories: dict[int, History] = {}
        self._reigns: dict[History, Reign] = {}
        #: Told of every entry: where, and the states before and after.
        self.on_commit: Callable[[History, State, State], None] = lambda *_: None
        #: Told when a majority has lost what was agreed to: the history, and the one that goes on.
        self.on_loss: Callable[[History, History], None] = lambda *_: None
        self._settling = self._unsettled = False

    # ------------------------------------------------------------------ how it stands

    def reaches(self, one: Server, other: Server) -> bool:
        """Tell whether two processes can talk now."""
        return self.links.reach(one, other)

    def of(self, history: History) -> list[Server]:
        """Return the processes that have part in a history."""
        return self.reign(history).peers()

    def by_id(self, history: History, member_id: int) -> Server | None:
        """Return the process of a member."""
        return self.reign(history).by_id(member_id)

    def leader_of(self, history: History) -> Server | None:
        """Return who leads now, with a majority in reach."""
        return self.reign(history).ruler()

    def term(self, history: History) -> int:
        """Return how many leaders were chosen."""
        return self.reign(history).term

    def reign(self, history: History) -> Reign:
        """Return the leaders of a history."""
        found = self._reigns.get(history)
        if found is None:
            found = self._reigns[history] = Reign(history, self.servers, self.links)
        return found

    # ------------------------------------------------------------------ agreeing

    def commit(self, asked: Server, change: Change) -> State:
        """Have one more entry agreed to, asked of a member; raise Leaderless if it is not."""
        if asked.history is None:
            raise Leaderless
        reign = self.reign(asked.history)
        ruler = reign.ruler()
        if ruler is None or not self.links.reach(asked, ruler):
            raise Leaderless(reign.propose(asked, change))
        return self._append(reign, ruler, change)

    def _append(self, reign: Reign, ruler: Server, change: Change) -> State:
        history = reign.history
        before = history.states[-1]
        after = change(before)
        history.append(after)
        self._break(reign.spread(ruler, self._clock.monotonic(), self._chance))
        self.on_commit(history, before, after)
        if after.members is not before.members:
            self.settle()
        return after

    def _redeem(self, reign: Reign, ruler: Server, kept: Proposal) -> None:
        """Agree to what was asked for when there was no majority; who asked may be gone."""
        try:
            after = self._append(reign, ruler, kept.change)
        except PeerError as refusal:
            if not kept.answer.done():
                kept.answer.set_exception(refusal)
                kept.answer.exception()  # nobody may wait for it any more
        else:
            if not kept.answer.done():
                kept.answer.set_result(after)

    def _break(self, servers: list[Server]) -> None:
        for it in servers:
            self.end(it, Exit(2, "panic: tocommit is out of range [lastIndex(0)]"))

    def end(self, server: Server, ending: Exit) -> None:
        """End a process by itself."""
        if not server.ended:
            self.leave(server)
            server.on_exit(ending)
            self.settle()

    def leave(self, server: Server) -> None:
        """Take a process out of the world."""
        server.ended, server.speaks, server.hears, server.leader = True, False, False, 0
        self.servers.remove(server)
        self.links.end(server)
        server.wake()

    # ------------------------------------------------------------------ what follows from all that

    def settle(self) -> None:
        """Bring everybody to what they would know by now."""
        self._unsettled = True
        if self._settling:
            return
        self._settling = True
        try:
            while self._unsettled:
                self._unsettled = False
                # On behalf of nobody: who asked for something may be gone when more comes of it.
                Context().run(self._settle)
        finally:
            self._settling = False

    @abstractmethod
    def _settle(self) -> None:
        """Take one step towards that; more is to follow where it says so."""
