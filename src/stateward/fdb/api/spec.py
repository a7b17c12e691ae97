"""What a user asks for: the spec of a FoundationDBCluster.

Fields that the compatible operator has are spelled as it spells them. Of ours, all are optional.
What it calls deprecated, and older words of the same, are taken and folded (defaults.py).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from stateward.fdb.api import options, rules
from stateward.fdb.api.automation import AutomationOptions
from stateward.fdb.api.database import DatabaseConfiguration
from stateward.fdb.api.processes import (
    ContainerOverrides,
    ImageType,
    ProcessCounts,
    ProcessSettings,
)
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Rule, TemplateMetadata


class ConfigMapTemplate(Part):
    """What is laid under the config map; a name in it is not used."""

    api_version: Annotated[str, Field(description="Not used.")] = ""
    kind: Annotated[str, Field(description="Not used.")] = ""
    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    data: Annotated[dict[str, str], Field(description="More texts.")] = {}
    binary_data: Annotated[dict[str, str], Field(description="More bytes, in base64.")] = {}
    immutable: Annotated[bool | None, Field(description="Not used: it must change.")] = None


class FoundationDBClusterSpec(Part):
    """What a cluster is asked to be."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.SPEC_RULES

    version: Annotated[
        str,
        Meta(max_length=32),
        Field(description="Which FoundationDB, as in 7.3.63.", rules=rules.VERSION_RULES),
    ]
    database_configuration: Annotated[
        DatabaseConfiguration,
        Field(description="What `configure` shall set.", default={}, rules=rules.DATABASE_RULES),
    ] = DatabaseConfiguration()
    processes: Annotated[
        dict[str, ProcessSettings],
        Field(
            description="What pods are made from, by class; `general` is for all others.",
            max_properties=32,
            rules=rules.PROCESS_RULES,
        ),
    ] = {}
    process_counts: Annotated[
        ProcessCounts, Field(description="How many pods there are of each class.")
    ] = ProcessCounts()
    seed_connection_string: Annotated[
        str,
        Meta(max_length=32_768),
        Field(description="The database to join, of another data center or from before."),
    ] = ""
    partial_connection_string: Annotated[
        options.PartialConnectionString,
        Field(description="Parts of the first connection string."),
    ] = options.PartialConnectionString()
    fault_domain: Annotated[
        options.FaultDomain,
        Field(description="What fails at once.", rules=rules.FAULT_DOMAIN_RULES),
    ] = options.FaultDomain()
    process_groups_to_remove: Annotated[
        options.GroupIDs, Field(description="Groups that are emptied, then removed.")
    ] = ()
    process_groups_to_remove_without_exclusion: Annotated[
        options.GroupIDs,
        Field(description="Groups that are removed with all their data. Dangerous."),
    ] = ()
    config_map: Annotated[
        ConfigMapTemplate | None, Field(description="Laid under the config map.")
    ] = None
    main_container: Annotated[
        ContainerOverrides, Field(description="The container of fdbserver.")
    ] = ContainerOverrides()
    sidecar_container: Annotated[
        ContainerOverrides, Field(description="The container beside it.")
    ] = ContainerOverrides()
    trusted_cas: Annotated[
        tuple[str, ...],
        Field(description="Whom processes believe, as PEM.", list_type="atomic"),
    ] = msgspec.field(default=(), name="trustedCAs")
    sidecar_variables: Annotated[
        tuple[Annotated[str, Meta(max_length=255)], ...],
        Field(description="More variables for arguments.", list_type="atomic", max_items=100),
    ] = ()
    log_group: Annotated[
        str, Meta(max_length=255), Field(description="What traces say; not said: the name.")
    ] = ""
    data_center: Annotated[
        str, Meta(max_length=100), Field(description="The dcid of all processes.")
    ] = ""
    data_hall: Annotated[
        str, Meta(max_length=100), Field(description="The data_hall of all processes.")
    ] = ""
    automation_options: Annotated[
        AutomationOptions,
        Field(description="What the operator may do by itself.", default={}),
    ] = AutomationOptions()
    process_group_id_prefix: Annotated[
        str,
        Meta(max_length=43, pattern=rules.PREFIX),
        Field(description="Stands before ids; and names this operator in locks."),
    ] = ""
    lock_options: Annotated[
        options.LockOptions, Field(description="How operators take turns.", default={})
    ] = options.LockOptions()
    routing: Annotated[
        options.Routing, Field(description="By what processes are found.", default={})
    ] = options.Routing()
    ignore_upgradability_checks: Annotated[
        bool, Field(description="Upgrade although clients cannot follow.", default=False)
    ] = False
    buggify: Annotated[options.Buggify, Field(description="Faults that are asked for.")] = (
        options.Buggify()
    )
    storage_servers_per_pod: Annotated[
        int, Meta(ge=0, le=100), Field(description="How many in one pod.", default=1)
    ] = 1
    log_servers_per_pod: Annotated[
        int, Meta(ge=0, le=100), Field(description="How many in one pod.", default=1)
    ] = 1
    minimum_uptime_seconds_for_bounce: Annotated[
        int,
        Meta(ge=1, le=366 * 86_400),
        Field(description="How long all must run before any is started anew.", default=600),
    ] = 600
    replace_instances_when_resources_change: Annotated[
        bool, Field(description="Replace pods that shall have more.", default=False)
    ] = False
    skip: Annotated[
        bool, Field(description="Only look and tell; change nothing.", default=False)
    ] = False
    coordinator_selection: Annotated[
        tuple[options.CoordinatorSelection, ...],
        Field(
            description="Of which classes coordinators are; not said: storage, log, transaction.",
            list_type="atomic",
            max_items=32,
            rules=rules.COORDINATOR_RULES,
        ),
    ] = ()
    labels: Annotated[options.Labels, Field(description="By what objects are found.")] = (
        options.Labels()
    )
    use_explicit_listen_address: Annotated[
        bool | None, Field(description="Deprecated: it is always told.")
    ] = None
    # Not promised: the older word for it could then never count.
    image_type: Annotated[
        ImageType | None, Field(description="Which images; not said: unified.")
    ] = None
    max_zones_with_unavailable_pods: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Field(description="With more than these, no pod is made anew."),
    ] = None
    deletion_policy: Annotated[
        Literal["Retain", "Delete"],
        Field(description="What becomes of volumes when the cluster is deleted.", default="Retain"),
    ] = "Retain"
    # ------------------------------------------------------------ older words
    use_unified_image: Annotated[bool | None, Field(description="Deprecated: use imageType.")] = (
        None
    )
    services: Annotated[options.Services | None, Field(description="Deprecated: use routing.")] = (
        None
    )
    instance_id_prefix: Annotated[
        str,
        Meta(max_length=43, pattern=rules.PREFIX),
        Field(description="Deprecated: use processGroupIDPrefix."),
    ] = ""
    instances_to_remove: Annotated[
        options.GroupIDs, Field(description="Deprecated: use processGroupsToRemove.")
    ] = ()
    instances_to_remove_without_exclusion: Annotated[
        options.GroupIDs,
        Field(description="Deprecated: use processGroupsToRemoveWithoutExclusion."),
    ] = ()
    cancel_replacements_for_instance: Annotated[
        options.GroupIDs,
        Field(description="Deprecated: use automationOptions.cancelReplacementsForProcessGroups."),
    ] = ()
