"""What a configuration needs of places: zones with processes, in data centers and data halls.

A database takes a layout for which there is nobody, and is away from then on; so it is asked
before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from stateward.core.facts import Fact, Known
from stateward.fdb.model import locality
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration, Redundancy, Region
from stateward.fdb.status.configuration import configuration
from stateward.fdb.status.processes import Reporting, roster
from stateward.fdb.views import ClusterView, GroupView

_CLASSES: Final = {it.value: it for it in ProcessClass}
#: Each of them has copies in several data halls.
HALLS: Final = (Redundancy.THREE_DATA_HALL, Redundancy.THREE_DATA_HALL_FALLBACK)
#: What was just written lies in so many halls, in so many zones of each.
_LOG_HALLS, _IN_EACH = 2, 2
#: By the redundancy of satellites: how many copies of what was just written they have.
_SATELLITES: Final = {
    "one_satellite_single": 1,
    "one_satellite_double": 2,
    "one_satellite_triple": 3,
    "two_satellite_safe": 4,
    "two_satellite_fast": 4,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process is that may be given something, and what it may be given."""

    zone: str
    center: str = ""
    hall: str = ""
    stores: bool = False
    logs: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """Something that lacks: what must be, what is, and what to do about it."""

    words: str
    hint: str


def places(view: ClusterView, without: Collection[str] = ()) -> Fact[tuple[Place, ...]]:
    """Return where all processes are that report, also those of other clusters; but some groups."""
    found = roster(view.database)
    if not isinstance(found, Known):
        return found
    groups = {name: them for name, them in found.value.groups.items() if name not in without}
    every = [*found.value.nameless, *(it for some in groups.values() for it in some)]
    some = tuple(_place(it) for it in every if it.entry.excluded is not True)
    return Known(tuple(it for it in some if it.zone), found.at, found.source)


def places_in(view: ClusterView, center: str | None, hall: str | None) -> Fact[tuple[Place, ...]]:
    """Return where all would be if the processes of this cluster were elsewhere; None: as now."""
    found = roster(view.database)
    if not isinstance(found, Known):
        return found
    mine = {str(it.id) for it in view.groups}
    some = [
        _moved(_place(it), center, hall) if name in mine else _place(it)
        for name, them in {"": found.value.nameless, **found.value.groups}.items()
        for it in them
        if it.entry.excluded is not True
    ]
    return Known(tuple(it for it in some if it.zone), found.at, found.source)


def _moved(it: Place, center: str | None, hall: str | None) -> Place:
    return replace(
        it, center=it.center if center is None else center, hall=it.hall if hall is None else hall
    )


def _place(it: Reporting) -> Place:
    kind = _CLASSES.get(str(it.entry.class_type), ProcessClass.UNSET)
    where = it.localities
    return Place(
        zone=where.get(locality.ZONE, ""),
        center=where.get(locality.DATA_CENTER, ""),
        hall=where.get(locality.DATA_HALL, ""),
        stores=kind in {ProcessClass.STORAGE, ProcessClass.UNSET},
        logs=kind.may_log,
    )


# ------------------------------------------------------------------ what lacks
def lacking_without(view: ClusterView, going: Iterable[GroupView]) -> tuple[Need, ...]:
    """Return what the database of now would lack without some groups, and has with them.

    Zones of another data center or hall do not stand in: a database that finds no logs in its
    satellites is away until somebody brings them back.
    """
    live, now = configuration(view.database), places(view)
    then = places(view, {str(it.id) for it in going})
    if not isinstance(live, Known) or not isinstance(now, Known) or not isinstance(then, Known):
        return ()
    before = set(lacking(now.value, live.value))
    return tuple(it for it in lacking(then.value, live.value) if it not in before)


def lacking(there: Collection[Place], it: Configuration) -> tuple[Need, ...]:
    """Return what a configuration asks of places and nobody has."""
    try:
        mode = Redundancy(it.redundancy)
    except ValueError:
        return ()  # nobody knows what it asks for
    if mode in HALLS:
        return tuple(_of_halls(there, mode))
    return tuple(need for region in it.regions for need in _of_region(there, it, region, mode))


def _of_halls(there: Iterable[Place], mode: Redundancy) -> Iterator[Need]:
    every = list(there)
    with_data = {it.hall for it in every if it.stores and it.hall}
    zones: dict[str, set[str]] = {}
    for it in every:
        if it.logs and it.hall:
            zones.setdefault(it.hall, set()).add(it.zone)
    with_logs = sorted(name for name, some in zones.items() if len(some) >= _IN_EACH)
    hint = (
        "have processes in the other halls: a FoundationDBCluster for each, with its own dataHall"
        " and the seedConnectionString of the first; or in one cluster, with pods of each class"
        " spread over halls (topologySpreadConstraints, matchLabelKeys)"
    )
    if len(with_data) < mode.storage_replicas:
        yield Need(
            f"{mode} must have storage processes in {mode.storage_replicas} data halls, and they"
            f" are in {len(with_data)}: {_listed(with_data)}",
            hint,
        )
    if len(with_logs) < _LOG_HALLS:
        yield Need(
            f"{mode} must have logs in {_IN_EACH} zones of {_LOG_HALLS} data halls each, and has"
            f" them in {len(with_logs)}: {_listed(with_logs)}",
            hint,
        )


def _of_region(
    there: Collection[Place], it: Configuration, region: Region, mode: Redundancy
) -> Iterator[Need]:
    """Yield what a region lacks: for data where it has some, and for logs where it may write."""
    if region.main is None or (it.usable_regions < 2 and region.priority < 0):
        return
    name = region.main.id
    storage = {one.zone for one in there if one.center == name and one.stores}
    logs = {one.zone for one in there if one.center == name and one.logs}
    hint = (
        f"have processes in data center {name}: a FoundationDBCluster with dataCenter: {name} and"
        " the seedConnectionString of the first"
    )
    for what, zones, needed in (
        ("storage processes", storage, mode.storage_replicas),
        ("logs", logs, mode.log_replicas),
    ):
        if len(zones) < needed:
            yield Need(
                f"data center {name} must have {what} in {needed} zones, and has them in"
                f" {len(zones)}",
                hint,
            )
    if region.priority >= 0:
        yield from _of_satellites(there, region)


def _of_satellites(there: Iterable[Place], region: Region) -> Iterator[Need]:
    names = {it.id for it in region.data_centers if it.satellite}
    needed = _SATELLITES.get(region.satellite_redundancy, 0)
    zones = {it.zone for it in there if it.center in names and it.logs}
    if len(zones) < needed:
        yield Need(
            f"the satellites {_listed(names)} must have logs in {needed} zones, and have them in"
            f" {len(zones)}",
            f"have processes of class log in {_listed(names)}",
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
