"""Recoveries: the transaction system is recruited anew, or nobody can write until that can be."""

from __future__ import annotations

from typing import Final

from stateward.emulate.fdb import recruiting, regional
from stateward.emulate.fdb.recruiting import Lacking, Roles
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.state import LogSet, State

#: Roles that go on while nobody can write.
_LASTING: Final = {"data_distributor", "ratekeeper", "consistency_scan"}
#: Seconds until a recovery serves.
SERVING: Final = 0.4
#: Whoever has one of these and goes, or comes back, makes a recovery necessary.
TRANSACTING: Final = {
    "cluster_controller",
    "master",
    "commit_proxy",
    "grv_proxy",
    "resolver",
    "log",
    "router",
}


def recover(state: State, cause: str) -> None:
    """Recruit the transaction system anew, or wait until that can be.

    One that waits for processes goes on when they come: it is the same, and counts once.
    """
    if state.settings is None:
        stand_by(state)
        return
    if state.recovery.serves or not state.recovery.generation:
        state.recovery.causes.append((state.now, cause))
        state.recovery.generation += 2
    state.look_again()
    state.recovery.served = None
    if not state.has_quorum:
        state.recovery.name = "reading_coordinated_state"
    elif state.logs and state.remembering(state.string) < state.string.quorum:
        state.recovery.name = "configuration_never_created"
    elif not regional.may_go_on(state):
        state.recovery.name = "locking_coordinated_state"
    elif state.gathers:
        state.recovery.name = "recruiting_transaction_servers"
    else:
        _recruit(state)
    if not state.recovery.serves:
        stand_by(state)


def gathered(state: State) -> None:
    """Recruit those who are there, if anybody must be: nobody more is waited for."""
    state.gathers = False
    if not state.recovery.serves:
        recover(state, "all came")


def stand_by(state: State) -> None:
    """Have somebody in charge who tries; roles that need no transactions stay where they were."""
    kept = {
        disk: [it for it in state.roles.get(disk, ()) if it in _LASTING] for disk in state.servers
    }
    state.roles = recruiting.in_charge(state.usable(), kept)


def has_part(state: State, disk: str) -> bool:
    """Tell whether a process is part of the transaction system."""
    current = state.logs[-1].every if state.logs else ()
    return bool(TRANSACTING & set(state.roles.get(disk, ()))) or disk in current


def complete(state: State) -> None:
    """Have the other region again that was missing, if it is there by now."""
    if state.recovery.name != "accepting_commits" or state.settings is None:
        return
    found = regional.followed(state, state.settings)
    if isinstance(found, Lacking) or found.lacks_remote:
        return
    for disk, mine in found.roles.items():
        state.roles.setdefault(disk, []).extend(
            it for it in mine if disk in found.remote or it == "router"
        )
    state.logs[-1].remote = found.remote
    state.recovery.name, state.behind = "all_logs_recruited", None


def is_better_possible(state: State) -> bool:
    """Tell whether somebody came who is made more for logs, or for being in charge."""
    assert state.settings is not None  # noqa: S101 - it serves
    found = regional.recruited(state, state.settings)
    if isinstance(found, Lacking):
        return False
    return any(
        recruiting.fitness(_with(state, found.roles, role), role)
        < recruiting.fitness(_with(state, state.roles, role), role)
        for role in ("log", "cluster_controller", "master")
    )


def _with(state: State, roles: Roles, role: str) -> list[Server]:
    return [state.servers[it] for it, mine in roles.items() if role in mine and it in state.servers]


def _recruit(state: State) -> None:
    assert state.settings is not None  # noqa: S101 - asked before
    found = regional.recruited(state, state.settings)
    if isinstance(found, Lacking):
        state.recovery.name = "recruiting_transaction_servers"
        return
    state.roles, state.primary = found.roles, found.center
    version = state.store.at(state.now) if state.logs else 0
    if state.logs:
        state.logs[-1].end = version
    state.logs.append(
        LogSet(
            state.recovery.generation,
            found.logs,
            state.settings.log_copies,
            version,
            satellites=found.satellites,
            satellite_copies=found.satellite_copies,
            remote=found.remote,
        )
    )
    state.recovery.name = "accepting_commits" if found.lacks_remote else "all_logs_recruited"
    state.behind = (state.behind or state.now) if found.lacks_remote else None
    state.recovery.served = state.now + SERVING
    state.remember()
