"""What a user is told: the status of a FoundationDBCluster.

Fields that the compatible operator has are spelled and meant as it does: its status can be read
here, and ours by its tools. Defaults are not written; what may be false and is asked for by a
column has None for one.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stateward.fdb.api.database import DatabaseConfiguration
from stateward.kube.codec import Part
from stateward.kube.crd.blockers import Blocker
from stateward.kube.crd.fields import Field
from stateward.kube.meta import Condition


class Generations(Part):
    """For which generation of the spec something was true; 0: it is not."""

    reconciled: Annotated[
        int, Field(description="All of the spec is as asked; equal to metadata.generation: done.")
    ] = 0
    needs_configuration_change: Annotated[int, Field(description="The database differs.")] = 0
    needs_coordinator_change: Annotated[int, Field(description="Coordinators must change.")] = 0
    needs_bounce: Annotated[int, Field(description="Processes must be started anew.")] = 0
    needs_pod_deletion: Annotated[int, Field(description="Pods must be made anew.")] = 0
    needs_shrink: Annotated[int, Field(description="There are too many groups.")] = 0
    needs_grow: Annotated[int, Field(description="There are too few groups.")] = 0
    needs_monitor_conf_update: Annotated[int, Field(description="Pods have old files.")] = 0
    missing_database_status: Annotated[int, Field(description="The database is away.")] = 0
    has_extra_listeners: Annotated[int, Field(description="Processes listen twice.")] = 0
    needs_service_update: Annotated[int, Field(description="Services differ.")] = 0
    has_pending_removal: Annotated[
        int, Field(description="All is done but for groups whose pods do not go.")
    ] = 0
    has_unhealthy_process: Annotated[int, Field(description="A process is not well.")] = 0
    needs_lock_configuration_changes: Annotated[int, Field(description="Deny lists differ.")] = 0
    needs_detection_job_update: Annotated[
        int, Field(description="All may be done but for the job that looks for missing processes.")
    ] = 0


class Health(Part):
    """How the database is, by its own word."""

    available: Annotated[bool | None, Field(description="It takes transactions.")] = None
    healthy: Annotated[bool | None, Field(description="Nothing is wrong with its data.")] = None
    full_replication: Annotated[
        bool | None, Field(description="There are all copies that shall be.")
    ] = None
    data_movement_priority: Annotated[
        int | None, Field(description="How urgent it is to move data.")
    ] = None


class RequiredAddresses(Part):
    """What processes must listen on."""

    tls: Annotated[bool, Field(description="With TLS.")] = False
    non_tls: Annotated[bool, Field(description="Without.")] = msgspec.field(
        default=False, name="nonTLS"
    )


class GroupCondition(Part):
    """Something that is true of a process group, since when."""

    type: Annotated[str, Field(description="What, as in MissingPod.")] = ""
    timestamp: Annotated[int, Field(description="Since when, in seconds of Unix.")] = 0


class GroupMirror(Part):
    """A process group in a few words; the whole of it is its FoundationDBProcessGroup."""

    process_group_id: Annotated[str, Field(description="Who it is.")] = ""
    process_class: Annotated[str, Field(description="What it is for.")] = ""
    addresses: Annotated[
        tuple[str, ...], Field(description="Where it is.", list_type="atomic")
    ] = ()
    removal_timestamp: Annotated[
        str | None, Field(description="Since when it shall go.", format="date-time")
    ] = None
    exclusion_timestamp: Annotated[
        str | None, Field(description="Since when it holds nothing.", format="date-time")
    ] = None
    exclusion_skipped: Annotated[bool, Field(description="It goes with what it holds.")] = False
    process_group_conditions: Annotated[
        tuple[GroupCondition, ...],
        Field(description="What is true of it.", list_type="atomic"),
    ] = ()
    fault_domain: Annotated[str, Field(description="Its zone.")] = ""


class LockStatus(Part):
    """What the database says of locks."""

    lock_deny_list: Annotated[
        tuple[str, ...], Field(description="Operators that must not act.", list_type="atomic")
    ] = ()
    holder: Annotated[str | None, Field(description="Who has the lock.")] = None
    since: Annotated[str | None, Field(description="Since when.", format="date-time")] = None
    until: Annotated[
        str | None, Field(description="Until when nobody else takes it.", format="date-time")
    ] = None
    deny_list_written: Annotated[
        tuple[str, ...],
        Field(description="What of denyList was written into the database.", list_type="atomic"),
    ] = ()
    key_prefix: Annotated[
        str, Field(description="The lockKeyPrefix below which we last wrote; empty: the usual one.")
    ] = ""


class SynchronizationStatus(Part):
    """What is told to other operators of the database, and who of them is waited for."""

    name: Annotated[str, Field(description="The name under which we speak.")] = ""
    waiting_for: Annotated[
        tuple[str, ...],
        Field(description="Groups of other operators that are not ready yet.", list_type="atomic"),
    ] = ()
    silent: Annotated[
        tuple[str, ...],
        Field(description="Operators of which nothing is heard any more.", list_type="atomic"),
    ] = ()


class MaintenanceModeInfo(Part):
    """A zone that is put under maintenance: on record before the database is told."""

    start_timestamp: Annotated[str | None, Field(description="Since when.", format="date-time")] = (
        None
    )
    zone_id: Annotated[str, Field(description="Which zone.")] = ""
    process_groups: Annotated[
        tuple[str, ...], Field(description="Whose pods are made anew.", list_type="atomic")
    ] = ()
    seconds: Annotated[int, Field(description="For how long the database is told.")] = 0
    by: Annotated[
        str, Field(description="Whose it is: operator, or others, which is only looked at.")
    ] = ""


class Progress(Part):
    """How far work that takes several steps is."""

    step: Annotated[str, Field(description="What is under way.")] = ""
    message: Annotated[
        str, Field(description="The same in plain words, and what is waited for.")
    ] = ""
    done: Annotated[int, Field(description="How many parts are done.")] = 0
    of: Annotated[int, Field(description="How many parts there are.")] = 0
    bytes_left: Annotated[int, Field(description="How much data must still move.")] = 0
    bytes_per_second: Annotated[int, Field(description="How fast it moves.")] = 0
    seconds_left: Annotated[
        int | None, Field(description="How long that takes at this rate; not said: unknown.")
    ] = None


class FoundationDBClusterStatus(Part):
    """What a cluster is."""

    observed_generation: Annotated[
        int, Field(description="The generation of the spec that this status speaks of.")
    ] = 0
    doing: Annotated[str, Field(description="What is going on, in plain words.")] = ""
    database_configuration: Annotated[
        DatabaseConfiguration | None, Field(description="What the database is configured as.")
    ] = None
    generations: Annotated[
        Generations, Field(description="For which generations something is true.")
    ] = Generations()
    health: Annotated[Health, Field(description="How the database is.")] = Health()
    required_addresses: Annotated[
        RequiredAddresses, Field(description="What processes must listen on.")
    ] = RequiredAddresses()
    has_incorrect_config_map: Annotated[bool, Field(description="It differs.")] = False
    has_incorrect_service_config: Annotated[bool, Field(description="Services differ.")] = False
    needs_new_coordinators: Annotated[bool, Field(description="They must change.")] = False
    running_version: Annotated[str, Field(description="Which FoundationDB runs.")] = ""
    runs: Annotated[
        str, Field(description="The same for people: with EMULATED where a stand-in runs.")
    ] = ""
    connection_string: Annotated[str, Field(description="How the database is found.")] = ""
    configured: Annotated[bool, Field(description="The database was made once.")] = False
    adopted_from: Annotated[
        str, Field(description="The UID of an earlier cluster whose volumes were taken over.")
    ] = ""
    has_listen_ips_for_all_pods: Annotated[
        bool, Field(description="All pods know their own address.")
    ] = False
    storage_servers_per_disk: Annotated[
        tuple[int, ...], Field(description="Numbers in use.", list_type="atomic", max_items=5)
    ] = ()
    log_servers_per_disk: Annotated[
        tuple[int, ...], Field(description="Numbers in use.", list_type="atomic", max_items=5)
    ] = ()
    image_types: Annotated[
        tuple[str, ...], Field(description="Images in use.", list_type="atomic", max_items=10)
    ] = ()
    process_groups: Annotated[
        tuple[GroupMirror, ...],
        Field(description="Process groups in a few words.", list_type="atomic"),
    ] = ()
    process_groups_truncated: Annotated[
        bool, Field(description="True: only those that are not well are listed.")
    ] = False
    locks: Annotated[LockStatus, Field(description="What is known of locks.")] = LockStatus()
    synchronization: Annotated[
        SynchronizationStatus | None,
        Field(description="What operators of the database tell each other, if they do."),
    ] = None
    maintenance_mode_info: Annotated[
        MaintenanceModeInfo | None,
        Field(description="The zone under maintenance, and whose maintenance it is."),
    ] = None
    desired_process_groups: Annotated[int, Field(description="How many there shall be.")] = 0
    reconciled_process_groups: Annotated[int, Field(description="How many are as asked.")] = 0
    blockers: Annotated[
        tuple[Blocker, ...],
        Field(description="Every guard and step that holds something back.", list_type="atomic"),
    ] = ()
    progress: Annotated[Progress | None, Field(description="How far long work is.")] = None
    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            description="Ready, Available, FullyReplicated, Progressing, Degraded, Paused, Heeded.",
            list_type="map",
            keys=("type",),
        ),
    ] = ()
