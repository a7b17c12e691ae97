"""Where data is and shall be, given who runs, who is missed, and who may have some."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from stateward.emulate.fdb import recruiting
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.state import LogSet, State

#: Seconds after which data of a lost disk is copied from its other copies.
HEALED: Final = 45.0
#: The share of all room that may be in use when somebody is excluded.
_FULL: Final = 0.9


def distribute(state: State) -> None:
    """Choose where data goes, if anybody looks."""
    if state.settings is not None and state.has_looked:
        state.shards.plan(zones(state), state.servers, state.settings.copies)


def zones(state: State) -> dict[str, str]:
    """Return the disks that shall have data, with their zones."""
    copies = state.settings.copies if state.settings is not None else 1
    chosen = recruiting.storage_servers(state.usable(), copies)
    holders = state.shards.holders()
    kept = {disk: zone for disk, zone in away(state).items() if disk in holders}
    return {it.disk.process_id: it.zone for it in chosen} | kept


def away(state: State) -> dict[str, str]:
    """Return disks that are missed, but not for long enough, or whose zone may be away."""
    zone = state.maintenance[0] if state.maintenance is not None else None
    return {
        disk: server.zone
        for disk, (server, since) in (state.missing | state.fallen).items()
        if (state.now < since + HEALED or server.zone == zone) and not server.is_meant(state.barred)
    }


def storage_disks(state: State) -> set[str]:
    """Return the disks of those who are storage servers: they have data, or could."""
    if state.settings is None or not state.recovery.serves:
        return set()
    chosen = recruiting.storage_servers(state.usable(), state.settings.copies)
    return {it.disk.process_id for it in chosen} | (state.shards.holders() & state.servers.keys())


def fewest_copies(state: State) -> int:
    """Return how many copies there are of what has fewest, as far as anybody noticed.

    Who was lost counts for as long as nobody acts on it.
    """
    return state.shards.fewest_copies(state.servers.keys() | away(state).keys())


def unhealthy_disks(state: State) -> int:
    """Return how many disks have data, or should, and are not there."""
    return len(state.shards.holders() - state.servers.keys() - away(state).keys())


def is_drained(state: State, server: Server) -> bool:
    """Tell whether nothing is left on a process, neither data nor logs of any generation."""
    disk = server.disk.process_id
    on_logs = any(disk in it.disks for it in state.logs)
    return disk not in state.shards.holders() and not on_logs


def leaves_room(state: State, gone: Collection[str]) -> bool:
    """Tell whether what all disks hold fits on the others, with a tenth to spare."""
    disks = storage_disks(state)
    held = sum(state.shards.stored_on(disk) for disk in disks)
    room = sum(
        state.servers[disk].disk.free + state.shards.stored_on(disk)
        for disk in disks
        if disk not in gone
    )
    return not disks or held <= _FULL * room


def spare_logs(state: State, logs: LogSet) -> int:
    """Return how many of the logs of a generation may go."""
    return logs.copies - 1 - sum(disk not in state.servers for disk in logs.disks)


def tolerance(state: State) -> int:
    """Return how many zones may go before something is lost."""
    if state.settings is None:
        return -1
    coordinators = state.string.coordinators
    silent = sum(not state.reachable(it) for it in coordinators)
    seen = fewest_copies(state) if state.has_looked else state.settings.copies
    left = min(
        seen - 1,
        (len(coordinators) - 1) // 2 - silent,
        min((spare_logs(state, it) for it in state.logs), default=0),
    )
    return left - (1 if state.maintenance is not None else 0)
