"""What everybody knows by now: who leads, what was agreed to, and whether they still belong."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.emulate.etcd.council import Council
from stateward.emulate.etcd.reign import ELECTION, Reign
from stateward.emulate.etcd.servers import Exit, Server
from stateward.emulate.etcd.starting import farewell
from stateward.emulate.etcd.state import History
from stateward.etcd.model.members import Member

#: Seconds until a member that was removed has ended.
_FAREWELL: Final = 0.04
#: Seconds until all have agreed that nobody of an older release is left.
_AGREE_VERSION: Final = 4.0


class Settling(Council):
    """Brings everybody to what they would know."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        super().__init__(clock, chance)
        #: When that will be done again.
        self._looks: set[float] = set()

    def _settle(self) -> None:
        for history in dict.fromkeys(it.history for it in self.servers):
            if history is not None:
                self._govern(self.reign(history))
        for server in tuple(self.servers):
            if not server.ended and server.booted:
                self._listen(server)
                self._look_around(server)

    def _govern(self, reign: Reign) -> None:
        """Have somebody lead, and everybody in reach follow."""
        ruler, chosen = reign.ruler(), False
        if ruler is None:
            winner = reign.elect(self._clock.monotonic(), self._chance)
            if winner is None:
                self._later(reign.due)
                return
            reign = self._without_what_was_lost(reign, winner)
            reign.crown(winner)
            ruler, chosen = winner, True
        reign.due = None
        self._break(reign.spread(ruler, self._clock.monotonic(), self._chance))
        for kept in reign.redeem():
            self._redeem(reign, ruler, kept)
        if chosen:
            self._agree_version(reign)  # a new leader asks at once
        self._watch_versions(reign, ruler)

    def _without_what_was_lost(self, reign: Reign, winner: Server) -> Reign:
        """Go on from before what the majority lost, if it lost something."""
        history, index = reign.history, winner.disk.index
        if index >= history.last:
            return reign
        fork = self.histories[history.cluster_id] = history.fork(index)
        for server in reign.peers():
            if server.disk.index <= index and self.links.reach(winner, server):
                server.disk.history = fork
        self.on_loss(history, fork)
        found = self.reign(fork)
        found.term = reign.term
        return found

    def _listen(self, server: Server) -> None:
        """Let a member know who leads; the first time it tells the others where it is."""
        if server.history is None:
            return
        reign = self.reign(server.history)
        ruler = reign.ruler()
        heard = server.hears
        knows = server.disk.index == reign.history.last and server.member_id in server.state.members
        if ruler is not None and knows and self.links.reach(server, ruler):
            server.leader, server.disk.term, server.doubts = ruler.member_id, reign.term, None
            server.hears = True
            if not heard:
                server.wake()
        else:
            server.hears = False
        if server.leader and not server.hears:
            self._doubt(server)
        if server.hears and not server.speaks:
            server.speaks = True
            self._publish(server)
        if server.disk.index < 0:
            self._later(server.catches_up)
        if server.ready != server.seemed:  # a vote, too, makes it ready
            server.seemed = server.ready
            server.on_change()

    def _doubt(self, server: Server) -> None:
        """For a while a member believes in a leader that it does not hear."""
        now = self._clock.monotonic()
        if server.doubts is None:
            server.doubts = now + self._chance.between(*ELECTION)
            self._later(server.doubts)
        elif now >= server.doubts:
            server.leader = 0

    def _later(self, moment: float | None) -> None:
        """Look again then; once is enough."""
        now = self._clock.monotonic()
        if moment is not None and moment > now and moment not in self._looks:
            self._looks.add(moment)
            self._clock.call_later(moment - now, lambda: self._look_again(moment))

    def _look_again(self, moment: float) -> None:
        self._looks.discard(moment)
        self.settle()

    def _publish(self, server: Server) -> None:
        me, start = server.state.members.get(server.member_id), server.start
        if me is None or (me.name, me.client_urls) == (start.name, (start.client_url,)):
            return
        told = Member(me.id, start.name, me.peer_urls, (start.client_url,), me.learner)
        self.commit(server, lambda state: state.with_member(told))

    def _watch_versions(self, reign: Reign, ruler: Server) -> None:
        """Agree, a little later, that nobody of an older release is left."""
        if reign.agrees_at is None and _release(reign, ruler) is not None:
            reign.agrees_at = self._clock.monotonic() + _AGREE_VERSION
            self._clock.call_later(_AGREE_VERSION, lambda: self._agree_version(reign))

    def _agree_version(self, reign: Reign) -> None:
        reign.agrees_at = None
        ruler = reign.ruler()
        release = _release(reign, ruler) if ruler is not None else None
        if ruler is not None and release is not None:
            version = release
            self._append(reign, ruler, lambda state: replace(state, version=version))

    def _look_around(self, server: Server) -> None:
        """End one that meets somebody who knows that it was removed, or who knows it otherwise."""
        history = server.disk.history
        for other in self.servers:
            theirs = other.history
            if other is server or history is None or theirs is None:
                continue
            if theirs.cluster_id != history.cluster_id or not self.links.reach(server, other):
                continue
            if server.member_id in other.state.removed:
                self._dismiss(server)
                return
            newest = self.histories[theirs.cluster_id]
            if other.hears and theirs is newest and newest is not history:
                self._yield_to(server, newest)
                return

    def _dismiss(self, server: Server) -> None:
        if not server.leaving:
            server.leaving = True
            ending = farewell() if server.speaks else farewell(self._chance)
            self._clock.call_later(_FAREWELL, lambda: self.end(server, ending))

    def _yield_to(self, server: Server, newer: History) -> None:
        """Follow those who went on without what it knows, or break on them."""
        history, disk = server.disk.history, server.disk
        if history is not None and disk.index <= newer.shared_with(history):
            disk.history = newer
            self.settle()
        else:
            self.end(server, Exit(2, "panic: tocommit is out of range"))


def _release(reign: Reign, ruler: Server) -> tuple[int, int] | None:
    """Return the release that all members have and have not agreed to yet."""
    here = {it.member_id: it.start.version[:2] for it in reign.peers()}
    if not here.keys() >= ruler.state.members.keys():
        return None
    lowest = min(here[it] for it in ruler.state.members)
    return lowest if lowest > ruler.state.version else None
