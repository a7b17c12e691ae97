"""What is the database configured as? Counts are those in effect, set by somebody or not."""

from __future__ import annotations

from typing import Final, TypeVar

from msgspec import UNSET, UnsetType

from stateward.core.facts import Fact, Unknown
from stateward.fdb.model.configuration import Configuration, DataCenter, Region
from stateward.fdb.status import document
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status

T = TypeVar("T")
_PATH: Final = "cluster.configuration"


def configuration(status: Status) -> Fact[Configuration]:
    """Return what the database is configured as."""
    seen = cluster(status).configuration
    if seen is UNSET:
        return missing(status, _PATH)
    if wrong := status.flaw(_PATH):
        return Unknown(f"the status cannot be read: {wrong}")
    redundancy, engine, usable = seen.redundancy_mode, seen.storage_engine, seen.usable_regions
    if redundancy is UNSET or engine is UNSET or usable is UNSET:
        return missing(status, f"{_PATH}.redundancy_mode")
    found = Configuration(
        redundancy=redundancy,
        storage_engine=engine,
        usable_regions=usable,
        regions=tuple(map(_region, _or(seen.regions, []))),
        logs=_or(seen.logs, None),
        proxies=_or(seen.proxies, None),
        commit_proxies=_or(seen.commit_proxies, None),
        grv_proxies=_or(seen.grv_proxies, None),
        resolvers=_or(seen.resolvers, None),
        log_routers=_or(seen.log_routers, None),
        remote_logs=_or(seen.remote_logs, None),
        log_version=_or(seen.log_version, None),
        log_spill=_or(seen.log_spill, None),
        storage_migration_type=_or(seen.storage_migration_type, ""),
        perpetual_storage_wiggle=_or(seen.perpetual_storage_wiggle, None),
        perpetual_storage_wiggle_locality=_or(seen.perpetual_storage_wiggle_locality, ""),
        perpetual_storage_wiggle_engine=_or(seen.perpetual_storage_wiggle_engine, ""),
    )
    return known(status, found)


def _region(seen: document.Region) -> Region:
    centers = [
        DataCenter(_or(it.id, ""), _or(it.priority, 0), satellite=_or(it.satellite, 0) == 1)
        for it in _or(seen.datacenters, [])
    ]
    return Region(
        tuple(centers), _or(seen.satellite_logs, 0), _or(seen.satellite_redundancy_mode, "")
    )


def _or(value: T | UnsetType, otherwise: T) -> T:
    return otherwise if value is UNSET else value
