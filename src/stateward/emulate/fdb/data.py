"""Where data is and shall be, given who runs, who is missed, and who may have some."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from stateward.emulate.fdb import recruiting
from stateward.emulate.fdb.configuration.refusals import Seen
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.configuration.spreads import Place, Spread
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.state import LogSet, State
from stateward.fdb.model import locality

#: Seconds after which copies on a lost disk count no more, and are made anew elsewhere.
HEALED, COPIED = 45.0, 50.0
#: The share of all room that may be in use when somebody is excluded.
_FULL: Final = 0.9


# -------------------------------------------------------------------------- where it shall be


def distribute(state: State) -> None:
    """Choose where data goes, if anybody looks."""
    if state.settings is not None and state.has_looked and not state.stays:
        state.shards.plan(places(state), state.servers, spread(state, state.settings))


def centers(state: State, config: Settings) -> list[str]:
    """Return the data centers that have all data; none: nobody asks for any."""
    found = [it.center for it in config.regions]
    first = state.primary if state.primary in found else "".join(found[:1])
    return [first, *(it for it in found if it != first)][: config.usable_regions] if found else []


def spread(state: State, config: Settings) -> Spread:
    """Return how far apart copies are, in all regions together."""
    many = len(centers(state, config))
    return Spread(locality.DATA_CENTER, many, config.copies) if many > 1 else config.spread


def places(state: State) -> dict[str, Place]:
    """Return the disks that shall have data, with where they are."""
    if state.settings is None:
        return {}
    wanted, holders = spread(state, state.settings), state.shards.holders()
    kept = [it for disk, it in away(state, COPIED).items() if disk in holders]
    found = wanted.places([*chosen(state, state.settings), *kept])
    zones: dict[str, set[str]] = {}
    for group, zone in found.values():
        zones.setdefault(group, set()).add(zone)
    rest = {disk: it for disk, it in found.items() if disk != state.wiggled}
    return {disk: it for disk, it in rest.items() if len(zones[it[0]]) >= wanted.each}


def chosen(state: State, config: Settings) -> list[Server]:
    """Return who is to have data, of those that run: in every region that has all of it."""
    regional = centers(state, config)
    if not regional:
        return recruiting.storage_servers(state.usable(), config.spread)
    by_center = {name: [it for it in state.usable() if _is_in(it, name)] for name in regional}
    every = (recruiting.storage_servers(some, config.spread) for some in by_center.values())
    return [it for some in every for it in some]


def _is_in(server: Server, center: str) -> bool:
    return server.localities.get(locality.DATA_CENTER) == center


def away(state: State, patience: float = HEALED) -> dict[str, Server]:
    """Return those that are missed, but not for long enough, or may be away.

    A zone may be by maintenance; and where a whole region is away its disks are not given up.
    """
    zone = state.maintenance[0] if state.maintenance is not None else None
    return {
        disk: server
        for disk, (server, since) in (state.missing | state.fallen).items()
        if (state.now < since + patience or server.zone == zone or _is_region_away(state, server))
        and not server.is_meant(state.barred)
    }


def _is_region_away(state: State, server: Server) -> bool:
    if state.settings is None or len(centers(state, state.settings)) < 2:
        return False
    center = server.localities.get(locality.DATA_CENTER, "")
    return not any(_is_in(it, center) for it in state.servers.values())


def storage_disks(state: State) -> set[str]:
    """Return the disks of those who are storage servers: they have data, or could."""
    if state.settings is None or not state.recovery.serves:
        return set()
    found = {it.disk.process_id for it in chosen(state, state.settings)}
    return found | (state.shards.holders() & state.servers.keys())


# -------------------------------------------------------------------------- how well it is copied


def fewest_copies(state: State, center: str = "") -> int:
    """Return how many copies there are of what has fewest, as far as anybody noticed.

    Who was lost counts for as long as nobody acts on it; with a data center, only copies there do,
    and only on disks that run or will be missed.
    """
    there = {
        **state.servers,
        **{disk: it for disk, it in away(state).items() if _counts(state, it)},
    }
    return state.shards.fewest_copies(
        [disk for disk, it in there.items() if not center or _is_in(it, center)]
    )


def _counts(state: State, server: Server) -> bool:
    return not _is_region_away(state, server)


def lacks_copies(state: State) -> bool:
    """Tell whether a region that shall have all data has not."""
    return bool(_lacking(state))


def _lacking(state: State) -> list[str]:
    if state.settings is None:
        return []
    copies, regional = state.settings.copies, centers(state, state.settings)
    return [it for it in regional if fewest_copies(state, it) < copies]


def unhealthy_disks(state: State) -> int:
    """Return how many disks have data, or should, and are not there."""
    return len(state.shards.holders() - state.servers.keys() - away(state).keys())


def is_drained(state: State, server: Server) -> bool:
    """Tell whether nothing is left on a process, neither data nor logs of any generation."""
    disk = server.disk.process_id
    on_logs = any(disk in it.every for it in state.logs)
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


def seen(state: State) -> Seen:
    """Return what a change of the configuration is judged by."""
    able = [it for it in state.servers.values() if it.process_class.may_store]
    storing = [state.servers[it] for it in storage_disks(state)]
    return Seen(
        zones=len({it.zone for it in able}),
        centers=frozenset(it.localities.get(locality.DATA_CENTER, "") for it in storing),
        lacking=frozenset(_lacking(state)),
    )


# -------------------------------------------------------------------------- how much may go


def spare(state: State, disks: Collection[str], copies: int) -> int:
    """Return how many of some logs may go."""
    return copies - 1 - sum(disk not in state.servers for disk in disks)


def spare_logs(state: State, logs: LogSet) -> int:
    """Return how many of the logs of a generation may go, beside satellites and another region."""
    return spare(state, logs.disks, logs.copies)


def recoverable(state: State, logs: LogSet) -> int:
    """Return how many logs of a generation may go before what is in it is lost; below 0: it is."""
    found = spare_logs(state, logs)
    if not logs.satellite_copies:
        return found
    return max(found, spare(state, logs.satellites, logs.satellite_copies))


def tolerance(state: State) -> tuple[int, int]:
    """Return how many zones may go before data is lost, and before nobody can write."""
    if state.settings is None:
        return -1, -1
    coordinators = state.string.coordinators
    silent = sum(not state.reachable(it) for it in coordinators)
    quorum = (len(coordinators) - 1) // 2 - silent
    logs = min((recoverable(state, it) for it in state.logs), default=0)
    available = min(_spare_copies(state), quorum, logs)
    satellites = [spare(state, it.satellites, it.satellite_copies) + 1 for it in state.logs]
    kept = min(_all_copies(state) - 1, quorum, logs + min(satellites, default=0))
    less = 1 if state.maintenance is not None else 0
    return kept - less, available - less


def _spare_copies(state: State) -> int:
    assert state.settings is not None  # noqa: S101 - asked before
    regional = centers(state, state.settings)
    found = fewest_copies(state, regional[0] if len(regional) > 1 else "")
    return (found if state.has_looked else state.settings.copies) - 1


def _all_copies(state: State) -> int:
    """Return how many copies there are of what has fewest, in all regions together."""
    assert state.settings is not None  # noqa: S101 - asked before
    many = max(1, len(centers(state, state.settings)))
    return fewest_copies(state) if state.has_looked else many * state.settings.copies
