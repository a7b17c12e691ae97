"""A backup of a cluster, and the agents that make it: what is asked for, and what there is.

Fields that the compatible operator has are spelled and meant as it does; all of ours are optional.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stateward.fdb.api.backups import rules
from stateward.fdb.api.backups.drill import BackupDrill, BackupDrills
from stateward.fdb.api.backups.stores import BlobStore, Parameters
from stateward.fdb.api.processes import ContainerOverrides, ImageType, PodTemplate
from stateward.kube.codec import Part
from stateward.kube.crd.blockers import Blocker
from stateward.kube.crd.fields import Field, Rule, TemplateMetadata
from stateward.kube.meta import Condition

# Nothing said is the first of each.
BackupWish: TypeAlias = Literal["", "Running", "Stopped", "Paused"]
BackupKind: TypeAlias = Literal["", "backup_agent", "partitioned_log", "unmanaged"]
BackupMode: TypeAlias = Literal["", "continuous", "oneTime"]
DeletionPolicy: TypeAlias = Literal["", "noop", "stop", "cleanup"]
DEFAULT_TAG = "default"
DEFAULT_AGENTS = 2
DEFAULT_PERIOD = 864_000


class BackupRetention(Part):
    """How far back it can be restored for sure; what is older is deleted."""

    days: Annotated[
        int,
        Meta(ge=1, le=36_500),
        Field(description="To every moment of so many days before its newest."),
    ]


class FoundationDBBackupSpec(Part):
    """What a backup is asked to be."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.BACKUP_RULES

    version: Annotated[
        str, Meta(max_length=32), Field(description="Which FoundationDB the agents have.")
    ]
    cluster_name: Annotated[
        str, Meta(min_length=1, max_length=63), Field(description="Which cluster, beside it.")
    ]
    data_center: Annotated[
        str, Meta(max_length=100), Field(description="The dcid of all agents.")
    ] = ""
    backup_state: Annotated[
        BackupWish,
        Field(description="Running, Stopped, or Paused, which no other of the cluster works in."),
    ] = ""
    agent_count: Annotated[
        Annotated[int, Meta(ge=0, le=10_000)] | None,
        Field(description="How many agents work; not said: 2. At 0 there is no deployment."),
    ] = None
    snapshot_period_seconds: Annotated[
        Annotated[int, Meta(ge=1, le=315_360_000)] | None,
        Field(description="In what time all data is written once; not said: ten days."),
    ] = None
    backup_deployment_metadata: Annotated[
        TemplateMetadata, Field(description="Labels and annotations of the deployment.")
    ] = {}
    pod_template_spec: Annotated[
        PodTemplate | None, Field(description="What pods of agents are made from.")
    ] = None
    custom_parameters: Annotated[
        Parameters, Field(description="More arguments of agents, as in knob_max_trace_lines=10.")
    ] = ()
    allow_tag_override: Annotated[
        bool | None, Field(description="Deprecated: tags of images are in imageConfigs.")
    ] = None
    blob_store_configuration: Annotated[BlobStore | None, Field(description="Where it lies.")] = (
        None
    )
    file_url: Annotated[
        str,
        Meta(max_length=1000, pattern=rules.FILE_URL),
        Field(description="Or in which folder that all agents share, as in file:///backups."),
    ] = msgspec.field(default="", name="fileURL")
    encryption_key_path: Annotated[
        str, Meta(max_length=1000), Field(description="A file of agents, with the key.")
    ] = ""
    main_container: Annotated[
        ContainerOverrides, Field(description="The container of an agent.")
    ] = ContainerOverrides()
    sidecar_container: Annotated[
        ContainerOverrides, Field(description="The one that copies files before it.")
    ] = ContainerOverrides()
    image_type: Annotated[
        ImageType | None, Field(description="Which images; not said: the cluster's.")
    ] = None
    backup_type: Annotated[
        BackupKind,
        Field(description="How changes are written; unmanaged: there are only agents."),
    ] = ""
    deletion_policy: Annotated[
        DeletionPolicy,
        Field(description="With the object: noop: nothing; stop: it ends; cleanup: it is deleted."),
    ] = ""
    backup_mode: Annotated[
        BackupMode, Field(description="continuous, or oneTime: it ends once whole.")
    ] = ""
    tag: Annotated[
        str,
        Meta(max_length=64),
        Field(description="What the database calls it, for good; not said: default."),
    ] = ""
    schedule: Annotated[
        str,
        Meta(max_length=100, pattern=rules.SCHEDULE),
        Field(
            description="When one is begun, with backupMode: oneTime; as in 0 3 * * *, or @daily,"
            " in UTC."
        ),
    ] = ""
    retention: Annotated[
        BackupRetention | None,
        Field(description="What is deleted of it while it goes on; not said: nothing."),
    ] = None
    drill: Annotated[
        BackupDrill | None,
        Field(description="When it is proved that it can be restored; not said: never."),
    ] = None


class BackupGenerations(Part):
    """For which generation of the spec something was true; 0: it is not."""

    reconciled: Annotated[
        int, Field(description="All of the spec is as asked; equal to metadata.generation: done.")
    ] = 0
    needs_backup_agent_update: Annotated[int, Field(description="Agents differ.")] = 0
    needs_backup_start: Annotated[int, Field(description="It must be begun.")] = 0
    needs_backup_stop: Annotated[int, Field(description="It must end.")] = 0
    needs_backup_pause_toggle: Annotated[
        int, Field(description="All agents must pause, or go on.")
    ] = 0
    needs_backup_modification: Annotated[
        int, Field(description="It lies elsewhere, or has another period.")
    ] = 0


