"""What a database shall be configured as, how that differs from what it is, and the next step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Final

from stateward.fdb.api.database import DatabaseConfiguration, DataCenterSetting, RegionSetting
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.decide import regions
from stateward.fdb.decide.counts import Wish, roles
from stateward.fdb.model.configuration import Configuration, DataCenter, Region, engine_of

#: Engines that a status calls by one name, whatever they were asked for as.
_SHOWN: Final = {"memory-1": "memory-2", "memory-radixtree-beta": "memory-radixtree"}
_NUMBERS: Final = (
    "logs", "proxies", "commit_proxies", "grv_proxies", "resolvers", "log_routers", "remote_logs",
    "log_version", "log_spill", "perpetual_storage_wiggle",
)  # fmt: skip
_ENGINES: Final = ("storage_engine", "perpetual_storage_wiggle_engine")
_WORDS: Final = ("redundancy", "storage_migration_type", "perpetual_storage_wiggle_locality")


# ------------------------------------------------------------------ from the spec, and to a status
def wanted(spec: FoundationDBClusterSpec) -> Configuration:
    """Return what a normalized spec asks for, with numbers of roles that it leaves to us."""
    setting = spec.database_configuration
    told = model_of(setting)
    filled = roles(Wish(configuration=told))
    found = replace(
        told,
        logs=_count(setting.logs, filled.logs),
        resolvers=_count(setting.resolvers, filled.resolvers),
        remote_logs=None,
        log_routers=None,
    )
    if told.usable_regions > 1:
        found = replace(
            found,
            remote_logs=_count(setting.remote_logs, filled.remote_logs),
            log_routers=_count(setting.log_routers, filled.log_routers),
        )
    # Proxies of both kinds are asked for as one number only where nobody speaks of either kind.
    if setting.proxies and not (setting.commit_proxies or setting.grv_proxies):
        return found
    return replace(
        found,
        proxies=None,
        commit_proxies=_count(setting.commit_proxies, filled.commit_proxies),
        grv_proxies=_count(setting.grv_proxies, filled.grv_proxies),
    )


def _count(said: int, ours: int) -> int | None:
    """Return how many of a role: ours where nothing is said; None: FoundationDB chooses."""
    return None if said < 0 else said or ours


def model_of(setting: DatabaseConfiguration) -> Configuration:
    """Return a configuration as it is written, with nothing filled in."""

    def said(number: int) -> int | None:
        return number if number > 0 else None

    return Configuration(
        redundancy=setting.redundancy_mode,
        storage_engine=setting.storage_engine,
        usable_regions=max(1, setting.usable_regions),
        regions=tuple(map(_region_of, setting.regions)),
        logs=said(setting.logs),
        proxies=said(setting.proxies),
        commit_proxies=said(setting.commit_proxies),
        grv_proxies=said(setting.grv_proxies),
        resolvers=said(setting.resolvers),
        log_routers=said(setting.log_routers),
        remote_logs=said(setting.remote_logs),
        log_version=said(setting.log_version),
        log_spill=said(setting.log_spill),
        storage_migration_type=setting.storage_migration_type,
        perpetual_storage_wiggle=setting.perpetual_storage_wiggle,
        perpetual_storage_wiggle_locality=setting.perpetual_storage_wiggle_locality,
        perpetual_storage_wiggle_engine=setting.perpetual_storage_wiggle_engine,
    )


def _region_of(setting: RegionSetting) -> Region:
    centers = [
        DataCenter(it.id, it.priority, satellite=it.satellite == 1) for it in setting.datacenters
    ]
    return Region(tuple(centers), setting.satellite_logs, setting.satellite_redundancy_mode)


def setting_of(live: Configuration) -> DatabaseConfiguration:
    """Return a configuration in the words of a status."""
    return DatabaseConfiguration(
        redundancy_mode=live.redundancy,
        storage_engine=live.storage_engine,
        usable_regions=live.usable_regions,
        regions=tuple(map(_setting_of_region, live.regions)),
        logs=live.logs or 0,
        proxies=live.proxies or 0,
        commit_proxies=live.commit_proxies or 0,
        grv_proxies=live.grv_proxies or 0,
        resolvers=live.resolvers or 0,
        log_routers=live.log_routers or 0,
        remote_logs=live.remote_logs or 0,
        log_version=live.log_version or 0,
        log_spill=live.log_spill or 0,
        storage_migration_type=live.storage_migration_type,
        perpetual_storage_wiggle=live.perpetual_storage_wiggle,
        perpetual_storage_wiggle_locality=live.perpetual_storage_wiggle_locality,
        perpetual_storage_wiggle_engine=live.perpetual_storage_wiggle_engine,
    )


def _setting_of_region(region: Region) -> RegionSetting:
    centers = [
        DataCenterSetting(id=it.id, priority=it.priority, satellite=int(it.satellite))
        for it in region.data_centers
    ]
    return RegionSetting(
        datacenters=tuple(centers),
        satellite_logs=region.satellite_logs,
        satellite_redundancy_mode=region.satellite_redundancy,
    )


# ------------------------------------------------------------------ what differs
def differs(live: Configuration, wanted: Configuration) -> tuple[str, ...]:
    """Return what is not as it shall be, in words; only what is asked for counts."""
    found = [
        f"{name} is {is_}, and shall be {shall}"
        for name, is_, shall in _pairs(live, wanted)
        if shall not in (None, "") and is_ != shall
    ]
    if in_order(live.regions) != in_order(wanted.regions):
        found.append(f"regions are {_said(live.regions)}, and shall be {_said(wanted.regions)}")
    return tuple(found)


def _pairs(live: Configuration, wanted: Configuration) -> Iterable[tuple[str, object, object]]:
    for name in _WORDS:
        yield name, getattr(live, name), getattr(wanted, name)
    for name in _ENGINES:
        yield name, _engine(getattr(live, name)), _engine(getattr(wanted, name))
    yield "usable_regions", max(1, live.usable_regions), max(1, wanted.usable_regions)
    for name in _NUMBERS:
        yield name, getattr(live, name), getattr(wanted, name)


def _engine(name: str) -> str:
    return _SHOWN.get(engine_of(name), engine_of(name))


def in_order(regions: Iterable[Region]) -> tuple[Region, ...]:
    """Return regions in the one order in which they are compared: those first that write."""
    return tuple(
        sorted(
            (replace(it, data_centers=_centers(it.data_centers)) for it in regions),
            key=lambda it: (-it.priority, it.main.id if it.main else ""),
        )
    )


def _centers(centers: Iterable[DataCenter]) -> tuple[DataCenter, ...]:
    return tuple(sorted(centers, key=lambda it: (it.satellite, -it.priority, it.id)))


def _said(regions: Iterable[Region]) -> str:
    words = [
        " ".join(
            f"{it.id}[{it.priority}]" + ("(satellite)" if it.satellite else "")
            for it in region.data_centers
        )
        for region in in_order(regions)
    ]
    return ", ".join(words) or "none"


# ------------------------------------------------------------------ the next step
def next_step(live: Configuration, wanted: Configuration) -> Configuration:
    """Return what to configure now so that, one step after another, all is as wanted.

    While regions move, all else stays as it is. Regions of which none may write are not set: a
    database without a writer cannot be changed any more.
    """
    target = regions.Layout(max(1, wanted.usable_regions), in_order(wanted.regions))
    if target.regions and not target.writers:
        return replace(wanted, usable_regions=live.usable_regions, regions=live.regions)
    now = regions.Layout(max(1, live.usable_regions), in_order(live.regions))
    move = regions.next_move(now, target)
    if move is None:
        return wanted
    return replace(_kept(live, wanted), usable_regions=move.usable, regions=move.regions)


def _kept(live: Configuration, wanted: Configuration) -> Configuration:
    """Return what is, as far as somebody asks for it: what nobody said stays unsaid."""
    unsaid = {
        it.name: getattr(wanted, it.name)
        for it in fields(Configuration)
        if getattr(wanted, it.name) in (None, "")
    }
    return replace(live, **unsaid)
