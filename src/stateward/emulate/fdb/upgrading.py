"""Protocols: who speaks another one than most coordinators does not belong to the database.

So an upgrade to another minor release stops everybody at nearly the same time, while releases with
the same first two numbers mix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.state import State


def turn(state: State, join: Callable[[Server], None]) -> None:
    """Have the database speak what most coordinators speak, if that is another protocol now."""
    line = _spoken(state)
    if line is None or line == state.line:
        return
    state.line = line
    for disk, server in list(state.servers.items()):
        del state.servers[disk]
        state.strangers[disk] = server
        state.fallen[disk] = (server, state.now)
    coming = [it for it in state.strangers.values() if it.line == line]
    for it in coming:
        del state.strangers[it.disk.process_id]
        join(it)


def _spoken(state: State) -> tuple[int, int] | None:
    """Return what a majority of the coordinators that run speaks."""
    running = [*state.servers.values(), *state.strangers.values()]
    found = Counter(
        it.line for at in state.string.coordinators for it in running if it.listens_at(at)
    )
    line, many = max(found.items(), key=lambda it: it[1], default=((0, 0), 0))
    return line if many >= state.string.quorum else None
