"""From one storage engine to another: every storage server is made anew by the engine of now.

By the aggressive way a new one is made beside the old one in the same process, all of them at once
as far as copying allows, so nobody needs room elsewhere. By the gradual way the perpetual wiggle
takes one server after another: its data goes to others, it is made anew, and gets data again. While
something is wrong with the data the wiggle rests, and so it does for ever where others have no room
for what one has. A server keeps its engine however long it is away.
"""

from __future__ import annotations

from stateward.emulate.fdb import data
from stateward.emulate.fdb.shards import RATE
from stateward.emulate.fdb.state import State

#: Seconds that it takes at least to make a storage server anew.
_AT_LEAST = 2.0


def remember(state: State) -> None:
    """Note by which engine everybody keeps data, before another one is asked for."""
    if state.settings is None:
        return
    for disk in sorted(data.storage_disks(state) | state.shards.holders()):
        state.engines.setdefault(disk, _wanted(state))


def settle(state: State) -> None:
    """Choose who is made anew next, by the wiggle."""
    if _way(state) != "gradual" and not state.wiggled:
        return
    if state.wiggled and not _may_wiggle(state, state.wiggled):
        state.wiggled = ""
    if not state.wiggled and _is_calm(state):
        able = (it for it in outdated(state) if _may_wiggle(state, it) and _has_room(state, it))
        state.wiggled = next(able, "")


def outdated(state: State) -> list[str]:
    """Return storage servers of another engine than that of now."""
    if state.settings is None:
        return []
    now = _wanted(state)
    disks = sorted(data.storage_disks(state))
    return [it for it in disks if state.engines.get(it, now) != now]


def is_at_work(state: State) -> bool:
    """Tell whether a server is made anew, or may be soon."""
    way = _way(state)
    return bool(state.wiggled) or (way != "disabled" and bool(outdated(state)))


def advance(state: State, seconds: float) -> None:
    """Make servers anew for a while."""
    if not state.has_looked or state.settings is None:
        return
    if state.wiggled:
        if state.wiggled not in state.shards.holders():
            state.engines[state.wiggled] = _wanted(state)
            state.wiggled = ""
        return
    if _way(state) != "aggressive":
        return
    state.rewritten += seconds
    for disk in outdated(state):
        needed = max(_AT_LEAST, state.shards.stored_on(disk) / RATE)
        if state.rewritten < needed:
            return
        state.rewritten -= needed
        state.engines[disk] = _wanted(state)
    state.rewritten = 0.0


def engine_on(state: State, disk: str) -> str:
    """Return by which engine a storage server keeps its data."""
    return state.engines.get(disk, _wanted(state))


def _wanted(state: State) -> str:
    return "" if state.settings is None else str(state.settings.values["storage_engine"])


def _way(state: State) -> str:
    if state.settings is None:
        return "disabled"
    return str(state.settings.value("storage_migration_type", "disabled"))


def _may_wiggle(state: State, disk: str) -> bool:
    """Tell whether the wiggle would make a server anew: it is turned on, and may take this one."""
    settings = state.settings
    if settings is None or _way(state) != "gradual" or disk not in outdated(state):
        return False
    if not settings.value("perpetual_storage_wiggle", 0):
        return False
    key, _, value = str(settings.value("perpetual_storage_wiggle_locality", "0")).partition(":")
    server = state.servers.get(disk)
    return server is not None and (not value or server.localities.get(key) == value)


def _is_calm(state: State) -> bool:
    """Tell whether all data is where it should be."""
    if state.settings is None or not state.has_looked or state.shards.is_moving():
        return False
    return data.fewest_copies(state) >= state.settings.copies


def _has_room(state: State, disk: str) -> bool:
    """Tell whether others have room for what one has: what a place has stays in it."""
    if state.settings is None:
        return False
    others = (place for it, place in data.places(state).items() if it != disk)
    return data.spread(state, state.settings).is_met_by(others)
