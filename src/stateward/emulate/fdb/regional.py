"""From which region a database is run, and what the other one has of it.

It is run from the region that is wanted most of those that can. What was just written is in its
logs and its satellites, so where these are left another region goes on and nothing is lost; where
only the other region is left, it waits. That one gets everything by routers, a little later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from stateward.emulate.fdb import data, recruiting
from stateward.emulate.fdb.configuration.regions import Region
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.configuration.spreads import plain
from stateward.emulate.fdb.recruiting import Lacking, Roles
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.state import State
from stateward.fdb.model import locality


@dataclass(slots=True)
class Recruited:
    """Who does what, where the database is run from, and who has its logs."""

    roles: Roles
    center: str = ""
    logs: tuple[str, ...] = ()
    satellites: tuple[str, ...] = ()
    satellite_copies: int = 0
    remote: tuple[str, ...] = ()
    #: Whether a region that shall have everything has nobody for it.
    lacks_remote: bool = False


def recruited(state: State, config: Settings) -> Recruited | Lacking:
    """Return the transaction system of the best region that can have one."""
    if not config.regions:
        found = recruiting.recruited(state.usable(), config.wanted())
        return found if isinstance(found, Lacking) else Recruited(found, logs=_logs(found))
    lacking = Lacking("a region from which it may be run")
    for region in (it for it in config.regions if it.is_wanted):
        tried = _in_region(state, config, region)
        if isinstance(tried, Recruited):
            return tried
        lacking = tried
    return lacking


def _in_region(state: State, config: Settings, region: Region) -> Recruited | Lacking:
    wanted = config.wanted()
    found = recruiting.recruited(_of(state, [region.center]), wanted)
    if isinstance(found, Lacking):
        return found
    mine = Recruited({it: [] for it in state.servers} | found, region.center, _logs(found))
    if region.satellite_copies:
        copies = plain(region.satellite_copies)
        asked = replace(wanted, logs=region.satellite_logs, spread=copies)
        beside = recruiting.log_servers(_of(state, region.satellites), asked)
        if isinstance(beside, Lacking):
            return Lacking("zones for satellites")
        mine.satellites = _ids(beside)
        mine.satellite_copies = region.satellite_copies
    if config.usable_regions > 1:
        _add_remote(state, config, mine)
    for disk in (*mine.satellites, *mine.remote):
        mine.roles[disk].append("log")
    return mine


def _add_remote(state: State, config: Settings, mine: Recruited) -> None:
    """Have logs and routers in the other region, if anybody is there."""
    wanted = config.wanted()
    there = [it.center for it in config.regions if it.center != mine.center]
    servers = _of(state, there[:1])
    asked = replace(wanted, logs=config.value("remote_logs", wanted.logs))
    found = recruiting.log_servers(servers, asked)
    if isinstance(found, Lacking):
        mine.lacks_remote = True
        return
    mine.remote = _ids(found)
    many = config.value("log_routers", wanted.logs)
    for it in recruiting.routers(servers, many):
        mine.roles[it.disk.process_id].append("router")


def followed(state: State, config: Settings) -> Recruited | Lacking:
    """Return the same for the region that it is run from now."""
    found = [it for it in config.regions if it.center == state.primary]
    return _in_region(state, config, found[0]) if found else Lacking("the region of now")


def may_go_on(state: State) -> bool:
    """Tell whether what was just written is in logs or satellites that are there."""
    return not state.logs or data.recoverable(state, state.logs[-1]) >= 0


def is_better_elsewhere(state: State) -> bool:
    """Tell whether a region that is wanted more could run the database, and has all of it."""
    config = state.settings
    if config is None or not config.regions or not state.logs or not state.logs[-1].remote:
        return False
    best = next((it for it in config.regions if it.is_wanted), None)
    if best is None or best.center == state.primary:
        return False
    if data.lacks_copies(state) or state.shards.is_moving():
        return False
    return isinstance(_in_region(state, config, best), Recruited)


def lag(state: State) -> float:
    """Return for how many seconds the other region is behind."""
    if state.settings is None or state.settings.usable_regions < 2:
        return 0.0
    return (
        state.region_lag
        if state.behind is None
        else max(state.region_lag, state.now - state.behind)
    )


def _of(state: State, centers: Iterable[str]) -> Sequence[Server]:
    names = set(centers)
    return [it for it in state.usable() if it.localities.get(locality.DATA_CENTER) in names]


def _ids(servers: Iterable[Server]) -> tuple[str, ...]:
    return tuple(it.disk.process_id for it in servers)


def _logs(roles: Roles) -> tuple[str, ...]:
    return tuple(disk for disk, mine in roles.items() if "log" in mine)
