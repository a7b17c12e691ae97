"""All etcd processes of a world: how they start and end, and what befalls them.

Raft is reduced to what an operator can tell: an entry is agreed to at once when its leader reaches
a majority; whoever reaches the leader knows it at once, and others when they do. Who has lost data
votes like anybody else: then what was agreed to can be lost, as it can with real disks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from dataclasses import replace
from typing import Final

from stateward.core.chance import Chance
from stateward.core.clock import Clock
from stateward.emulate.etcd import starting
from stateward.emulate.etcd.council import Leaderless
from stateward.emulate.etcd.reign import Reign
from stateward.emulate.etcd.servers import Exit, Server, Start
from stateward.emulate.etcd.settling import Settling
from stateward.emulate.etcd.state import Disk, State
from stateward.etcd.model.members import Alarm, AlarmKind

#: Seconds until a start has read its disk.
_BOOT: Final = (0.1, 0.5)


class Universe(Settling):
    """The processes, and which of them can reach each other."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        super().__init__(clock, chance)
        self.clock = clock
        #: Told of every process that begins.
        self.on_launch: Callable[[Server], None] = lambda _: None

    @property
    def cuts(self) -> set[frozenset[str]]:
        """Pairs of addresses that cannot reach each other."""
        return self.links.cuts

    def launch(
        self,
        start: Start,
        disk: Disk,
        on_exit: Callable[[Exit], None],
        on_change: Callable[[], None],
    ) -> Server:
        """Start a process on a disk."""
        server = Server(start, disk, self.clock.monotonic(), on_exit, on_change)
        self.servers.append(server)
        self.on_launch(server)
        # On behalf of nobody: a program outlives whoever wished for it.
        wait = self._chance.between(*_BOOT)
        Context().run(self.clock.call_later, wait, lambda: self._boot(server))
        return server

    def _boot(self, server: Server) -> None:
        if server.ended:
            return
        ending = starting.boot(self, server, self._chance)
        if ending is not None:
            self.end(server, ending)
            return
        server.booted = True
        self._rewire()

    def stop(self, server: Server, *, gently: bool = True) -> None:
        """End a process from outside; a leader that is asked to stop hands over first."""
        if server.ended:
            return
        if gently and server.history is not None:
            self._hand_over(server, self.reign(server.history))
        self.leave(server)
        self.settle()

    def _hand_over(self, server: Server, reign: Reign) -> None:
        heir = reign.heir(server, self.clock.monotonic())
        if heir is not None:
            reign.crown(heir)

    def at(self, address: str) -> Server | None:
        """Return the process at an address."""
        return next((it for it in self.servers if it.start.address == address), None)

    # ------------------------------------------------------------------ what befalls them

    def hang(self, server: Server, *, hung: bool = True) -> None:
        """Freeze a process, or let it go on."""
        server.hung = hung
        self._rewire()

    def cut(self, one: str, other: str) -> None:
        """Cut the link between two addresses."""
        self.links.cuts.add(frozenset((one, other)))
        self._rewire()

    def heal(self, one: str, other: str) -> None:
        """Mend the link between two addresses."""
        self.links.cuts.discard(frozenset((one, other)))
        self._rewire()

    def _rewire(self) -> None:
        self.links.note(self.clock.monotonic())
        self.settle()

    def raise_alarm(self, server: Server, kind: AlarmKind) -> bool:
        """Have a member raise an alarm; tell whether a majority heard it."""
        alarm = Alarm(server.member_id, kind)
        return self._try(server, lambda state: replace(state, alarms=state.alarms | {alarm}))

    def fill(self, server: Server) -> bool:
        """Write until the database is as large as a member allows, and it says so.

        What fills it is old: compaction and defragmentation make room. Tell whether a majority
        was there to write to.
        """
        full = server.start.quota

        def write(state: State) -> State:
            return replace(state, waste=max(state.waste, full), revision=state.revision + 1)

        return self._try(server, write) and self.raise_alarm(server, AlarmKind.NO_SPACE)

    def _try(self, server: Server, change: Callable[[State], State]) -> bool:
        try:
            self.commit(server, change)
        except Leaderless:
            return False
        return True
