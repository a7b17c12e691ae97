"""Recoveries: the transaction system is recruited anew, or nobody can write until that can be."""

from __future__ import annotations

from typing import Final

from stateward.emulate.fdb import data, recruiting
from stateward.emulate.fdb.recruiting import Lacking
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
}


def recover(state: State, cause: str) -> None:
    """Recruit the transaction system anew, or wait until that can be."""
    if state.settings is None:
        stand_by(state)
        return
    state.recovery.causes.append((state.now, cause))
    state.recovery.generation += 2
    state.look_again()
    state.recovery.served = None
    if not state.has_quorum:
        state.recovery.name = "reading_coordinated_state"
    elif _logs_are_lost(state):
        state.recovery.name = "locking_coordinated_state"
    else:
        _recruit(state)
    if not state.recovery.serves:
        stand_by(state)


def stand_by(state: State) -> None:
    """Have somebody in charge who tries; roles that need no transactions stay where they were."""
    kept = {
        disk: [it for it in state.roles.get(disk, ()) if it in _LASTING] for disk in state.servers
    }
    state.roles = recruiting.in_charge(state.usable(), kept)


def has_part(state: State, disk: str) -> bool:
    """Tell whether a process is part of the transaction system."""
    current = state.logs[-1].disks if state.logs else ()
    return bool(TRANSACTING & set(state.roles.get(disk, ()))) or disk in current


def _recruit(state: State) -> None:
    assert state.settings is not None  # noqa: S101 - asked before
    found = recruiting.recruited(state.usable(), state.settings.wanted())
    if isinstance(found, Lacking) or _lacks_halls(state, state.settings.halls):
        state.recovery.name = "recruiting_transaction_servers"
        return
    state.roles = {disk: [*mine] for disk, mine in found.items()}
    logs = tuple(disk for disk, mine in found.items() if "log" in mine)
    version = state.store.at(state.now) if state.logs else 0
    if state.logs:
        state.logs[-1].end = version
    state.logs.append(LogSet(state.recovery.generation, logs, state.settings.log_copies, version))
    state.recovery.name = "all_logs_recruited"
    state.recovery.served = state.now + SERVING


def _logs_are_lost(state: State) -> bool:
    """Tell whether something that was just written may be on no disk that runs."""
    return bool(state.logs) and data.spare_logs(state, state.logs[-1]) < 0


def _lacks_halls(state: State, wanted: int) -> bool:
    halls = {it.localities.get("data_hall") for it in state.usable()} - {None}
    return len(halls) < wanted
