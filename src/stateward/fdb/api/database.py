"""What ``configure`` shall set, in FoundationDB's own words: snake_case, as a status has them.

The same type says in the status what the database is. What is there may be newer than we are, so
words are free texts here; what may be asked for is a matter of rules about the spec.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field

#: What may be asked for. The live configuration may have others, such as a fallback.
REDUNDANCY_MODES: Final = ("single", "double", "triple", "three_data_hall")
STORAGE_ENGINES: Final = (
    "ssd", "ssd-1", "ssd-2", "memory", "memory-1", "memory-2", "ssd-redwood-1-experimental",
    "ssd-redwood-1", "ssd-rocksdb-experimental", "ssd-rocksdb-v1", "ssd-sharded-rocksdb",
    "memory-radixtree-beta", "custom",
)  # fmt: skip
SATELLITE_MODES: Final = (
    "one_satellite_single", "one_satellite_double", "one_satellite_triple",
    "two_satellite_safe", "two_satellite_fast",
)  # fmt: skip
MIGRATION_TYPES: Final = ("disabled", "aggressive", "gradual")

Word: TypeAlias = Annotated[str, Meta(max_length=100)]
#: How many of a role; 0: what the operator computes, -1: what FoundationDB chooses.
RoleCount: TypeAlias = Annotated[int, Meta(ge=-1, le=100_000)]


class DataCenterSetting(Part, rename=None):
    """A data center of a region; a satellite has only logs."""

    id: Annotated[Word, Field(description="What its processes have as their dcid.")] = ""
    priority: Annotated[int, Field(description="Who writes: the highest; below 0: never.")] = 0
    satellite: Annotated[
        int, Meta(ge=0, le=1), Field(description="1: it holds copies of the logs only.")
    ] = 0


class RegionSetting(Part, rename=None):
    """A data center with data, and the satellites near it."""

    datacenters: Annotated[
        tuple[DataCenterSetting, ...],
        Field(description="Its data centers.", list_type="atomic", max_items=8),
    ] = ()
    satellite_logs: Annotated[
        int, Meta(ge=0, le=1000), Field(description="How many logs each satellite has.")
    ] = 0
    satellite_redundancy_mode: Annotated[
        Word, Field(description="How logs are kept in satellites, as in one_satellite_double.")
    ] = ""


class ExcludedServer(Part, rename=None):
    """Somebody who shall hold no data. Only told; process groups are removed in other ways."""

    address: Annotated[Word, Field(description="By address.")] = ""
    locality: Annotated[
        Annotated[str, Meta(max_length=255)], Field(description="Or by a locality.")
    ] = ""


class DatabaseConfiguration(Part, rename=None):
    """What a database is configured as."""

    redundancy_mode: Annotated[
        Word,
        Field(
            description="How many copies: single, double, triple, three_data_hall.",
            default="double",
        ),
    ] = "double"
    storage_engine: Annotated[
        Word, Field(description="How data lies on disks, as in ssd-2.", default="ssd-2")
    ] = "ssd-2"
    usable_regions: Annotated[
        int,
        Meta(ge=0, le=4),
        Field(description="How many regions hold data.", default=1),
    ] = 1
    regions: Annotated[
        tuple[RegionSetting, ...],
        Field(description="Regions, when there are several.", list_type="atomic", max_items=8),
    ] = ()
    excluded_servers: Annotated[
        tuple[ExcludedServer, ...],
        Field(description="Who is excluded; only told.", list_type="atomic"),
    ] = ()
    storage: Annotated[RoleCount, Field(description="How many storage servers.")] = 0
    logs: Annotated[RoleCount, Field(description="How many logs.")] = 0
    proxies: Annotated[RoleCount, Field(description="How many proxies of both kinds.")] = 0
    commit_proxies: Annotated[RoleCount, Field(description="How many proxies for commits.")] = 0
    grv_proxies: Annotated[RoleCount, Field(description="How many proxies for versions.")] = 0
    resolvers: Annotated[RoleCount, Field(description="How many resolvers.")] = 0
    log_routers: Annotated[RoleCount, Field(description="How many routers between regions.")] = 0
    remote_logs: Annotated[RoleCount, Field(description="How many logs in the other region.")] = 0
    log_spill: Annotated[int, Meta(ge=0), Field(description="How logs spill; 0: not said.")] = 0
    log_version: Annotated[int, Meta(ge=0), Field(description="Which logs; 0: not said.")] = 0
    storage_migration_type: Annotated[
        Word, Field(description="How data goes to another engine: disabled, gradual, aggressive.")
    ] = ""
    perpetual_storage_wiggle: Annotated[
        Annotated[int, Meta(ge=0, le=1000)] | None,
        Field(description="Whether storage servers are rewritten one after another: 0 or 1."),
    ] = None
    perpetual_storage_wiggle_locality: Annotated[
        str,
        Meta(max_length=255),
        Field(description="Which of them, as KEY:VALUE; 0: all."),
    ] = ""
    perpetual_storage_wiggle_engine: Annotated[
        Word, Field(description="Which engine they are rewritten to, or none.")
    ] = ""