class BackupPoint(Part):
    """A version of the database, and when it was that."""

    version: Annotated[int, Field(description="The version.")] = 0
    time: Annotated[str | None, Field(description="When.", format="date-time")] = None


class BackupMoved(Part):
    """It was moved, and no snapshot is whole yet where it lies now."""

    during: Annotated[
        int, Field(description="At which version the snapshot began that went on then.")
    ] = 0
    began: Annotated[
        int | None, Field(description="At which the first one did that lies there alone.")
    ] = None


class BackupDetails(Part):
    """What the database says of the backup of this tag."""

    url: Annotated[str, Field(description="Where it lies.")] = ""
    running: Annotated[bool | None, Field(description="It goes on.")] = None
    paused: Annotated[bool | None, Field(description="No agent of the cluster works.")] = None
    snapshot_period_seconds: Annotated[
        int, Field(description="In what time all data is written once, in seconds.")
    ] = msgspec.field(default=0, name="snapshotTime")
    restorable: Annotated[bool | None, Field(description="It can be restored.")] = None
    tag: Annotated[str, Field(description="What the database calls it.")] = ""
    uid: Annotated[str, Field(description="Which backup of that tag.")] = ""
    state: Annotated[str, Field(description="In the words of the database.")] = ""
    latest_restorable: Annotated[
        BackupPoint | None, Field(description="The newest point that can be restored.")
    ] = None
    last_snapshot: Annotated[
        BackupPoint | None, Field(description="When the last whole snapshot ended.")
    ] = None
    snapshot_began: Annotated[
        int, Field(description="At which version the snapshot began that goes on.")
    ] = 0
    moved: Annotated[
        BackupMoved | None,
        Field(description="Only with what lay where it was before it can be restored."),
    ] = None


class BackupProgress(Part):
    """How much agents have written of a backup that goes on."""

    range_bytes_written: Annotated[int, Field(description="Of keys, for snapshots.")] = 0
    log_bytes_written: Annotated[int, Field(description="Of what changed in between.")] = 0


class BackupTimes(Part):
    """What has become of the moments of a schedule."""

    since: Annotated[
        str | None,
        Field(description="Up to when all moments are dealt with.", format="date-time"),
    ] = None
    last: Annotated[
        str | None, Field(description="For which moment one was last begun.", format="date-time")
    ] = None
    next: Annotated[
        str | None, Field(description="When the next one is begun.", format="date-time")
    ] = None
    skipped: Annotated[
        str | None,
        Field(
            description="Which moment was last left out: the one before went on.",
            format="date-time",
        ),
    ] = None
    last_url: Annotated[str, Field(description="Where the last one lies that is whole.")] = (
        msgspec.field(default="", name="lastURL")
    )


class BackupExpiry(Part):
    """What was deleted of a backup because it is older than anybody needs it."""

    tried: Annotated[
        str | None, Field(description="When it was last looked for.", format="date-time")
    ] = None
    last_expired: Annotated[
        str | None, Field(description="When some was last deleted.", format="date-time")
    ] = None
    before_version: Annotated[
        int, Field(description="Before which version; 0: nothing was ever deleted.")
    ] = 0
    restorable_after: Annotated[
        int, Field(description="From which version on it can be restored since.")
    ] = 0
    trouble: Annotated[str, Field(description="Why nobody could delete it.")] = ""


class FoundationDBBackupStatus(Part):
    """What a backup is."""

    observed_generation: Annotated[
        int, Field(description="The generation of the spec that this status speaks of.")
    ] = 0
    doing: Annotated[str, Field(description="What is going on, in plain words.")] = ""
    agent_count: Annotated[
        int | None, Field(description="How many agents are ready, and as asked.")
    ] = None
    deployment_configured: Annotated[
        bool | None, Field(description="The deployment is as asked.")
    ] = None
    backup_details: Annotated[
        BackupDetails | None, Field(description="What the database says of it.")
    ] = None
    progress: Annotated[
        BackupProgress | None, Field(description="How much was written, while it goes on.")
    ] = None
    place: Annotated[
        str, Field(description="Where it shall lie, once it was seen to lie there.")
    ] = ""
    schedule: Annotated[
        BackupTimes | None, Field(description="What has become of its schedule.")
    ] = None
    retention: Annotated[
        BackupExpiry | None, Field(description="What was deleted of it, and when.")
    ] = None
    drill: Annotated[BackupDrills | None, Field(description="What has become of its drills.")] = (
        None
    )
    former_uid: Annotated[
        str | None,
        Field(description="What backup the tag had when this object came; not said: unknown."),
    ] = None
    cluster_uid: Annotated[
        str, Field(description="Of which very cluster, however others were called like it.")
    ] = ""
    used_urls: Annotated[
        tuple[str, ...],
        Field(
            description="Where in blob stores it lay so far, of the database that there is now.",
            list_type="atomic",
        ),
    ] = msgspec.field(default=(), name="usedURLs")
    former_urls: Annotated[
        tuple[str, ...],
        Field(
            description="Where it lay while its cluster had other databases: nothing is written"
            " there any more.",
            list_type="atomic",
        ),
    ] = msgspec.field(default=(), name="formerURLs")
    generations: Annotated[
        BackupGenerations, Field(description="For which generations something is true.")
    ] = BackupGenerations()
    blockers: Annotated[
        tuple[Blocker, ...],
        Field(description="Whatever holds something back.", list_type="atomic"),
    ] = ()
    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            description="Ready, Restorable, Progressing, Degraded, Paused, BackupProven.",
            list_type="map",
            keys=("type",),
        ),
    ] = ()
