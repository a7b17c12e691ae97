"""One process group: what the cluster's controller decides, and what the group's own reports.

Each half has one writer: the spec is the cluster's, the status the group's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from stateward.fdb.api import options, rules
from stateward.fdb.api.processes import ImageType, ProcessSettings
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.meta import Condition


class GroupConditionType(StrEnum):
    """What may be true of a process group. Of all but Ready, true is what is wrong."""

    READY = "Ready"
    INCORRECT_POD_SPEC = "IncorrectPodSpec"
    INCORRECT_POD_METADATA = "IncorrectPodMetadata"
    INCORRECT_CONFIG_MAP = "IncorrectConfigMap"
    INCORRECT_COMMAND_LINE = "IncorrectCommandLine"
    INCORRECT_SIDECAR_IMAGE = "IncorrectSidecarImage"
    POD_FAILING = "PodFailing"
    POD_PENDING = "PodPending"
    MISSING_POD = "MissingPod"
    MISSING_PVC = "MissingPVC"
    MISSING_SERVICE = "MissingService"
    MISSING_PROCESSES = "MissingProcesses"
    RESOURCES_TERMINATING = "ResourcesTerminating"
    SIDECAR_UNREACHABLE = "SidecarUnreachable"
    NODE_TAINT_DETECTED = "NodeTaintDetected"
    NODE_TAINT_REPLACING = "NodeTaintReplacing"
    PROCESS_IS_MARKED_AS_EXCLUDED = "ProcessIsMarkedAsExcluded"
    PROCESS_HAS_IO_ERROR = "ProcessHasIOError"
    PROCESS_HAS_HIGH_RUN_LOOP_BUSY = "ProcessHasHighRunLoopBusy"


class GroupService(Part):
    """The part of routing that a group's own objects are made by."""

    headless_service: Annotated[bool, Field(description="Whether the pod has a name.")] = False
    public_ip_source: Annotated[
        options.PublicIPSource, Field(description="Whose address is told.", default="pod")
    ] = "pod"
    pod_ip_family: Annotated[
        Annotated[int, Meta(ge=4, le=6)] | None,
        Field(description="Which address of the pod: 4 or 6."),
    ] = None


class FoundationDBProcessGroupSpec(Part):
    """What a process group is asked to be; written by the cluster's controller alone."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.GROUP_RULES

    cluster_name: Annotated[
        str, Meta(min_length=1, max_length=63), Field(description="Whose it is.")
    ]
    process_group_id: Annotated[
        str, Meta(min_length=1, max_length=63), Field(description="Who it is, for good.")
    ]
    process_class: Annotated[
        str, Meta(min_length=1, max_length=32), Field(description="What it is for, for good.")
    ]
    process_group_id_prefix: Annotated[
        str, Meta(max_length=43), Field(description="What its id begins with.")
    ] = ""
    process_settings: Annotated[
        ProcessSettings, Field(description="What its objects are made from, complete.")
    ] = ProcessSettings()
    service: Annotated[GroupService, Field(description="How it is reached.", default={})] = (
        GroupService()
    )
    servers_per_pod: Annotated[
        int, Meta(ge=1, le=100), Field(description="How many processes it has.", default=1)
    ] = 1
    image_type: Annotated[
        ImageType, Field(description="Which images it has.", default="unified")
    ] = "unified"
    log_group: Annotated[str, Meta(max_length=255), Field(description="What its traces say.")] = ""
    sidecar_variables: Annotated[
        tuple[Annotated[str, Meta(max_length=255)], ...],
        Field(description="More variables for arguments.", list_type="atomic", max_items=100),
    ] = ()
    remove: Annotated[bool, Field(description="It shall go.", default=False)] = False
    removal_timestamp: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Field(description="Since when it shall.", format="date-time"),
    ] = None
    excluded: Annotated[bool, Field(description="It holds nothing any more.", default=False)] = (
        False
    )
    exclusion_timestamp: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Field(description="When it was last found that it may go.", format="date-time"),
    ] = None
    exclusion_skipped: Annotated[
        bool, Field(description="It goes with all that it holds.", default=False)
    ] = False
    obsolete_pod: Annotated[
        str,
        Meta(max_length=64),
        Field(description="The UID of a pod that shall go, so that another is made."),
    ] = ""
    obsolete_until: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Field(
            description="Until when it may: what was allowed then may not be later.",
            format="date-time",
        ),
    ] = None
    deletion_policy: Annotated[
        Literal["Retain", "Delete"],
        Field(description="What becomes of its volume when the cluster goes.", default="Retain"),
    ] = "Retain"
    adopt_volume_of: Annotated[
        str,
        Meta(max_length=64),
        Field(description="The UID of the cluster that had its volume before: it is taken over."),
    ] = ""


class ResourceReport(Part):
    """An object of a group, as it was seen last."""

    name: Annotated[str, Field(description="What it is called.")] = ""
    uid: Annotated[str, Field(description="Which object of that name.")] = ""
    ready: Annotated[bool | None, Field(description="Whether it is there and works.")] = None
    terminating_since: Annotated[
        str | None, Field(description="Since when it is to go.", format="date-time")
    ] = None
    message: Annotated[str, Field(description="What is wrong with it, in plain words.")] = ""


class ProcessReport(Part):
    """A process of a group, as the database told it last."""

    process_id: Annotated[str, Field(description="Who it is.")]
    address: Annotated[str, Field(description="Where it is.")] = ""
    version: Annotated[str, Field(description="Which FoundationDB it runs.")] = ""
    reporting: Annotated[bool | None, Field(description="Whether the database sees it.")] = None
    excluded: Annotated[bool, Field(description="Whether it shall hold nothing.")] = False
    roles: Annotated[tuple[str, ...], Field(description="What it does.", list_type="atomic")] = ()
    message: Annotated[str, Field(description="What is wrong with it, in plain words.")] = ""


class FoundationDBProcessGroupStatus(Part):
    """What a process group is; written by the group's controller alone."""

    observed_generation: Annotated[
        int, Field(description="The generation of the spec that this status speaks of.")
    ] = 0
    doing: Annotated[str, Field(description="What is going on, in plain words.")] = ""
    pod: Annotated[ResourceReport | None, Field(description="Its pod.")] = None
    volume_claim: Annotated[
        ResourceReport | None, Field(description="Its claim; not said: it has none.")
    ] = None
    service: Annotated[
        ResourceReport | None, Field(description="Its service; not said: it has none.")
    ] = None
    addresses: Annotated[
        tuple[str, ...],
        Field(description="Addresses it has or had, the last one first.", list_type="atomic"),
    ] = ()
    node_name: Annotated[str, Field(description="Where its pod is.")] = ""
    fault_domain: Annotated[str, Field(description="Its zone.")] = ""
    processes: Annotated[
        tuple[ProcessReport, ...],
        Field(description="Its processes.", list_type="map", keys=("processID",)),
    ] = ()
    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            description="Ready, and whatever is wrong, as in MissingPod.",
            list_type="map",
            keys=("type",),
        ),
    ] = ()
