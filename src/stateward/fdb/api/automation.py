"""What the operator may do by itself, and how much of it at a time.

Defaults that are promised here are written into every object, so that they can be seen. Where they
differ from the compatible operator's, a design document says so: nothing is replaced without being
asked for.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stateward.fdb.api import rules
from stateward.fdb.model.names import LOG_GROUP
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, TemplateMetadata

#: How much at a time.
Pace: TypeAlias = Literal["All", "Zone", "ProcessGroup", "None"]
SynchronizationMode: TypeAlias = Literal["local", "global"]
#: Seconds, up to a year: more is a mistake, or a switch that should be one.
Seconds: TypeAlias = Annotated[int, Meta(ge=0, le=366 * 86_400)]
#: An id of a process group, or all of them.
GroupID: TypeAlias = Annotated[str, Meta(max_length=63, pattern=rules.GROUP_ID)]

DEFAULT_PENDING = "5m"
#: Whose clients do not matter to an upgrade: the operator's own.
DEFAULT_IGNORED_LOG_GROUPS = (LOG_GROUP,)


class TaintOption(Part):
    """A taint of a node by which process groups are replaced."""

    key: Annotated[
        str, Meta(min_length=1, max_length=317), Field(description="Its key, or * for every taint.")
    ]
    duration_in_seconds: Annotated[
        Seconds, Field(description="How long it must be there.", default=0)
    ] = 0


class DetectionJob(Part):
    """What is laid over the CronJob that looks for failures of a cluster."""

    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    spec: Annotated[
        dict[str, Any],
        Field(
            description="A CronJob's spec, or part; the container is `detect-missing`.",
            preserve_unknown=True,
        ),
    ] = {}


class ReplacementOptions(Part):
    """When process groups that fail are replaced."""

    enabled: Annotated[
        bool, Field(description="Whether they are replaced at all.", default=False)
    ] = False
    failure_detection_time_seconds: Annotated[
        Seconds, Field(description="How long one must fail.", default=1800)
    ] = 1800
    taint_replacement_time_seconds: Annotated[
        Seconds, Field(description="How long its node must have a taint.", default=1800)
    ] = 1800
    max_concurrent_replacements: Annotated[
        int, Meta(ge=0, le=10_000), Field(description="How many at a time; 0: none.", default=1)
    ] = 1
    fault_domain_based_replacements: Annotated[
        bool, Field(description="Count fault domains instead of groups.", default=False)
    ] = False
    taint_replacement_options: Annotated[
        tuple[TaintOption, ...],
        Field(
            description="Which taints matter; none: taints do not.",
            list_type="atomic",
            max_items=32,
        ),
    ] = ()
    max_fault_domains_with_tainted_process_groups: Annotated[
        Annotated[int, Meta(ge=0)] | Annotated[str, Meta(max_length=8)],
        Field(
            description="With more tainted than these, as a number or a share, none is replaced.",
            default="10%",
            rules=rules.SHARE_RULES,
        ),
    ] = "10%"
    cron_job: Annotated[
        DetectionJob | None, Field(description="Laid over the job that looks for failures.")
    ] = None


class MaintenanceModeOptions(Part):
    """Whether the database is told before the pods of a zone are started anew."""

    use_maintenance_mode_checker: Annotated[
        bool, Field(description="Whether it is told.", default=False)
    ] = msgspec.field(default=False, name="UseMaintenanceModeChecker")
    reset_maintenance_mode: Annotated[
        bool, Field(description="Whether what others told is taken back.", default=False)
    ] = False
    maintenance_mode_time_seconds: Annotated[
        Seconds, Field(description="For how long it is told.", default=600)
    ] = 600


class AutomationOptions(Part):
    """What the operator may do by itself."""

    configure_database: Annotated[
        bool, Field(description="Configure the database.", default=True)
    ] = True
    kill_processes: Annotated[
        bool, Field(description="Start processes anew for other arguments.", default=True)
    ] = True
    cache_database_status_for_reconciliation: Annotated[
        bool | None, Field(description="Accepted; the status is always read once a pass.")
    ] = None
    replacements: Annotated[
        ReplacementOptions, Field(description="When failing groups are replaced.", default={})
    ] = ReplacementOptions()
    # Not promised: the compatible operator could not read a text here.
    ignore_pending_pods_duration: Annotated[
        Annotated[int, Meta(ge=0)] | Annotated[str, Meta(max_length=32)],
        Field(
            description="When a pending pod no longer counts, as in 5m; a number: nanoseconds.",
            rules=rules.PENDING_RULES,
        ),
    ] = DEFAULT_PENDING
    use_non_blocking_excludes: Annotated[
        bool, Field(description="Accepted; no command waits until data has left.", default=False)
    ] = False
    use_localities_for_exclusion: Annotated[
        bool | None,
        Field(description="Exclude by process group; not said: where the version can."),
    ] = None
    ignore_terminating_pods_seconds: Annotated[
        Seconds, Field(description="From when a terminating pod holds nothing up.", default=600)
    ] = 600
    ignore_missing_processes_seconds: Annotated[
        Seconds, Field(description="From when a missing process holds no restart up.", default=30)
    ] = 30
    failed_pod_duration_seconds: Annotated[
        Seconds, Field(description="From when a terminating pod has failed.", default=300)
    ] = 300
    max_concurrent_replacements: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Field(description="How many groups with an old shape are replaced at a time."),
    ] = None
    deletion_mode: Annotated[
        Pace, Field(description="How many pods are made anew at a time.", default="Zone")
    ] = "Zone"
    removal_mode: Annotated[
        Pace, Field(description="How many groups are removed at a time.", default="Zone")
    ] = "Zone"
    wait_between_removals_seconds: Annotated[
        Seconds, Field(description="The pause between two zones.", default=60)
    ] = 60
    pod_update_strategy: Annotated[
        Literal["Replace", "ReplaceTransactionSystem", "Delete"],
        Field(
            description="Which pods are replaced when they change, and not made anew in place.",
            default="ReplaceTransactionSystem",
        ),
    ] = "ReplaceTransactionSystem"
    use_management_api: Annotated[
        bool | None, Field(description="Deprecated: use databaseInteractionMode.")
    ] = msgspec.field(default=None, name="useManagementAPI")
    database_interaction_mode: Annotated[
        Literal["fdbcli", "managementapi"] | None,
        Field(description="How the database is told what to do; not said: fdbcli."),
    ] = None
    maintenance_mode_options: Annotated[
        MaintenanceModeOptions, Field(description="About maintenance of zones.", default={})
    ] = MaintenanceModeOptions()
    ignore_log_groups_for_upgrade: Annotated[
        tuple[Annotated[str, Meta(max_length=255)], ...] | None,
        Field(
            description="Whose clients do not hold an upgrade up.", list_type="atomic", max_items=10
        ),
    ] = None
    # Not promised: the other spelling could then never count.
    synchronization_mode: Annotated[
        SynchronizationMode | None,
        Field(description="global: with the operators of other data centers; else local."),
    ] = None
    synronization_mode: Annotated[
        SynchronizationMode | None, Field(description="Deprecated: use synchronizationMode.")
    ] = None
    cancel_replacements_for_process_groups: Annotated[
        tuple[GroupID, ...],
        Field(
            description="Groups that are never replaced or removed, or no longer.",
            list_type="atomic",
            max_items=500,
        ),
    ] = ()
    cancel_replacements_for_instance: Annotated[
        tuple[GroupID, ...],
        Field(
            description="Deprecated: use cancelReplacementsForProcessGroups.",
            list_type="atomic",
            max_items=500,
        ),
    ] = ()
