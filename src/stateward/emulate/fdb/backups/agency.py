"""Who does the work: agents come, take pieces, and tell what became of them.

A piece is somebody's for a while, and then anybody's: who takes it and dies holds nothing up. What
two did counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from stateward.core.version import Version
from stateward.emulate.fdb.asking.clients import Client
from stateward.emulate.fdb.backups import backing, restoring
from stateward.emulate.fdb.backups.files import Unusable
from stateward.emulate.fdb.backups.pieces import (
    Failed,
    Fetched,
    Kept,
    Outcome,
    Piece,
    Surveyed,
    Ticket,
)
from stateward.emulate.fdb.backups.state import LEASE, AgentSeen
from stateward.emulate.fdb.state import State

#: Seconds after which an agent that had nothing to do asks again, and after which anybody tries
#: again what went wrong.
REST: Final = 1.0
AGAIN: Final = 5.0


def come(state: State, agent: AgentSeen) -> None:
    """Hear of an agent."""
    agent.seen = state.now
    if agent.name not in state.agents.here:
        state.agents.here[agent.name] = agent
        libraries = (Version.parse(agent.version),)
        state.clients.comes(Client(agent.address, libraries, agent.log_group))


def leave(state: State, name: str) -> None:
    """Have one be gone; what it had taken stays its own for a while."""
    if (agent := state.agents.here.pop(name, None)) is not None:
        kept = state.agents.remembered(state.now)
        state.agents.gone = {it.name: it for it in kept if it.name not in state.agents.here}
        state.agents.gone[name] = agent
        state.clients.goes(agent.address, state.now)


def take(state: State, agent: AgentSeen) -> Piece | None:
    """Give an agent what comes next; None: nothing does, nobody may, or the database is away."""
    come(state, agent)
    if state.backups.paused or not state.recovery.serves:
        return None
    claims = state.agents.claims
    for name in [it for it, until in claims.items() if until <= state.now]:
        del claims[name]
    every: Iterator[Piece] = chain(restoring.pieces(state), backing.pieces(state))
    found = next((it for it in every if it.ticket.name not in claims), None)
    if found is not None:
        claims[found.ticket.name] = state.now + LEASE
    return found


def report(state: State, outcome: Outcome) -> None:
    """Have what an agent did be done, if the database serves: else it is done once more."""
    ticket = outcome.ticket
    if not state.recovery.serves:
        return
    try:
        match outcome:
            case Kept():
                backing.done(state, outcome)
            case Surveyed():
                restoring.surveyed(state, outcome)
            case Fetched():
                restoring.fetched(state, outcome)
            case Failed():
                _went_wrong(state, ticket, outcome.text)
                return
    except Unusable as error:
        _went_wrong(state, ticket, str(error))
        return
    state.agents.claims.pop(ticket.name, None)


def _went_wrong(state: State, ticket: Ticket, text: str) -> None:
    state.agents.claims[ticket.name] = state.now + AGAIN
    if (backup := backing.of_uid(state, ticket.uid)) is not None:
        backup.errors[text.partition(" (")[0]] = (text, state.store.at(state.now))
    if (restore := restoring.of_uid(state, ticket.uid)) is not None:
        restoring.failed(state, restore, text)
