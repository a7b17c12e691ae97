"""Who does what after a recovery: roles are given to those who fit best. Pure.

Logs need as many zones as there are copies; where the zones are not there, nobody can write, and
the database waits until they are. Exclusions count here too: that is how one can take it down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.emulate.fdb.configuration.spreads import Spread
from stateward.emulate.fdb.servers import Server
from stateward.fdb.model.classes import ProcessClass

#: How well a class fits a role, the best first; a class that is not there does not do it.
_LOG: Final = (
    ProcessClass.LOG,
    ProcessClass.TRANSACTION,
    ProcessClass.UNSET,
    ProcessClass.STORAGE,
)
_STORAGE: Final = (
    ProcessClass.STORAGE,
    ProcessClass.UNSET,
    ProcessClass.TRANSACTION,
    ProcessClass.LOG,
)
_STATELESS: Final = (
    ProcessClass.STATELESS,
    ProcessClass.UNSET,
    ProcessClass.TRANSACTION,
    ProcessClass.LOG,
)
#: Those that have one process each, and the class that is made for each.
_SINGLES: Final = {
    "cluster_controller": ProcessClass.CLUSTER_CONTROLLER,
    "master": ProcessClass.MASTER,
    "data_distributor": ProcessClass.DATA_DISTRIBUTOR,
    "ratekeeper": ProcessClass.RATEKEEPER,
    "consistency_scan": ProcessClass.CONSISTENCY_SCAN,
}
_MANY: Final = {
    "commit_proxy": ProcessClass.COMMIT_PROXY,
    "grv_proxy": ProcessClass.GRV_PROXY,
    "resolver": ProcessClass.RESOLUTION,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many of each."""

    logs: int
    spread: Spread
    commit_proxies: int
    grv_proxies: int
    resolvers: int


@dataclass(frozen=True, slots=True)
class Lacking:
    """Nobody can write: what there is too little of."""

    what: str


Roles = dict[str, list[str]]


def recruited(servers: Sequence[Server], wanted: Wanted) -> Roles | Lacking:
    """Return the roles of each process, by its id, of those that run and may be used."""
    logs = log_servers(servers, wanted)
    if isinstance(logs, Lacking):
        return logs
    free = [it for it in servers if it.process_class.may_be_stateless]
    if not free:
        return Lacking("a process for the roles without state")
    found: Roles = {it.disk.process_id: [] for it in servers}
    for role, made_for in _SINGLES.items():
        found[_best(free, made_for, found).disk.process_id].append(role)
    for role, made_for in _MANY.items():
        many = {"commit_proxy": wanted.commit_proxies, "grv_proxy": wanted.grv_proxies}
        for _ in range(min(many.get(role, wanted.resolvers), len(free))):
            left = [it for it in free if role not in found[it.disk.process_id]]
            found[_best(left, made_for, found).disk.process_id].append(role)
    for it in logs:
        found[it.disk.process_id].append("log")
    return found


def fitness(servers: Iterable[Server], role: str) -> list[int]:
    """Return how well those with a role are made for it, the worst first: the higher the worse."""
    order = _LOG if role == "log" else (_SINGLES[role], *_STATELESS)
    kinds = (it.process_class for it in servers)
    return sorted((order.index(it) if it in order else len(order) for it in kinds), reverse=True)


def in_charge(servers: Sequence[Server], roles: Roles) -> Roles:
    """Return roles with those of the two who must be there before anybody can be recruited."""
    free = [it for it in servers if it.process_class.may_be_stateless]
    found = {disk: [*mine] for disk, mine in roles.items()}
    for role in ("cluster_controller", "master") if free else ():
        found[_best(free, _SINGLES[role], found).disk.process_id].append(role)
    return found


def log_servers(servers: Sequence[Server], wanted: Wanted) -> list[Server] | Lacking:
    """Return who has the logs: in as many zones as there are copies, or nobody can write."""
    able = sorted(
        (it for it in servers if it.process_class in _LOG),
        key=lambda it: (_LOG.index(it.process_class), it.degraded, it.disk.process_id),
    )
    needed = _needed(able, wanted.spread)
    if len(needed) < wanted.spread.copies:
        return Lacking("zones for logs")
    zones = {it.zone for it in needed}
    more = [it for it in able if it not in needed and wanted.spread.place(it) is not None]
    more.sort(key=lambda it: it.zone in zones)
    return needed + more[: max(0, wanted.logs - len(needed))]


def _needed(able: Sequence[Server], spread: Spread) -> list[Server]:
    """Return one for each copy, as far apart as copies must be; the best come first."""
    full = [it for it in able if _is_in_a_full_group(it, able, spread)]
    chosen: list[Server] = []
    for it in full:
        place, taken = spread.place(it), list(spread.places(chosen).values())
        if place is not None and len(chosen) < spread.copies and spread.admits(place, taken):
            chosen.append(it)
    return chosen


def _is_in_a_full_group(server: Server, able: Sequence[Server], spread: Spread) -> bool:
    place = spread.place(server)
    if place is None:
        return False
    zones = {it[1] for it in spread.places(able).values() if it[0] == place[0]}
    return len(zones) >= spread.each


def routers(servers: Sequence[Server], many: int) -> list[Server]:
    """Return who brings everything to another region: those made for it, then the stateless."""
    free = [it for it in servers if it.process_class.may_be_stateless]
    order = (ProcessClass.ROUTER, *_STATELESS)
    place = {it: n for n, it in enumerate(order)}
    free.sort(key=lambda it: (place.get(it.process_class, len(order)), it.disk.process_id))
    return free[:many]


def storage_servers(servers: Iterable[Server], spread: Spread) -> list[Server]:
    """Return who has data: all who are made for it, and of the others as few as zones lack."""
    able = [it for it in servers if it.process_class in _STORAGE and spread.place(it) is not None]
    chosen = [it for it in able if it.process_class is ProcessClass.STORAGE]
    there = set(spread.places(chosen).values())
    if spread.is_met_by(there):
        return chosen
    able.sort(key=lambda it: (_STORAGE.index(it.process_class), it.disk.process_id))
    for it in able:
        place = spread.place(it)
        if place is not None and place not in there and not spread.is_met_by(there):
            chosen.append(it)
            there.add(place)
    return chosen


def _best(free: Sequence[Server], made_for: ProcessClass, roles: Roles) -> Server:
    """Return who fits best: made for it, then stateless, then whoever has least to do."""
    order = (made_for, *_STATELESS)

    def fitness(it: Server) -> tuple[int, bool, int, str]:
        kind = it.process_class
        place = order.index(kind) if kind in order else len(order)
        return place, it.degraded, len(roles[it.disk.process_id]), it.disk.process_id

    return min(free, key=fitness)
