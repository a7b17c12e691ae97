"""From where somebody asks: whom it gets through to, and whose protocol it speaks.

A cluster may be well while one who asks reaches none of it; what that one is told then looks the
same as if there were nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stateward.core.version import Version
from stateward.emulate.fdb.servers import VERSION, Server
from stateward.emulate.fdb.state import State
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """One who asks: addresses that it does not get through to, and the version of its library."""

    blocked: frozenset[str] = frozenset()
    version: Version = VERSION

    @property
    def line(self) -> tuple[int, int]:
        """The minor release, whose protocol it speaks."""
        return self.version.major, self.version.minor

    def answers(self, state: State, address: Address) -> bool:
        """Tell whether a coordinator answers this one."""
        return any(it.line == self.line for it in self._at(state, address))

    def sees_quorum(self, state: State, string: ConnectionString) -> bool:
        """Tell whether a majority of coordinators answers this one."""
        return sum(self.answers(state, it) for it in string.coordinators) >= string.quorum

    def meets_strangers(self, state: State, string: ConnectionString) -> bool:
        """Tell whether a coordinator is there that speaks another protocol."""
        every = (one for it in string.coordinators for one in self._at(state, it))
        return any(it.line != self.line for it in every)

    def reaches(self, server: Server | None) -> bool:
        """Tell whether a process can be talked to from here."""
        return server is not None and server.address.plain not in self.blocked

    def is_let_in(self, state: State, string: ConnectionString) -> bool:
        """Tell whether somebody shows this one the way to the database.

        One coordinator of now is enough; of those before it takes most, who remember who follows.
        """
        if self.line != state.line:
            return False
        if string.id == state.string.id:
            return any(self.answers(state, it) for it in string.coordinators)
        return self.sees_quorum(state, string) and state.remembering(string) >= string.quorum

    def is_served(self, state: State, string: ConnectionString) -> bool:
        """Tell whether this one's transactions are served: one coordinator is enough for that."""
        is_let_in = self.is_let_in(state, string)
        return is_let_in and state.recovery.serves and self.reaches(state.holder("grv_proxy"))

    def _at(self, state: State, address: Address) -> Iterator[Server]:
        for it in (*state.servers.values(), *state.strangers.values()):
            if it.listens_at(address) and self.reaches(it):
                yield it
