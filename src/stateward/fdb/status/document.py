"""The shape of ``status json``, as far as we ask it: the only place that knows its names.

Every field may be missing, at any time; that is UNSET, and null is not the same.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class Part(Struct, frozen=True, gc=False):
    """A part of the document."""


# -------------------------------------------------------------------------- the client's half


class Message(Part, frozen=True, gc=False):
    """Something that is not as it should be; the description is for people."""

    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET


class ClusterFile(Part, frozen=True, gc=False):
    """The cluster file of whoever asked."""

    up_to_date: bool | UnsetType = UNSET


class Coordinator(Part, frozen=True, gc=False):
    """A coordinator, as the one who asked sees it."""

    address: str | UnsetType = UNSET
    reachable: bool | UnsetType = UNSET
    protocol: str | UnsetType = UNSET


class Coordinators(Part, frozen=True, gc=False):
    """All of them."""

    coordinators: list[Coordinator] | UnsetType = UNSET
    quorum_reachable: bool | UnsetType = UNSET


class DatabaseStatus(Part, frozen=True, gc=False):
    """Two summaries; ``healthy`` says less than one would think."""

    available: bool | UnsetType = UNSET
    healthy: bool | UnsetType = UNSET


class Client(Part, frozen=True, gc=False):
    """What the one who asked found out by itself."""

    cluster_file: ClusterFile | UnsetType = UNSET
    coordinators: Coordinators | UnsetType = UNSET
    database_status: DatabaseStatus | UnsetType = UNSET
    messages: list[Message] | UnsetType = UNSET
    timestamp: float | UnsetType = UNSET


# -------------------------------------------------------------------------- processes


class StorageMetadata(Part, frozen=True, gc=False):
    """What a storage server was made as."""

    storage_engine: str | UnsetType = UNSET


class Role(Part, frozen=True, gc=False):
    """Something that a process does."""

    role: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    stored_bytes: int | UnsetType = UNSET
    storage_metadata: StorageMetadata | UnsetType = UNSET


class Process(Part, frozen=True, gc=False):
    """A process that reports to the cluster controller; one that does not is not listed."""

    address: str | UnsetType = UNSET
    class_type: str | UnsetType = UNSET
    class_source: str | UnsetType = UNSET
    command_line: str | UnsetType = UNSET
    degraded: bool | UnsetType = UNSET
    excluded: bool | UnsetType = UNSET
    locality: dict[str, str] | UnsetType = UNSET
    messages: list[Message] | UnsetType = UNSET
    roles: list[Role] | UnsetType = UNSET
    run_loop_busy: float | UnsetType = UNSET
    under_maintenance: bool | UnsetType = UNSET
    uptime_seconds: float | UnsetType = UNSET
    version: str | UnsetType = UNSET


# -------------------------------------------------------------------------- configuration


class Excluded(Part, frozen=True, gc=False):
    """An exclusion: one of the two is there."""

    address: str | UnsetType = UNSET
    locality: str | UnsetType = UNSET


class DataCenter(Part, frozen=True, gc=False):
    """A data center of a region."""

    id: str | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    satellite: int | UnsetType = UNSET


class Region(Part, frozen=True, gc=False):
    """A region."""

    datacenters: list[DataCenter] | UnsetType = UNSET
    satellite_logs: int | UnsetType = UNSET
    satellite_redundancy_mode: str | UnsetType = UNSET


class Configuration(Part, frozen=True, gc=False):
    """What the database is configured as; counts are those in effect, set by somebody or not."""

    commit_proxies: int | UnsetType = UNSET
    coordinators_count: int | UnsetType = UNSET
    excluded_servers: list[Excluded] | UnsetType = UNSET
    grv_proxies: int | UnsetType = UNSET
    log_engine: str | UnsetType = UNSET
    log_routers: int | UnsetType = UNSET
    log_spill: int | UnsetType = UNSET
    log_version: int | UnsetType = UNSET
    logs: int | UnsetType = UNSET
    perpetual_storage_wiggle: int | UnsetType = UNSET
    perpetual_storage_wiggle_engine: str | UnsetType = UNSET
    perpetual_storage_wiggle_locality: str | UnsetType = UNSET
    proxies: int | UnsetType = UNSET
    redundancy_mode: str | UnsetType = UNSET
    regions: list[Region] | UnsetType = UNSET
    remote_logs: int | UnsetType = UNSET
    resolvers: int | UnsetType = UNSET
    storage_engine: str | UnsetType = UNSET
    storage_migration_type: str | UnsetType = UNSET
    usable_regions: int | UnsetType = UNSET


# -------------------------------------------------------------------------- data and logs


class DataState(Part, frozen=True, gc=False):
    """How well data is copied; without ``healthy`` nobody knows yet."""

    healthy: bool | UnsetType = UNSET
    min_replicas_remaining: int | UnsetType = UNSET
    name: str | UnsetType = UNSET


class MovingData(Part, frozen=True, gc=False):
    """What is on its way."""

    highest_priority: int | UnsetType = UNSET
    in_flight_bytes: int | UnsetType = UNSET
    in_queue_bytes: int | UnsetType = UNSET


class TeamTracker(Part, frozen=True, gc=False):
    """The same of one region."""

    primary: bool | UnsetType = UNSET
    state: DataState | UnsetType = UNSET
    unhealthy_servers: int | UnsetType = UNSET


class Data(Part, frozen=True, gc=False):
    """Where data is, and where it goes."""

    moving_data: MovingData | UnsetType = UNSET
    state: DataState | UnsetType = UNSET
    team_trackers: list[TeamTracker] | UnsetType = UNSET
    total_kv_size_bytes: int | UnsetType = UNSET


class LogInterface(Part, frozen=True, gc=False):
    """A log of a generation."""

    address: str | UnsetType = UNSET
    healthy: bool | UnsetType = UNSET
    id: str | UnsetType = UNSET


class LogSet(Part, frozen=True, gc=False):
    """The logs of one generation; those before the current one may still be needed."""

    current: bool | UnsetType = UNSET
    epoch: int | UnsetType = UNSET
    log_fault_tolerance: int | UnsetType = UNSET
    log_interfaces: list[LogInterface] | UnsetType = UNSET
    log_replication_factor: int | UnsetType = UNSET
    possibly_losing_data: bool | UnsetType = UNSET
    remote_log_fault_tolerance: int | UnsetType = UNSET
    remote_log_replication_factor: int | UnsetType = UNSET
    satellite_log_fault_tolerance: int | UnsetType = UNSET
    satellite_log_replication_factor: int | UnsetType = UNSET


class FaultTolerance(Part, frozen=True, gc=False):
    """How many zones may go; can be below 0."""

    max_zone_failures_without_losing_availability: int | UnsetType = UNSET
    max_zone_failures_without_losing_data: int | UnsetType = UNSET


# -------------------------------------------------------------------------- the rest


class RecoveryState(Part, frozen=True, gc=False):
    """How far the last recovery has come."""

    active_generations: int | UnsetType = UNSET
    description: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    seconds_since_last_recovered: float | UnsetType = UNSET


class BounceImpact(Part, frozen=True, gc=False):
    """Whether all processes could be restarted now."""

    can_clean_bounce: bool | UnsetType = UNSET


class LockState(Part, frozen=True, gc=False):
    """Whether only those who know of the lock may write."""

    lock_uid: str | UnsetType = UNSET
    locked: bool | UnsetType = UNSET


class ConnectedClient(Part, frozen=True, gc=False):
    """A program that uses the database."""

    address: str | UnsetType = UNSET
    log_group: str | UnsetType = UNSET


class SupportedVersion(Part, frozen=True, gc=False):
    """Which clients have a library of a version, and for which it is the newest."""

    client_version: str | UnsetType = UNSET
    max_protocol_clients: list[ConnectedClient] | UnsetType = UNSET
    #: All of them: no more than some are named.
    max_protocol_count: int | UnsetType = UNSET
    protocol_version: str | UnsetType = UNSET


class Clients(Part, frozen=True, gc=False):
    """All clients that told of themselves lately."""

    count: int | UnsetType = UNSET
    supported_versions: list[SupportedVersion] | UnsetType = UNSET


class Lag(Part, frozen=True, gc=False):
    """How far something is behind."""

    seconds: float | UnsetType = UNSET


class Qos(Part, frozen=True, gc=False):
    """How much work waits."""

    worst_data_lag_storage_server: Lag | UnsetType = UNSET
    worst_durability_lag_storage_server: Lag | UnsetType = UNSET
    worst_queue_bytes_log_server: float | UnsetType = UNSET
    worst_queue_bytes_storage_server: float | UnsetType = UNSET


class Unreachable(Part, frozen=True, gc=False):
    """A process that should answer, and does not."""

    address: str | UnsetType = UNSET


class ClusterMessage(Part, frozen=True, gc=False):
    """Something that is not as it should be, with what goes with it."""

    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    unreachable_processes: list[Unreachable] | UnsetType = UNSET


class Cluster(Part, frozen=True, gc=False):
    """What the cluster controller says."""

    active_primary_dc: str | UnsetType = UNSET
    bounce_impact: BounceImpact | UnsetType = UNSET
    clients: Clients | UnsetType = UNSET
    cluster_controller_timestamp: float | UnsetType = UNSET
    configuration: Configuration | UnsetType = UNSET
    connection_string: str | UnsetType = UNSET
    data: Data | UnsetType = UNSET
    database_available: bool | UnsetType = UNSET
    database_lock_state: LockState | UnsetType = UNSET
    datacenter_lag: Lag | UnsetType = UNSET
    fault_tolerance: FaultTolerance | UnsetType = UNSET
    full_replication: bool | UnsetType = UNSET
    generation: int | UnsetType = UNSET
    incompatible_connections: list[str] | UnsetType = UNSET
    #: Layers write what they like.
    layers: dict[str, Any] | UnsetType = UNSET
    logs: list[LogSet] | UnsetType = UNSET
    maintenance_seconds_remaining: float | UnsetType = UNSET
    maintenance_zone: str | UnsetType = UNSET
    messages: list[ClusterMessage] | UnsetType = UNSET
    processes: dict[str, Process] | UnsetType = UNSET
    protocol_version: str | UnsetType = UNSET
    qos: Qos | UnsetType = UNSET
    recovery_state: RecoveryState | UnsetType = UNSET


class Document(Part, frozen=True, gc=False):
    """All of it."""

    client: Client | UnsetType = UNSET
    cluster: Cluster | UnsetType = UNSET
