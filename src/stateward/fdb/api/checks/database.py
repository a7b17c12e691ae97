"""What is wrong with the version and the configuration of a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stateward.core.version import Version
from stateward.fdb.api import rules
from stateward.fdb.api.database import (
    MIGRATION_TYPES,
    REDUNDANCY_MODES,
    SATELLITE_MODES,
    STORAGE_ENGINES,
    DatabaseConfiguration,
    RegionSetting,
)
from stateward.fdb.api.questions import EVERY_CLUSTER
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.kube.crd.findings import Problem

OLDEST: Final = Version(7, 1, 0)
#: Since which release an engine is there.
_SINCE: Final = {"ssd-redwood-1": (7, 3), "ssd-sharded-rocksdb": (7, 2)}

_WHERE: Final = "spec.databaseConfiguration"
_VERSION: Final = re.compile(rules.VERSION.strip("^$"))
_WORD: Final = re.compile(rules.WORD.strip("^$"))
_WIGGLED: Final = re.compile(rules.WIGGLED.strip("^$"))


def database_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield what FoundationDB could not be, or not in this version."""
    version = _version(spec.version)
    if version is None:
        yield Problem(
            "spec.version",
            f"must be three numbers with dots between, as in 7.3.63, got {spec.version!r}",
            hint="name the whole release: major, minor and patch",
        )
    elif (version.major, version.minor) < (OLDEST.major, OLDEST.minor):
        yield Problem("spec.version", f"must be {OLDEST} or later, got {version}")
    configuration = spec.database_configuration
    yield from _choice_problems(configuration)
    if version is not None:
        yield from _engine_problems(configuration, version)
    yield from _wiggle_problems(configuration)
    yield from _region_problems(configuration)
    yield from _place_problems(spec)
    yield from _count_problems(spec)


def _version(text: str) -> Version | None:
    if not _VERSION.fullmatch(text):
        return None  # others are versions too, as in v7.3.63; no image has a tag like that
    try:
        return Version.parse(text)
    except ValueError:
        return None


def _choice_problems(said: DatabaseConfiguration) -> Iterator[Problem]:
    choices = (
        ("redundancy_mode", said.redundancy_mode, REDUNDANCY_MODES),
        ("storage_engine", said.storage_engine, STORAGE_ENGINES),
        ("storage_migration_type", said.storage_migration_type, MIGRATION_TYPES),
        (
            "perpetual_storage_wiggle_engine",
            said.perpetual_storage_wiggle_engine,
            (*STORAGE_ENGINES, "none"),
        ),
    )
    for name, value, known in choices:
        if value and value not in known:
            yield Problem(f"{_WHERE}.{name}", f"must be one of {', '.join(known)}, got {value!r}")


def _engine_problems(said: DatabaseConfiguration, version: Version) -> Iterator[Problem]:
    for name in ("storage_engine", "perpetual_storage_wiggle_engine"):
        engine = getattr(said, name)
        since = _SINCE.get(engine, (0, 0))
        if (version.major, version.minor) < since:
            yield Problem(
                f"{_WHERE}.{name}",
                f"must be an engine of {version}, and {engine} is there"
                f" since {since[0]}.{since[1]}",
                hint="upgrade first, then change the engine",
            )


def _wiggle_problems(said: DatabaseConfiguration) -> Iterator[Problem]:
    speed = said.perpetual_storage_wiggle
    if speed not in (None, 0, 1):
        yield Problem(
            f"{_WHERE}.perpetual_storage_wiggle",
            f"must be 0 or 1: FoundationDB knows no other speed, got {speed}",
        )
    locality = said.perpetual_storage_wiggle_locality
    if locality and not _WIGGLED.fullmatch(locality):
        yield Problem(
            f"{_WHERE}.perpetual_storage_wiggle_locality",
            f"must be KEY:VALUE, or 0, got {locality!r}",
        )


# ------------------------------------------------------------------ regions
def _region_problems(said: DatabaseConfiguration) -> Iterator[Problem]:
    if said.regions and said.usable_regions > len(said.regions):
        yield Problem(
            f"{_WHERE}.usable_regions",
            f"must be at most the number of regions, {len(said.regions)},"
            f" got {said.usable_regions}",
        )
    elif not said.regions and said.usable_regions > 1:
        yield Problem(
            f"{_WHERE}.usable_regions",
            f"must be 1 without regions, got {said.usable_regions}",
            hint="say in regions where they are",
        )
    mains: set[str] = set()
    for number, region in enumerate(said.regions):
        where = f"{_WHERE}.regions[{number}]"
        yield from _center_problems(region, where)
        found = {it.id for it in region.datacenters if not it.satellite}
        for name in sorted(found & mains):
            message = f"must be other data centers than those of the regions before, got {name}"
            yield Problem(f"{where}.datacenters", message)
        mains |= found
    priorities = [it.priority for one in said.regions for it in one.datacenters if not it.satellite]
    if priorities and max(priorities) < 0:
        message = "must have one that may write: a data center with a priority of 0 or more"
        yield Problem(f"{_WHERE}.regions", message)


def _center_problems(region: RegionSetting, where: str) -> Iterator[Problem]:
    mains = [it for it in region.datacenters if not it.satellite]
    satellites = [it for it in region.datacenters if it.satellite]
    if len(mains) != 1:
        yield Problem(
            f"{where}.datacenters",
            f"must have one data center that is no satellite, got {len(mains)}",
        )
    for number, center in enumerate(region.datacenters):
        if not _WORD.fullmatch(center.id):
            yield Problem(
                f"{where}.datacenters[{number}].id",
                f"must be of letters, digits, '_', '.' and '-', got {center.id!r}",
            )
    mode = region.satellite_redundancy_mode
    if mode and mode not in SATELLITE_MODES:
        yield Problem(
            f"{where}.satellite_redundancy_mode",
            f"must be one of {', '.join(SATELLITE_MODES)}, got {mode!r}",
        )
    if mode and not satellites:
        message = "must not be given without a satellite to keep logs in"
        yield Problem(f"{where}.satellite_redundancy_mode", message)


def _place_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    for name, value in (
        ("dataCenter", spec.data_center),
        ("dataHall", spec.data_hall),
        ("logGroup", spec.log_group),
    ):
        if value and not _WORD.fullmatch(value):
            message = f"must be of letters, digits, '_', '.' and '-', got {value!r}"
            yield Problem(f"spec.{name}", message)
    halls = spec.database_configuration.redundancy_mode == "three_data_hall"
    if halls and not spec.data_hall and not _says_hall(spec):
        yield Problem(
            "spec.dataHall",
            "must be given with three_data_hall: copies are kept in different halls",
        )


def _says_hall(spec: FoundationDBClusterSpec) -> bool:
    every = (it.custom_parameters or () for it in spec.processes.values())
    return any(text.startswith("locality_data_hall") for some in every for text in some)


# ------------------------------------------------------------------ counts
def _count_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield that nobody would have data: -1 stands for none of a class.

    Roles without data are had by others then. Data lies on processes of class unset as well, but on
    no other class while nothing is wrong; and with other clusters, where they have one database.
    """
    counts, domain = spec.process_counts, spec.fault_domain
    database = spec.database_configuration
    others = spec.data_center or spec.data_hall or spec.seed_connection_string or database.regions
    if others or domain.zone_count > 1 or domain.key == EVERY_CLUSTER:
        return
    if counts.storage < 0 and counts.unset <= 0:
        yield Problem(
            "spec.processCounts.storage",
            f"must leave somebody to have data, got {counts.storage}, which stands for none",
            hint="leave it out, or 0, to have as many as the redundancy needs",
        )
